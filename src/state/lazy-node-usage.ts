import type { Pod } from "../api/kubernetes/pod.ts";
import { isOwnedByDaemonSet } from "../core/pod-predicates.ts";
import { mergeResources, type Resources } from "../core/resources.ts";
import type { NodeUsage } from "../core/round/cluster-snapshot.ts";
import type { PodResources, PodResourcesCache } from "./pod-resources-cache.ts";

/** Requests and limits of a node's pods. Only metrics read limits, which are summed up when they do. */
export class LazyNodeUsage implements NodeUsage {
  readonly allocatable: Resources;
  readonly podRequests: Resources;
  readonly daemonRequests: Resources;
  readonly #all: readonly PodResources[];
  readonly #daemons: readonly PodResources[];
  #podLimits: Resources | undefined;
  #daemonLimits: Resources | undefined;

  constructor(
    pods: readonly Pod[],
    { podResources, allocatable }: { podResources: PodResourcesCache; allocatable: Resources },
  ) {
    this.allocatable = allocatable;
    this.#all = pods.map((pod) => podResources.of(pod));
    this.#daemons = this.#all.filter((_, index) => isOwnedByDaemonSet(pods[index] as Pod));
    this.podRequests = mergeResources(...this.#all.map(({ requests }) => requests));
    this.daemonRequests = mergeResources(...this.#daemons.map(({ requests }) => requests));
  }

  get podLimits(): Resources {
    this.#podLimits ??= mergeResources(...this.#all.map(({ limits }) => limits));
    return this.#podLimits;
  }

  get daemonLimits(): Resources {
    this.#daemonLimits ??= mergeResources(...this.#daemons.map(({ limits }) => limits));
    return this.#daemonLimits;
  }
}
