import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { isCompatible } from "../compatibility.ts";
import { allocatableOf, type InstanceType, offeringGroups } from "../instance-type.ts";
import { isCurrentlyReschedulable } from "../pod-predicates.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import type { Resources } from "../resources.ts";
import { nodeClaimTemplateOf } from "../scheduling/node-claim-template.ts";
import type { Pool } from "../scheduling/problem.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { DecisionCause } from "./verdict.ts";

/** Sums of floating-point numbers are compared with this much slack, so that rounding never rejects. */
const slack = 1e-9;

type Amounts = ReadonlyMap<string, number>;

/** What a cluster has to offer to the pods of a node that goes, from above: real simulations never find more. */
export class CapacityBounds {
  readonly #snapshot: DisruptionSnapshot;
  readonly #reader = new QuantityReader();
  /** Free on all nodes that stay, together. */
  readonly #free = new Map<string, number>();
  /** The most any type has that could be launched, by resource, and the least a type costs. */
  readonly #largestType = new Map<string, number>();
  #cheapestType = Number.POSITIVE_INFINITY;

  private constructor(snapshot: DisruptionSnapshot) {
    this.#snapshot = snapshot;
  }

  static *of(snapshot: DisruptionSnapshot): Steps<CapacityBounds> {
    const bounds = new CapacityBounds(snapshot);
    yield* forEachInSteps(snapshot.cluster.nodes, ({ existing, isBeingDeleted }) => {
      if (!isBeingDeleted) addPositive(bounds.#free, existing.available);
    });
    for (const pool of snapshot.usablePools) {
      yield* forEachInSteps(pool.instanceTypes, (type) => raiseTo(bounds.#largestType, largestAllocatable(type)));
      bounds.#cheapestType = Math.min(bounds.#cheapestType, cheapestPrice(pool, snapshot.labelPolicy));
      yield;
    }
    return bounds;
  }

  /**
   * Why a node can certainly not be consolidated: its pods need more than the other nodes have free and one new node
   * could add (several may be added with MultiReplacement), or no node is cheaper and the other nodes have no room. Undefined: a simulation has to say. (03 §10.2-3)
   */
  causeAgainst(candidate: DisruptionCandidate): DecisionCause | undefined {
    const needed = this.#requestsOf(candidate.reschedulablePods);
    const own = positiveAmounts(candidate.stateNode.existing.available);
    const canReplace = this.#cheapestType < candidate.price;
    for (const [resource, amount] of needed) {
      const free = (this.#free.get(resource) ?? 0) - (own.get(resource) ?? 0);
      const added = this.#largestType.get(resource) ?? 0;
      const isOffered = added > 0 && this.#snapshot.allowsMultiReplacement;
      const most = free + (canReplace ? (isOffered ? Number.POSITIVE_INFINITY : added) : 0);
      if (amount > most * (1 + slack) + slack) return { code: "no-room", resource, needed: amount, free: most };
    }
    return undefined;
  }

  #requestsOf(pods: readonly Pod[]): Amounts {
    const needed = new Map<string, number>();
    for (const pod of pods) {
      if (isCurrentlyReschedulable(pod, this.#snapshot)) addPositive(needed, podRequests(pod, this.#reader));
    }
    return needed;
  }
}

/** The least a node of the pool can cost, whatever its type. */
function cheapestPrice({ nodePool, instanceTypes }: Pool, policy: LabelPolicy): number {
  const { requirements } = nodeClaimTemplateOf(nodePool, policy);
  const options = { allowUndefined: policy.wellKnown };
  let least = Number.POSITIVE_INFINITY;
  for (const { offerings } of instanceTypes) {
    for (const { available, price, requirements: own } of offerings) {
      if (available && price < least && isCompatible(requirements, own, options)) least = price;
    }
  }
  return least;
}

function addPositive(sums: Map<string, number>, amounts: Resources): void {
  for (const name in amounts) sums.set(name, (sums.get(name) ?? 0) + Math.max(0, amounts[name]?.toNumber() ?? 0));
}

/** What is overcommitted helps nobody, and takes nothing from others. */
function positiveAmounts(amounts: Resources): Amounts {
  return new Map(Object.entries(amounts).map(([name, amount]) => [name, Math.max(0, amount.toNumber())]));
}

function raiseTo(largest: Map<string, number>, amounts: readonly Resources[]): void {
  for (const one of amounts) {
    for (const [name, amount] of Object.entries(one)) {
      largest.set(name, Math.max(largest.get(name) ?? 0, amount.toNumber()));
    }
  }
}

function largestAllocatable(type: InstanceType): readonly Resources[] {
  return [allocatableOf(type), ...offeringGroups(type).map(({ allocatable }) => allocatable)];
}
