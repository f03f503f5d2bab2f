import { isRecord } from "../../../api/object.ts";
import { sameJson } from "../../kinds/draft.ts";
import { anything, type FieldSchema } from "../../kinds/field-schema.ts";
import { emptySet, type FieldSet, leafSet, nodeSet } from "./field-set.ts";

/** One part of a value that can be owned apart from the others. */
export interface Part {
  readonly value: unknown;
  readonly schema: FieldSchema;
}

/** The parts of a value by their step, or undefined where it is owned whole. */
export function partsOf(value: unknown, schema: FieldSchema): ReadonlyMap<string, Part> | undefined {
  if (isRecord(value)) {
    if ((schema.is === "object" || schema.is === "map") && schema.isAtomic) return undefined;
    const parts = new Map<string, Part>();
    for (const key of Object.keys(value)) parts.set(`f:${key}`, { value: value[key], schema: fieldOf(schema, key) });
    return parts;
  }
  if (!Array.isArray(value) || schema.is !== "list" || schema.identity === "atomic") return undefined;
  const parts = new Map<string, Part>();
  for (const item of value) parts.set(itemStep(item, schema.identity), { value: item, schema: schema.of });
  return parts;
}

/** How an item of a list is told from the others. */
export function itemStep(item: unknown, identity: "set" | readonly string[]): string {
  if (identity === "set") return `v:${JSON.stringify(item)}`;
  const keys: Record<string, unknown> = {};
  for (const key of [...identity].sort()) {
    const value = isRecord(item) ? item[key] : undefined;
    // The one key Kubernetes has a default for.
    keys[key] = value ?? (key === "protocol" ? "TCP" : null);
  }
  return `k:${JSON.stringify(keys)}`;
}

export function fieldOf(schema: FieldSchema, key: string): FieldSchema {
  if (schema.is === "object") return schema.field(key) ?? anything;
  return schema.is === "map" ? schema.of : anything;
}

/** Every path a value has something at. Items of lists count themselves, other containers only when empty. */
export function setOf(value: unknown, schema: FieldSchema): FieldSet {
  const parts = partsOf(value, schema);
  if (parts === undefined || parts.size === 0) return leafSet;
  const children = new Map<string, FieldSet>();
  for (const [step, part] of parts) {
    const below = setOf(part.value, part.schema);
    children.set(step, step.startsWith("k:") ? nodeSet(true, below.children) : below);
  }
  return nodeSet(false, children);
}

/**
 * The same with the lists and maps that hold the paths: who brings one owns it as well, and still does when others have
 * emptied it.
 */
function setWithContainers(value: unknown, schema: FieldSchema): FieldSet {
  const parts = partsOf(value, schema);
  if (parts === undefined || parts.size === 0) return leafSet;
  const children = new Map<string, FieldSet>();
  for (const [step, part] of parts) {
    const below = setWithContainers(part.value, part.schema);
    const isItself = step.startsWith("k:") || (below.isMember && step !== alwaysThere);
    children.set(step, nodeSet(isItself || below.children.size === 0, below.children));
  }
  return nodeSet(schema.is === "list" || schema.is === "map", children);
}

/** A pod always has this list, if only with nothing in it: nobody brings it. */
const alwaysThere = "f:containers";

export interface Comparison {
  /** Added, or not what it was. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

const nothing: Comparison = { changed: emptySet, removed: emptySet };

/** What became of each path between two values. */
export function compare(before: unknown, after: unknown, schema: FieldSchema): Comparison {
  if (before === after) return nothing;
  if (before === undefined) return { changed: setWithContainers(after, schema), removed: emptySet };
  if (after === undefined) return { changed: emptySet, removed: setWithContainers(before, schema) };
  const [old, now] = [partsOf(before, schema), partsOf(after, schema)];
  if (old === undefined || now === undefined)
    return sameJson(before, after) ? nothing : { changed: leafSet, removed: emptySet };
  const changed = new Map<string, FieldSet>();
  const removed = new Map<string, FieldSet>();
  for (const step of new Set([...old.keys(), ...now.keys()])) {
    const part = (now.get(step) ?? old.get(step)) as Part;
    const [was, is] = [old.get(step)?.value, now.get(step)?.value];
    const below = compare(was, is, part.schema);
    const isItem = step.startsWith("k:");
    const nowIn = isItem && was === undefined ? nodeSet(true, below.changed.children) : below.changed;
    const nowOut = isItem && is === undefined ? nodeSet(true, below.removed.children) : below.removed;
    if (nowIn.isMember || nowIn.children.size > 0) changed.set(step, nowIn);
    if (nowOut.isMember || nowOut.children.size > 0) removed.set(step, nowOut);
  }
  return { changed: nodeSet(false, changed), removed: nodeSet(false, removed) };
}
