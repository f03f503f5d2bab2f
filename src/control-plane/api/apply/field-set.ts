import { isRecord } from "../../../api/object.ts";

/**
 * A set of field paths, as a tree. Steps are those of `fieldsV1`: `f:name` a field, `k:{"name":"x"}` a list item by its
 * keys, `v:"x"` a list item by its value; `.` marks a node that is itself in the set and has children.
 */
export interface FieldSet {
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

const noChildren: ReadonlyMap<string, FieldSet> = new Map();
export const emptyFieldSet: FieldSet = { isMember: false, children: noChildren };
export const leafFieldSet: FieldSet = { isMember: true, children: noChildren };

export function fieldSetNode(isMember: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
  return children.size === 0 ? (isMember ? leafFieldSet : emptyFieldSet) : { isMember, children };
}

export function isEmptyFieldSet({ isMember, children }: FieldSet): boolean {
  return !isMember && children.size === 0;
}

export function fieldSetUnion(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptyFieldSet(a)) return b;
  if (isEmptyFieldSet(b)) return a;
  const children = new Map(a.children);
  for (const [step, child] of b.children) children.set(step, fieldSetUnion(children.get(step) ?? emptyFieldSet, child));
  return fieldSetNode(a.isMember || b.isMember, children);
}

/** Paths of `a` that are not in `b`. */
export function fieldSetDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptyFieldSet(a) || isEmptyFieldSet(b)) return a;
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    const left = other === undefined ? child : fieldSetDifference(child, other);
    if (!isEmptyFieldSet(left)) children.set(step, left);
  }
  return fieldSetNode(a.isMember && !b.isMember, children);
}

/** Paths of a that are neither in b nor below a path of b. */
export function fieldSetRecursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.isMember) return emptyFieldSet;
  if (b.children.size === 0) return a;
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const left = fieldSetRecursiveDifference(child, b.children.get(step) ?? emptyFieldSet);
    if (!isEmptyFieldSet(left)) children.set(step, left);
  }
  return fieldSetNode(a.isMember, children);
}

export function fieldSetIntersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    const both = other === undefined ? emptyFieldSet : fieldSetIntersection(child, other);
    if (!isEmptyFieldSet(both)) children.set(step, both);
  }
  return fieldSetNode(a.isMember && b.isMember, children);
}

/** Every path in the set, as text: `.spec.containers[name="c"].image`. */
export function* fieldPaths(set: FieldSet, prefix = ""): Iterable<string> {
  if (set.isMember) yield prefix;
  for (const [step, child] of [...set.children].sort(byStep)) yield* fieldPaths(child, prefix + stepText(step));
}

export function isSameFieldSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.isMember !== b.isMember || a.children.size !== b.children.size) return false;
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    if (other === undefined || !isSameFieldSet(child, other)) return false;
  }
  return true;
}

export function toFieldsV1(set: FieldSet): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  if (set.isMember && set.children.size > 0) json["."] = {};
  for (const [step, child] of [...set.children].sort(byStep)) json[step] = toFieldsV1(child);
  return json;
}

/** Parses fieldsV1; anything malformed is an empty set. */
export function fromFieldsV1(json: unknown, depth = 0): FieldSet {
  if (!isRecord(json) || depth > 128) return emptyFieldSet;
  const steps = Object.keys(json);
  if (steps.length === 0) return depth === 0 ? emptyFieldSet : leafFieldSet;
  const children = new Map<string, FieldSet>();
  for (const step of steps) if (step !== ".") children.set(step, fromFieldsV1(json[step], depth + 1));
  return fieldSetNode(Object.hasOwn(json, "."), children);
}

function byStep([a]: readonly [string, FieldSet], [b]: readonly [string, FieldSet]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function stepText(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith("f:")) return `.${rest}`;
  if (step.startsWith("v:")) return `[=${rest}]`;
  if (!step.startsWith("k:")) return `[${rest}]`;
  try {
    const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
    return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
  } catch {
    return `[${rest}]`;
  }
}
