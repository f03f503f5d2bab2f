type Json = null | boolean | number | string | readonly Json[] | JsonObject;
interface JsonObject {
  readonly [key: string]: Json;
}

/** An answer of the oracle, as far as it matters here which. */
export interface Answer extends JsonObject {
  readonly newNodes: readonly (JsonObject & { readonly requirements: Readonly<Record<string, string>> })[];
}

const requirementsPath = "newNodes.requirements.";

/** Keeps what all answers to one question agree on, and names in `free` the paths where they do not. */
export function settle(answers: readonly Answer[]): JsonObject {
  const free = new Set<string>();
  const agreed = merge(answers, "", free) as Answer;
  const patterns = [...free]
    .filter((path) => path.startsWith(requirementsPath))
    .map((path) => path.slice(requirementsPath.length))
    .map((key) => [key, patternOf(answers, key)] as const);
  const newNodes = agreed.newNodes?.map((node, index) => {
    const variables = patterns.flatMap(([key, pattern]) =>
      pattern === undefined ? [] : [[key, pattern[index] ?? ""]],
    );
    return { ...node, requirements: { ...node.requirements, ...Object.fromEntries(variables) } };
  });
  return { ...agreed, ...(patterns.length > 0 && { newNodes }), free: [...free].sort() };
}

/**
 * A value may be left to chance although it is not left to chance which nodes share it. "$1" and "$2" stand for two
 * different values; the answer is undefined when the runs disagree on that too.
 */
function patternOf(answers: readonly Answer[], key: string): readonly string[] | undefined {
  const [first, ...others] = answers.map(({ newNodes }) => {
    const values = newNodes.map(({ requirements }) => requirements[key]);
    const distinct = [...new Set(values)];
    return values.map((value) => `$${distinct.indexOf(value) + 1}`);
  });
  return others.every((pattern) => isSame(pattern, first)) ? first : undefined;
}

/** The common part of the values at a path; undefined, and the path free, when there is none. */
function merge(values: readonly (Json | undefined)[], path: string, free: Set<string>): Json | undefined {
  const [first] = values;
  if (values.every((value) => isSame(value, first))) return first === undefined ? undefined : round(first);
  if (values.every(isObjectList) && values.every(({ length }) => length === values[0]?.length)) {
    return mergeLists(values, path, free);
  }
  if (values.every(isObject)) return mergeObjects(values, path, free);
  free.add(path);
  return undefined;
}

function mergeLists(lists: readonly (readonly JsonObject[])[], path: string, free: Set<string>): readonly Json[] {
  const merged = lists[0]?.map(({ method }, index) => {
    const here = method === undefined ? path : `${path}.${String(method)}`;
    return merge(
      lists.map((list) => list[index]),
      here,
      free,
    );
  });
  return (merged ?? []).filter((item) => item !== undefined);
}

function mergeObjects(objects: readonly JsonObject[], path: string, free: Set<string>): JsonObject {
  const merged: Record<string, Json> = {};
  for (const key of new Set(objects.flatMap(Object.keys))) {
    const here = path === "" ? key : `${path}.${key}`;
    const values = objects.map((object) => object[key]);
    const agreed = merge(values, here, free);
    if (agreed !== undefined) merged[key] = agreed;
  }
  return merged;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isObjectList(value: Json | undefined): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Sums of prices differ in their last digits with the order of adding. */
function round(value: Json): Json {
  if (typeof value === "number") return Number(value.toFixed(9));
  if (Array.isArray(value)) return value.map(round);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, round(item)]));
}

/** JSON with whatever is short on one line, so that a change shows as few lines. */
export function print(value: Json, indent = ""): string {
  const line = inline(value);
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item !== "object");
  if (typeof value !== "object" || value === null || isPlainList || line.length + indent.length <= 118) return line;
  const deeper = `${indent}  `;
  const block = (items: readonly string[]): string => `\n${items.map((item) => deeper + item).join(",\n")}\n${indent}`;
  if (!isObject(value)) return `[${block((value as readonly Json[]).map((item) => print(item, deeper)))}]`;
  return `{${block(Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${print(item, deeper)}`))}}`;
}

function inline(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const body = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inline(item)}`);
  return body.length === 0 ? "{}" : `{ ${body.join(", ")} }`;
}
