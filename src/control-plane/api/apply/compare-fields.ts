import { isSameJson } from "../../../api/json.ts";
import { anyFieldSchema, type FieldSchema } from "../../../api/kubernetes/field-schema.ts";
import { isRecord } from "../../../api/object.ts";
import { emptyFieldSet, type FieldSet, fieldSetNode, leafFieldSet } from "./field-set.ts";

/** A part of a value that can be owned separately. */
interface OwnablePart {
  readonly value: unknown;
  readonly schema: FieldSchema;
}

/** The separately owned parts by path step; undefined for atomic values. */
function ownableParts(value: unknown, schema: FieldSchema): ReadonlyMap<string, OwnablePart> | undefined {
  if (isRecord(value)) {
    if ((schema.is === "object" || schema.is === "map") && schema.isAtomic) return undefined;
    const parts = new Map<string, OwnablePart>();
    for (const key of Object.keys(value))
      parts.set(`f:${key}`, { value: value[key], schema: childSchema(schema, key) });
    return parts;
  }
  if (!Array.isArray(value) || schema.is !== "list" || schema.identity === "atomic") return undefined;
  const parts = new Map<string, OwnablePart>();
  for (const item of value) parts.set(listItemStep(item, schema.identity), { value: item, schema: schema.of });
  return parts;
}

/** The path step that identifies a list item. */
export function listItemStep(item: unknown, identity: "set" | readonly string[]): string {
  if (identity === "set") return `v:${JSON.stringify(item)}`;
  const keys: Record<string, unknown> = {};
  for (const key of [...identity].sort()) {
    const value = isRecord(item) ? item[key] : undefined;
    // The only list key that has a default.
    keys[key] = value ?? (key === "protocol" ? "TCP" : null);
  }
  return `k:${JSON.stringify(keys)}`;
}

export function childSchema(schema: FieldSchema, key: string): FieldSchema {
  if (schema.is === "object") return schema.field(key) ?? anyFieldSchema;
  return schema.is === "map" ? schema.of : anyFieldSchema;
}

/** All paths of a value. Keyed list items are members themselves, other containers only when empty. */
export function fieldSetOf(value: unknown, schema: FieldSchema): FieldSet {
  const parts = ownableParts(value, schema);
  if (parts === undefined || parts.size === 0) return leafFieldSet;
  const children = new Map<string, FieldSet>();
  for (const [step, part] of parts) {
    const below = fieldSetOf(part.value, part.schema);
    children.set(step, step.startsWith("k:") ? fieldSetNode(true, below.children) : below);
  }
  return fieldSetNode(false, children);
}

/** As fieldSetOf, plus the lists and maps themselves: whoever adds one owns it, even after others emptied it. */
function setWithContainers(value: unknown, schema: FieldSchema): FieldSet {
  const parts = ownableParts(value, schema);
  if (parts === undefined || parts.size === 0) return leafFieldSet;
  const children = new Map<string, FieldSet>();
  for (const [step, part] of parts) {
    const below = setWithContainers(part.value, part.schema);
    const isItself = step.startsWith("k:") || (below.isMember && step !== containersStep);
    children.set(step, fieldSetNode(isItself || below.children.size === 0, below.children));
  }
  return fieldSetNode(schema.is === "list" || schema.is === "map", children);
}

/** The API server always writes this list, so nobody owns it. */
const containersStep = "f:containers";

interface FieldComparison {
  /** Whether it was added or changed. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

const noDifference: FieldComparison = { changed: emptyFieldSet, removed: emptyFieldSet };

/** The paths that were added, changed or removed. */
export function compareFields(before: unknown, after: unknown, schema: FieldSchema): FieldComparison {
  if (before === after) return noDifference;
  if (before === undefined) return { changed: setWithContainers(after, schema), removed: emptyFieldSet };
  if (after === undefined) return { changed: emptyFieldSet, removed: setWithContainers(before, schema) };
  const [old, now] = [ownableParts(before, schema), ownableParts(after, schema)];
  if (old === undefined || now === undefined)
    return isSameJson(before, after) ? noDifference : { changed: leafFieldSet, removed: emptyFieldSet };
  const changed = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  for (const step of new Set([...old.keys(), ...now.keys()])) {
    const part = (now.get(step) ?? old.get(step)) as OwnablePart;
    const [was, is] = [old.get(step)?.value, now.get(step)?.value];
    const below = compareFields(was, is, part.schema);
    const isItem = step.startsWith("k:");
    const nowIn = isItem && was === undefined ? fieldSetNode(true, below.changed.children) : below.changed;
    const nowOut = isItem && is === undefined ? fieldSetNode(true, below.removed.children) : below.removed;
    if (nowIn.isMember || nowIn.children.size > 0) changed.set(step, nowIn);
    if (nowOut.isMember || nowOut.children.size > 0) removed.set(step, nowOut);
  }
  return { changed: fieldSetNode(false, changed), removed: fieldSetNode(false, removed) };
}
