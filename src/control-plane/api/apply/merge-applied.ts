import { copyJson, setOwnKey } from "../../../api/json.ts";
import type { FieldSchema } from "../../../api/kubernetes/field-schema.ts";
import { isRecord } from "../../../api/object.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";
import { childSchema, listItemStep } from "./compare-fields.ts";
import type { FieldSet } from "./field-set.ts";

/** The live value with the applied one merged into it. The inputs are not changed. */
export function mergeApplied(live: unknown, applied: unknown, schema: FieldSchema): unknown {
  if (isRecord(applied)) {
    const isAtomic = (schema.is === "object" || schema.is === "map") && schema.isAtomic;
    if (isAtomic || !isRecord(live)) return copyJson(applied);
    const result: JsonObject = {};
    for (const key of Object.keys(live)) setOwnKey(result, key, live[key]);
    for (const key of Object.keys(applied)) {
      const before = Object.hasOwn(live, key) ? live[key] : undefined;
      setOwnKey(result, key, mergeApplied(before, applied[key], childSchema(schema, key)));
    }
    return result;
  }
  const isWhole =
    !Array.isArray(applied) || !Array.isArray(live) || schema.is !== "list" || schema.identity === "atomic";
  if (isWhole) return copyJson(applied);
  const { identity, of } = schema;
  const step = (item: unknown) => listItemStep(item, identity as "set" | readonly string[]);
  const items = new Map(live.map((item: unknown) => [step(item), item]));
  for (const item of applied) {
    const before = items.get(step(item));
    items.set(step(item), before === undefined ? copyJson(item) : mergeApplied(before, item, of));
  }
  return interleaveItems(live.map(step), applied.map(step)).map((one) => items.get(one));
}

/**
 * Merges the order of two lists: applied items in applied order; other live items stay before the item they preceded.
 */
function interleaveItems(live: readonly string[], applied: readonly string[]): readonly string[] {
  const isLive = new Set(live);
  const isApplied = new Set(applied);
  const shared = applied.filter((one) => isLive.has(one));
  const order: string[] = [];
  let at = 0;
  let met = 0; // how many items of both lists are in the result
  for (const next of applied) {
    const anchor = shared[met];
    for (let one = live[at]; one !== undefined && one !== next && one !== anchor; one = live[at]) {
      at++;
      if (!isApplied.has(one)) order.push(one);
      else if (anchor === undefined) break;
    }
    order.push(next);
    if (live[at] === next) at++;
    if (next === anchor) met++;
  }
  return [...order, ...live.slice(at).filter((one) => !isApplied.has(one))];
}

/** The value without what the manager no longer applies and nobody else owns. */
export function pruneAbandoned(
  value: unknown,
  last: FieldSet,
  { keep, schema }: { readonly keep: readonly FieldSet[]; readonly schema: FieldSchema },
): unknown {
  if (last.children.size === 0) return value;
  if (isRecord(value)) {
    const result: JsonObject = {};
    for (const key of Object.keys(value)) {
      const pruned = pruneResultOf(`f:${key}`, { last, keep, isField: schema.is === "object" });
      if (pruned === "remove") continue;
      const child =
        pruned === undefined
          ? value[key]
          : pruneAbandoned(value[key], pruned.last, { keep: pruned.keep, schema: childSchema(schema, key) });
      setOwnKey(result, key, child);
    }
    return result;
  }
  if (!Array.isArray(value) || schema.is !== "list" || schema.identity === "atomic") return value;
  const { identity, of } = schema;
  return value.flatMap((item: unknown) => {
    const pruned = pruneResultOf(listItemStep(item, identity), { last, keep, isField: false });
    if (pruned === "remove") return [];
    return [pruned === undefined ? item : pruneAbandoned(item, pruned.last, { keep: pruned.keep, schema: of })];
  });
}

type PruneResult = "remove" | { readonly last: FieldSet; readonly keep: readonly FieldSet[] } | undefined;

interface FieldOwnership {
  readonly last: FieldSet;
  readonly keep: readonly FieldSet[];
  /** A field of a struct, not an item of a list or map. */
  readonly isField: boolean;
}

/**
 * Removed if nobody else owns it, else its parts are examined. A field is owned by whoever owns something in it; a list
 * item only by whoever owns the item itself.
 */
function pruneResultOf(step: string, { last, keep, isField }: FieldOwnership): PruneResult {
  const before = last.children.get(step);
  if (before === undefined) return undefined;
  const owners = keep.flatMap((set) => set.children.get(step) ?? []);
  const isOwned = isField ? owners.length > 0 : owners.some(({ isMember }) => isMember);
  const isRemoved = !isOwned && (isField || before.isMember);
  return isRemoved ? "remove" : { last: before, keep: owners };
}
