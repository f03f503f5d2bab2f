import { Environment } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import { errorMessage } from "../../util/error-text.ts";
import { isRecord } from "../object.ts";
import { fieldSchema, type StructuralSchema } from "./schema.ts";

/** The result of a rule: a boolean, or why it could not be evaluated. */
export type CelOutcome =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly because: string };

type Program = (context: Record<string, unknown>) => unknown;

/** Kubernetes' dialect of CEL, with each expression compiled once. */
export class CelPrograms {
  readonly #environment = kubernetesEnvironment();
  readonly #programs = new Map<string, Program | string>();

  evaluate(expression: string, context: Record<string, unknown>): CelOutcome {
    const program = this.#program(expression);
    if (typeof program === "string") return { kind: "error", because: program };
    try {
      return { kind: "value", value: program(context) };
    } catch (error) {
      return { kind: "error", because: firstLine(error) };
    }
  }

  /** The compiled expression, or why it does not compile. */
  #program(expression: string): Program | string {
    const known = this.#programs.get(expression);
    if (known !== undefined) return known;
    const program = this.#compile(expression);
    this.#programs.set(expression, program);
    return program;
  }

  #compile(expression: string): Program | string {
    try {
      const program = this.#environment.parse(expression);
      matchAsRe2(program.ast);
      return program;
    } catch (error) {
      return firstLine(error);
    }
  }
}

function kubernetesEnvironment(): Environment {
  return new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn")
    .registerFunction("string.find(string): string", (text: string, pattern: string) => findAll(text, pattern)[0] ?? "")
    .registerFunction("string.findAll(string): list<string>", findAll)
    .registerFunction(`string.${re2Matches}(string): bool`, (text: string, pattern: string) =>
      RE2JS.compile(pattern).matcher(text).find(),
    )
    .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
      text.replaceAll(from, () => to),
    );
}

const re2Matches = "matchesRe2";

/** The library's own `matches` uses JavaScript's regular expressions, where a dot stops at more than newlines and a pattern can hang. */
function matchAsRe2(part: unknown): void {
  if (Array.isArray(part)) for (const one of part) matchAsRe2(one);
  if (!isRecord(part)) return;
  const { op, args } = part;
  if (op === "rcall" && Array.isArray(args) && args[0] === "matches") args[0] = re2Matches;
  matchAsRe2(args);
}

function findAll(text: string, pattern: string): string[] {
  const matcher = RE2JS.compile(pattern).matcher(text);
  const found: string[] = [];
  while (matcher.find()) found.push(matcher.group() ?? "");
  return found;
}

function firstLine(error: unknown): string {
  const text = errorMessage(error);
  return text.split("\n", 1)[0] ?? text;
}

/** JSON converted to CEL values by its schema: integers as BigInt, maps as Map, field names escaped where necessary. */
export function toCel(value: unknown, schema: StructuralSchema | undefined): unknown {
  if (typeof value === "number") return isIntegral(value, schema) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => toCel(item, schema?.items));
  if (!isRecord(value)) return value;
  const isMap = schema?.additionalProperties !== undefined;
  const entries = Object.entries(value).map(([field, child]) => [
    isMap ? field : escapeField(field),
    toCel(child, fieldSchema(schema, field)),
  ]);
  return new Map(entries as [string, unknown][]);
}

function isIntegral(value: number, schema: StructuralSchema | undefined): boolean {
  return Number.isInteger(value) && schema?.type !== "number";
}

const celKeywords = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Kubernetes' escaping of property names that are not CEL identifiers. */
function escapeField(field: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(field) && !field.includes("__") && !celKeywords.has(field)) return field;
  if (celKeywords.has(field)) return `__${field}__`;
  return field
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}
