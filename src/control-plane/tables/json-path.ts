import { isRecord } from "../../api/object.ts";

/** One step of a path, parsed. */
type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "all" }
  | { readonly kind: "where"; readonly path: readonly string[]; readonly equal: boolean; readonly value: unknown };

/** The subset of JSONPath that printer columns use. */
export interface JsonPath {
  /** All values at the path, in order. */
  find(value: unknown): readonly unknown[];
}

/**
 * Undefined if the path is not supported. Examples: `.spec.a\.b`, `.status.conditions[?(@.type=="Ready")].status`,
 * `.x[*].y`.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps: Step[] = [];
  let rest = text.startsWith("$") ? text.slice(1) : text;
  if (rest.startsWith("{") && rest.endsWith("}")) rest = rest.slice(1, -1);
  while (rest !== "") {
    const read = nextStep(rest);
    if (read === undefined) return undefined;
    if (read.step !== undefined) steps.push(read.step);
    rest = rest.slice(read.length);
  }
  return { find: (value) => steps.reduce<readonly unknown[]>(follow, [value]) };
}

const fieldStep = /^\.((?:\\.|[^.[\]\\])+)/;
const quotedStep = /^\['((?:\\.|[^'\\])*)'\]/;
const indexStep = /^\[(-?\d{1,9})\]/;
const whereStep = /^\[\?\(\s*@((?:\.(?:\\.|[\w-])+)+)\s*(==|!=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\w.-]+)\s*\)\]/;

function nextStep(rest: string): { readonly step?: Step; readonly length: number } | undefined {
  if (rest === ".") return { length: 1 };
  if (rest.startsWith("[*]") || rest.startsWith(".*"))
    return { step: { kind: "all" }, length: rest[0] === "[" ? 3 : 2 };
  const named = fieldStep.exec(rest) ?? quotedStep.exec(rest);
  if (named !== null) return { step: { kind: "field", name: unescaped(named[1] ?? "") }, length: named[0].length };
  const indexed = indexStep.exec(rest);
  if (indexed !== null) return { step: { kind: "index", index: Number(indexed[1]) }, length: indexed[0].length };
  const where = whereStep.exec(rest);
  if (where === null) return undefined;
  const [whole, path = "", operator, literal = ""] = where;
  const names = path
    .slice(1)
    .split(/(?<!\\)\./)
    .map(unescaped);
  return {
    step: { kind: "where", path: names, equal: operator === "==", value: literalOf(literal) },
    length: whole.length,
  };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, "$1");
}

function literalOf(text: string): unknown {
  if (/^["']/.test(text)) return unescaped(text.slice(1, -1));
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function follow(values: readonly unknown[], step: Step): readonly unknown[] {
  return values.flatMap((value) => followOne(value, step));
}

function followOne(value: unknown, step: Step): readonly unknown[] {
  switch (step.kind) {
    case "field":
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "index":
      return Array.isArray(value) ? value.slice(step.index).slice(0, 1) : [];
    case "all":
      return Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
    case "where":
      return Array.isArray(value) ? value.filter((item) => matches(item, step)) : [];
  }
}

function matches(item: unknown, { path, equal, value }: Step & { kind: "where" }): boolean {
  let found: unknown = item;
  for (const name of path) found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found !== undefined && (found === value) === equal;
}
