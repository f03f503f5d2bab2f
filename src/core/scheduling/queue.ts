import { resources } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { mapInSteps, type Steps, sortInSteps } from "../../util/steps.ts";
import type { QueuedPod } from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import type { ResourceSpace } from "./resource-space.ts";

export interface QueueInput {
  readonly classOf: readonly PodClass[];
  readonly requests: ReadonlyMap<PodClass, Float64Array>;
  readonly space: ResourceSpace;
}

/** Pods that were promised a place, then large ones first, then old ones. (02:Q-1) */
export function* buildQueue({ pods, nominatedNodes }: SchedulingProblem, input: QueueInput): Steps<QueuedPod[]> {
  const sizes = yield* sizeRanks(input);
  const keys = yield* mapInSteps(pods, (pod, position) => ({
    rank: nominatedNodes?.has(namespacedName(pod.metadata)) ? 0 : 1,
    size: sizes.get(input.classOf[position] as PodClass) ?? 0,
    age: Date.parse(pod.metadata.creationTimestamp ?? "") || 0,
    uid: pod.metadata.uid ?? "",
    position,
  }));
  const sorted = yield* sortInSteps(keys, byQueueOrder);
  return yield* mapInSteps(sorted, ({ position }): QueuedPod => {
    return {
      pod: pods[position] as QueuedPod["pod"],
      podClass: input.classOf[position] as PodClass,
      position,
      queueLengthAtFailure: -1,
    };
  });
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

/** The place of each class by cpu, then memory, the largest first: comparing pods is comparing these. */
function* sizeRanks({ requests, space }: QueueInput): Steps<ReadonlyMap<PodClass, number>> {
  const cpu = space.indexOf(resources.cpu);
  const memory = space.indexOf(resources.memory);
  const bySize = (a: Float64Array, b: Float64Array): number =>
    (b[cpu] ?? 0) - (a[cpu] ?? 0) || (b[memory] ?? 0) - (a[memory] ?? 0);
  const ranks = new Map<PodClass, number>();
  let last: Float64Array | undefined;
  let rank = 0;
  for (const [podClass, row] of yield* sortInSteps([...requests], ([, a], [, b]) => bySize(a, b))) {
    if (last !== undefined && bySize(last, row) !== 0) rank++;
    last = row;
    ranks.set(podClass, rank);
  }
  return ranks;
}
