import { compatibilityAnnotations, groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { at, type Draft, shown, valueAt } from "./draft.ts";
import { defaultClassKind } from "./node-class-ref.ts";

/** Kubelet settings stood with pools; in v1 they stand with the class, which many pools may share. (01 §7.5 last row) */

export interface PoolWork {
  readonly input: number;
  readonly draft: Draft;
  /** Where the source wrote its settings, if it did. */
  readonly kubelet: Path | undefined;
}

export interface ClassWork {
  readonly draft: Draft;
  /** Set once settings were moved in. */
  changed: boolean;
}

const classKubelet = at("spec.kubelet");
const annotation = ["metadata", "annotations", compatibilityAnnotations.kubelet];

/** Settings of the source, without what no kubelet takes any more. */
export function kubeletSettings(pool: PoolWork): Record<string, unknown> | undefined {
  const settings = pool.kubelet === undefined ? undefined : pool.draft.said(pool.kubelet);
  if (!isRecord(settings)) return undefined;
  const { containerRuntime: _gone, ...rest } = settings;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Keeps the settings in an annotation, as the conversion webhook of v1.0 did. (01 §7.3) */
export function keepKubelet(pool: PoolWork): void {
  const settings = kubeletSettings(pool);
  if (settings !== undefined) pool.draft.put(annotation, JSON.stringify(settings), pool.kubelet);
}

/** Moves the settings of pools to the classes they reference. */
export function settleKubelet(pools: readonly PoolWork[], classes: ReadonlyMap<string, ClassWork>): void {
  for (const pool of pools) noteContainerRuntime(pool);
  for (const [name, sharing] of byClass(pools)) {
    const asking = sharing.filter((pool) => kubeletSettings(pool) !== undefined);
    if (asking.length === 0) continue;
    const target = name === undefined ? undefined : classes.get(name);
    if (target === undefined) for (const pool of asking) leaveBehind(pool, name);
    else if (new Set(sharing.map((pool) => canonical(kubeletSettings(pool)))).size > 1)
      refuseMix(sharing, String(name));
    else moveIn(asking, { name: String(name), target });
  }
}

/** The EC2NodeClass each pool names; undefined gathers the pools of other kinds of class. */
function byClass(pools: readonly PoolWork[]): ReadonlyMap<string | undefined, readonly PoolWork[]> {
  const groupsOfPools = new Map<string | undefined, PoolWork[]>();
  for (const pool of pools) {
    const ref = pool.draft.says(at("spec.template.spec.nodeClassRef"));
    const isEc2 = isRecord(ref) && ref["group"] === groups.aws && ref["kind"] === defaultClassKind;
    const name = isEc2 ? shown(ref["name"]) : undefined;
    groupsOfPools.set(name, [...(groupsOfPools.get(name) ?? []), pool]);
  }
  return groupsOfPools;
}

function moveIn(asking: readonly PoolWork[], { name, target }: { name: string; target: ClassWork }): void {
  const [first] = asking;
  if (first?.kubelet === undefined) return;
  const settings = kubeletSettings(first);
  const own = target.draft.says(classKubelet);
  if (own !== undefined && canonical(own) !== canonical(settings)) {
    refuseMix(asking, name);
    return;
  }
  target.draft.put(classKubelet, structuredClone(settings));
  target.draft.moves.push({ from: first.kubelet, to: classKubelet, input: first.input });
  target.changed = true;
  for (const pool of asking) {
    if (pool.kubelet === undefined) continue;
    pool.draft.note({
      code: "kubelet-moved",
      path: pool.kubelet,
      message: `moved to spec.kubelet of EC2NodeClass ${name}: in v1 it belongs to the class`,
      advice: "mind that every pool of that class gets these settings",
    });
  }
}

function refuseMix(pools: readonly PoolWork[], name: string): void {
  const names = pools.map((pool) => shown(valueAt(pool.draft.object, at("metadata.name")))).join(", ");
  for (const pool of pools) {
    if (pool.kubelet === undefined || kubeletSettings(pool) === undefined) continue;
    pool.draft.refuse({
      code: "not-convertible",
      rule: "01 §7.5",
      path: pool.kubelet,
      message: `pools of EC2NodeClass ${name} (${names}) and the class itself do not agree on kubelet settings, and v1 has one set for each class`,
      expected: "one node class for each kubelet setting",
    });
  }
}

function leaveBehind(pool: PoolWork, name: string | undefined): void {
  if (pool.kubelet === undefined) return;
  keepKubelet(pool);
  const where = name === undefined ? "its node class" : `EC2NodeClass ${name}`;
  pool.draft.assume({
    code: "kubelet-left-behind",
    path: pool.kubelet,
    message: `in v1 kubelet settings belong to ${where}, which is not among the input; kept only as the annotation ${compatibilityAnnotations.kubelet}`,
    advice: "convert pool and class together, or copy the settings to spec.kubelet of the class",
    instead: {
      code: "not-convertible",
      rule: "01 §7.5",
      message: `in v1 kubelet settings belong to ${where}, which is not among the input`,
      expected: "pool and class converted together",
    },
  });
}

function noteContainerRuntime(pool: PoolWork): void {
  if (pool.kubelet === undefined) return;
  const path = [...pool.kubelet, "containerRuntime"];
  if (pool.draft.said(path) === undefined) return;
  pool.draft.note({
    code: "field-dropped",
    path,
    message: "dropped: containerd is the only runtime left",
    advice: "remove it",
  });
}

/** Equal settings read equal, in whatever order they were written. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) =>
      isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
    ) ?? "none"
  );
}
