import type { Taint } from "../../../api/labels.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { type ApiNode, conditionOfType } from "../api-pod-and-node.ts";

/** A taint with the time it was added, which NoExecute taints carry. */
export interface TimedTaint extends Taint {
  readonly timeAdded?: string | undefined;
}

const notReady = "node.kubernetes.io/not-ready";
const unreachable = "node.kubernetes.io/unreachable";
const unschedulable = "node.kubernetes.io/unschedulable";

/** Conditions that taint the node while they are True. */
const taintKeyByCondition: Readonly<Record<string, string>> = {
  MemoryPressure: "node.kubernetes.io/memory-pressure",
  DiskPressure: "node.kubernetes.io/disk-pressure",
  PIDPressure: "node.kubernetes.io/pid-pressure",
  NetworkUnavailable: "node.kubernetes.io/network-unavailable",
};

/** Taints this controller adds and removes. */
const managedTaintKeys: ReadonlySet<string> = new Set([
  notReady,
  unreachable,
  unschedulable,
  ...Object.values(taintKeyByCondition),
]);

/** The taints a node should have given its conditions; others are kept. (05:CP-L11) */
export function taintsFor(node: ApiNode, now: number): readonly TimedTaint[] {
  const existing: readonly TimedTaint[] = node.spec?.taints ?? [];
  const others = existing.filter(({ key }) => !managedTaintKeys.has(key));
  const wanted = wantedTaints(node).map((taint): TimedTaint => {
    const known = existing.find(({ key, effect }) => key === taint.key && effect === taint.effect);
    if (known !== undefined) return known;
    return taint.effect === "NoExecute" || taint.key === unschedulable ? { ...taint, timeAdded: rfc3339(now) } : taint;
  });
  return [...others, ...wanted];
}

function wantedTaints(node: ApiNode): readonly Taint[] {
  const ready = conditionOfType(node, "Ready")?.status;
  const unhealthy = ready === "Unknown" ? unreachable : ready === "True" ? undefined : notReady;
  return [
    ...(unhealthy === undefined
      ? []
      : [
          { key: unhealthy, effect: "NoSchedule" },
          // no Ready condition yet: a new node, from which nothing is evicted
          ...(ready === undefined ? [] : [{ key: unhealthy, effect: "NoExecute" }]),
        ]),
    ...Object.entries(taintKeyByCondition).flatMap(([type, key]) =>
      conditionOfType(node, type)?.status === "True" ? [{ key, effect: "NoSchedule" }] : [],
    ),
    ...(node.spec?.unschedulable === true ? [{ key: unschedulable, effect: "NoSchedule" }] : []),
  ];
}

export function sameTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  const text = (taints: readonly Taint[]): string =>
    taints
      .map(({ key, value = "", effect }) => `${key}=${value}:${effect}`)
      .sort()
      .join();
  return text(a) === text(b);
}
