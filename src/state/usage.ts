import type { Pod } from "../api/kubernetes/pod.ts";
import { isOwnedByDaemonSet } from "../core/provisionable.ts";
import { merge, type Resources } from "../core/resources.ts";
import type { Amounts, AmountsOfPods } from "./amounts.ts";
import type { NodeUsage } from "./cluster.ts";

/** What the pods of a node ask for. Limits are for metrics, and summed up when somebody asks for them. */
export class Usage implements NodeUsage {
  readonly allocatable: Resources;
  readonly podRequests: Resources;
  readonly daemonRequests: Resources;
  readonly #all: readonly Amounts[];
  readonly #daemons: readonly Amounts[];
  #podLimits: Resources | undefined;
  #daemonLimits: Resources | undefined;

  constructor(pods: readonly Pod[], { amounts, allocatable }: { amounts: AmountsOfPods; allocatable: Resources }) {
    this.allocatable = allocatable;
    this.#all = pods.map((pod) => amounts.of(pod));
    this.#daemons = this.#all.filter((_, index) => isOwnedByDaemonSet(pods[index] as Pod));
    this.podRequests = merge(...this.#all.map(({ requests }) => requests));
    this.daemonRequests = merge(...this.#daemons.map(({ requests }) => requests));
  }

  get podLimits(): Resources {
    this.#podLimits ??= merge(...this.#all.map(({ limits }) => limits));
    return this.#podLimits;
  }

  get daemonLimits(): Resources {
    this.#daemonLimits ??= merge(...this.#daemons.map(({ limits }) => limits));
    return this.#daemonLimits;
  }
}
