import { annotations } from "../../../../api/labels.ts";
import { isActive, isReady, readySince } from "../pods.ts";
import type { LivePod } from "../types.ts";

export interface VictimOptions {
  readonly count: number;
  readonly now: number;
  /** Pods of the same set and of its sisters: where they crowd, one is missed least. */
  readonly related: readonly LivePod[];
}

/** Which pods go when there are too many: those whose loss costs least, first. (05:CP-L2) */
export function victims(pods: readonly LivePod[], { count, now, related }: VictimOptions): readonly LivePod[] {
  const crowd = new Map<string, number>();
  for (const pod of related) {
    const { nodeName } = pod.spec;
    if (nodeName !== undefined && isActive(pod)) crowd.set(nodeName, (crowd.get(nodeName) ?? 0) + 1);
  }
  const facts = pods.map((pod) => factsOf(pod, { now, crowd: crowd.get(pod.spec.nodeName ?? "") ?? 0 }));
  return [...facts]
    .sort(byCost)
    .slice(0, count)
    .map(({ pod }) => pod);
}

interface Facts {
  readonly pod: LivePod;
  readonly isAssigned: boolean;
  readonly phase: number;
  readonly isReady: boolean;
  readonly deletionCost: number;
  readonly crowd: number;
  readonly readyAge: number;
  readonly restarts: number;
  readonly age: number;
  readonly uid: string;
}

const phases = ["Pending", "Unknown", "Running"];

function factsOf(pod: LivePod, { now, crowd }: { readonly now: number; readonly crowd: number }): Facts {
  const created = Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
  return {
    pod,
    isAssigned: (pod.spec.nodeName ?? "") !== "",
    phase: phases.indexOf(pod.status?.phase ?? "Unknown"),
    isReady: isReady(pod),
    deletionCost: deletionCost(pod),
    crowd,
    readyAge: magnitude(now - (readySince(pod) ?? now)),
    restarts: Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount = 0 }) => restartCount)),
    age: magnitude(now - created),
    uid: pod.metadata.uid ?? "",
  };
}

function byCost(a: Facts, b: Facts): number {
  return (
    Number(a.isAssigned) - Number(b.isAssigned) ||
    a.phase - b.phase ||
    Number(a.isReady) - Number(b.isReady) ||
    a.deletionCost - b.deletionCost ||
    b.crowd - a.crowd ||
    (a.isReady ? a.readyAge - b.readyAge : 0) ||
    b.restarts - a.restarts ||
    a.age - b.age ||
    // Of one age in magnitude any will do, or scaling down would always take the newest and skew zones.
    (a.uid < b.uid ? -1 : 1)
  );
}

/** Ages count by their order of magnitude: a minute more or less is no reason among pods of a day. */
function magnitude(ms: number): number {
  return ms <= 0 ? 0 : Math.floor(Math.log2(ms));
}

/** What it is said to cost; what is no integer costs nothing. */
function deletionCost({ metadata }: LivePod): number {
  const written = metadata.annotations?.[annotations.podDeletionCost] ?? "";
  return /^-?\d{1,10}$/.test(written) ? Number(written) : 0;
}
