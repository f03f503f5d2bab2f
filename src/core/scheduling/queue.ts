import type { Pod } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { mapInSteps, type Steps, sortInSteps } from "../../util/steps.ts";
import type { QueuedPod } from "./pass-state.ts";
import type { PodClass, PodClasses } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import type { ResourceSpace } from "./resource-space.ts";

/** Pods with a nominated node first, then the largest, then the oldest. (02:Q-1) */
export function* buildQueue(
  { pods, nominatedNodes }: Pick<SchedulingProblem, "pods" | "nominatedNodes">,
  { all, classOf }: PodClasses,
  space: ResourceSpace,
): Steps<QueuedPod[]> {
  const sizes = yield* sizeRanks(all, space);
  const ageOf = ageReader();
  const keys = yield* mapInSteps(pods, (pod, position) => ({
    rank: nominatedNodes?.has(namespacedName(pod.metadata)) ? 0 : 1,
    size: sizes.get(classOf[position] as PodClass) ?? 0,
    age: ageOf(pod.metadata.creationTimestamp),
    uid: pod.metadata.uid ?? "",
    position,
  }));
  const sorted = yield* sortInSteps(keys, byQueueOrder);
  return yield* mapInSteps(sorted, ({ position }) => ({
    pod: pods[position] as Pod,
    podClass: classOf[position] as PodClass,
    position,
    queueLengthAtFailure: -1,
  }));
}

/** Pods that were created together follow one another: their time is parsed once. */
function ageReader(): (timestamp: string | undefined) => number {
  let lastTimestamp: string | undefined;
  let lastAge = 0;
  return (timestamp) => {
    if (timestamp === lastTimestamp) return lastAge;
    lastTimestamp = timestamp;
    lastAge = Date.parse(timestamp ?? "") || 0;
    return lastAge;
  };
}

interface QueueKey {
  readonly rank: number;
  readonly size: number;
  readonly age: number;
  readonly uid: string;
}

function byQueueOrder(a: QueueKey, b: QueueKey): number {
  return a.rank - b.rank || a.size - b.size || a.age - b.age || (a.uid === b.uid ? 0 : a.uid < b.uid ? -1 : 1);
}

/** The rank of each class by cpu, then memory, largest first. */
function* sizeRanks(classes: readonly PodClass[], space: ResourceSpace): Steps<ReadonlyMap<PodClass, number>> {
  const cpu = space.indexOf(resources.cpu);
  const memory = space.indexOf(resources.memory);
  const bySize = ({ requestRow: a }: PodClass, { requestRow: b }: PodClass): number =>
    (b[cpu] ?? 0) - (a[cpu] ?? 0) || (b[memory] ?? 0) - (a[memory] ?? 0);
  const ranks = new Map<PodClass, number>();
  let last: PodClass | undefined;
  let rank = 0;
  for (const podClass of yield* sortInSteps(classes, bySize)) {
    if (last !== undefined && bySize(last, podClass) !== 0) rank++;
    last = podClass;
    ranks.set(podClass, rank);
  }
  return ranks;
}
