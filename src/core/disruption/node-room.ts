import type { Pod } from "../../api/kubernetes/pod.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import { amountOf, mergeResources, type Resources, subtractResources } from "../resources.ts";
import type { ExistingNode } from "../scheduling/problem.ts";

/** Sums are compared with this much slack, so that rounding never hides room. */
const slack = 1e-9;

/** What a simulation sees of a node that may take pods. */
export class NodeRoom {
  readonly #existing: ExistingNode;
  /** Pods that are placed there before any simulation begins. */
  readonly #placed: readonly Pod[];
  #left: Resources | undefined;
  #text: string | undefined;

  constructor(existing: ExistingNode, placed: readonly Pod[] = []) {
    this.#existing = existing;
    this.#placed = placed;
  }

  withPods(pods: readonly Pod[]): NodeRoom {
    return new NodeRoom(this.#existing, [...this.#placed, ...pods]);
  }

  isSameAs(other: NodeRoom): boolean {
    const isShared = this.#existing === other.#existing;
    if (isShared && this.#placed.length === 0 && other.#placed.length === 0) return true;
    if (this.#existing !== other.#existing && this.#rest !== other.#rest) return false;
    return amountsText(this.left) === amountsText(other.left);
  }

  /** Whether whatever the other refuses, this refuses too: it differs only in having no more room. */
  isNoRoomierThan(other: NodeRoom): boolean {
    if (this.#existing !== other.#existing && this.#rest !== other.#rest) return false;
    return [...new Set([...Object.keys(this.left), ...Object.keys(other.left)])].every(
      (name) => amountOf(this.left, name).cmp(amountOf(other.left, name)) <= 0,
    );
  }

  /** Whether there is too little of some resource for every pod that requests at least this much of it. */
  refusesAll(least: ReadonlyMap<string, number>): boolean {
    for (const [name, amount] of least) {
      if (amount > Math.max(0, amountOf(this.left, name).toNumber()) * (1 + slack) + slack) return true;
    }
    return false;
  }

  private get left(): Resources {
    this.#left ??= resourcesLeft(this.#existing, this.#placed);
    return this.#left;
  }

  /** All that matters to a pod besides resources, host ports and volumes. */
  get #rest(): string {
    const { name, hostname, labels, taints, isInitialized, daemonRequests, underConsolidateAfter } = this.#existing;
    this.#text ??= canonicalJson({
      ...{ name, hostname, labels, taints, isInitialized, underConsolidateAfter },
      daemonRequests: amountsText(daemonRequests),
    });
    return this.#text;
  }
}

function resourcesLeft({ available }: ExistingNode, placed: readonly Pod[]): Resources {
  if (placed.length === 0) return available;
  const reader = new QuantityReader();
  return subtractResources(available, mergeResources(...placed.map((pod) => podRequests(pod, reader))));
}

function amountsText(amounts: Resources): string {
  return Object.keys(amounts)
    .sort()
    .map((name) => `${name}=${amounts[name]?.toNumber()}`)
    .join();
}

/** Of every resource that all of the pods request, the least that one of them does. */
export function leastRequests(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const reader = new QuantityReader();
  const requests = pods.map((pod) => podRequests(pod, reader));
  const names = new Set(requests.flatMap((one) => Object.keys(one)));
  return new Map([...names].map((name) => [name, Math.min(...requests.map((one) => amountOf(one, name).toNumber()))]));
}
