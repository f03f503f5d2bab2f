import { isRecord } from "../../api/object.ts";

/** A JSON patch operation. (RFC 6902) */
export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  /** A JSON pointer; empty: the document as a whole. */
  readonly path: string;
  readonly value?: unknown;
}

export type PatchPath = readonly (string | number)[];

/** A copy of the document with one operation applied; what is not touched is shared. */
export function applyOperation<T>(document: T, operation: PatchOperation): T {
  return applyAt(document, pointerTokens(operation.path), operation) as T;
}

export function applyOperations<T>(document: T, operations: readonly PatchOperation[]): T {
  return operations.reduce<T>((made, operation) => applyOperation(made, operation), document);
}

function applyAt(value: unknown, [head, ...rest]: readonly string[], operation: PatchOperation): unknown {
  if (head === undefined) return operation.value;
  if (Array.isArray(value)) return applyInList(value, head, rest, operation);
  const record = isRecord(value) ? value : {};
  if (operation.op === "remove" && !Object.hasOwn(record, head)) return value;
  if (rest.length === 0 && operation.op === "remove") {
    const { [head]: _removed, ...others } = record;
    return others;
  }
  return { ...record, [head]: applyAt(record[head], rest, operation) };
}

function applyInList(
  list: readonly unknown[],
  head: string,
  rest: readonly string[],
  operation: PatchOperation,
): unknown[] {
  const index = head === "-" ? list.length : Number(head);
  if (rest.length > 0)
    return list.map((item, position) => (position === index ? applyAt(item, rest, operation) : item));
  if (operation.op === "remove") return list.filter((_, position) => position !== index);
  if (operation.op === "replace") return list.map((item, position) => (position === index ? operation.value : item));
  return [...list.slice(0, index), operation.value, ...list.slice(index)];
}

/** The operation that sets a value and creates missing parents; `-` appends to a list. */
export function addOperation(document: unknown, path: PatchPath, value: unknown): PatchOperation {
  let here: unknown = document;
  for (const [index, token] of path.entries()) {
    const isLast = index === path.length - 1;
    if (isLast || !hasMember(here, token)) {
      const inner = path
        .slice(index + 1)
        .reduceRight<unknown>((made, step) => (step === "-" ? [made] : { [step]: made }), value);
      const op = isLast && token !== "-" && hasMember(here, token) ? "replace" : "add";
      return { op, path: jsonPointer(path.slice(0, index + 1)), value: inner };
    }
    here = memberAt(here, token);
  }
  return { op: "replace", path: "", value };
}

export function removeOperation(path: PatchPath): PatchOperation {
  return { op: "remove", path: jsonPointer(path) };
}

export function replaceOperation(path: PatchPath, value: unknown): PatchOperation {
  return { op: "replace", path: jsonPointer(path), value };
}

function hasMember(value: unknown, token: string | number): boolean {
  return memberAt(value, token) !== undefined;
}

export function memberAt(value: unknown, token: string | number): unknown {
  if (Array.isArray(value)) return value[Number(token)];
  return isRecord(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

export function jsonPointer(path: PatchPath): string {
  return path.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function pointerTokens(path: string): readonly string[] {
  return path === ""
    ? []
    : path
        .slice(1)
        .split("/")
        .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}
