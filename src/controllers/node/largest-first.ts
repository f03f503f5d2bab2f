import type { Pod } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import { podRequests, QuantityReader } from "../../core/pod-requests.ts";
import type { Clock } from "../../util/clock.ts";

/** Nodes of one command begin to drain within this time of each other. */
export const collectEvictionsMs = 500;

export interface LargestFirstOptions {
  readonly clock: Clock;
  readonly podOf: (key: string) => Pod | undefined;
  readonly handOn: (key: string) => void;
}

/**
 * Collects the pods that are to be evicted for a moment, and hands them on by cpu, then memory, the largest first. That is
 * the order in which we planned where they go: the scheduler takes pods as they come back, and a small one could take the
 * room that only a large one needs. Of pods with as many cpus, those that may not run everywhere come first: others could take
 * the only room there is for them. (03:T-46)
 */
export class LargestFirst {
  readonly #keys = new Set<string>();
  readonly #options: LargestFirstOptions;
  #stopTimer: (() => void) | undefined;

  constructor(options: LargestFirstOptions) {
    this.#options = options;
  }

  add(key: string): void {
    this.#keys.add(key);
    if (this.#stopTimer !== undefined) return;
    const timer = this.#options.clock.setTimer(collectEvictionsMs, () => this.#handOnAll());
    this.#stopTimer = () => timer.cancel();
  }

  stop(): void {
    this.#stopTimer?.();
  }

  #handOnAll(): void {
    this.#stopTimer = undefined;
    const keys = [...this.#keys];
    this.#keys.clear();
    for (const key of sortedBySize(keys, this.#options.podOf)) this.#options.handOn(key);
  }
}

function sortedBySize(keys: readonly string[], podOf: LargestFirstOptions["podOf"]): readonly string[] {
  const reader = new QuantityReader();
  const sized = keys.map((key) => {
    const pod = podOf(key);
    const requests = pod === undefined ? {} : podRequests(pod, reader);
    const amount = (name: string): number => requests[name]?.toNumber() ?? 0;
    const rank = pod !== undefined && hasPlacementRules(pod) ? 0 : 1;
    return { key, cpu: amount(resources.cpu), rank, memory: amount(resources.memory) };
  });
  return sized.sort((a, b) => b.cpu - a.cpu || a.rank - b.rank || b.memory - a.memory).map(({ key }) => key);
}

/** Whether some nodes are refused by its own rules. */
function hasPlacementRules({ spec: { nodeSelector = {}, affinity, topologySpreadConstraints = [] } }: Pod): boolean {
  return (
    Object.keys(nodeSelector).length > 0 ||
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined ||
    affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined ||
    affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined ||
    topologySpreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule")
  );
}
