import type { PlannedNodeState, QueuedPod } from "../scheduling/pass-state.ts";
import type { RequirementState } from "../scheduling/requirement-state.ts";
import type { TopologyGroup } from "../scheduling/topology/topology-group.ts";
import type { MoveClass } from "./move-class.ts";
import type { CapacityLimit, PricedSizes } from "./priced-sizes.ts";

/** A planned node while the packing is improved. */
export class Bin {
  /** Its index among the bins. */
  index = 0;
  readonly plannedNode: PlannedNodeState;
  readonly capacityLimit: CapacityLimit;
  readonly pods = new Map<MoveClass, QueuedPod[]>();
  readonly used: Float64Array;
  requirementState: RequirementState;
  signature = -1;
  pricedSizes: PricedSizes | undefined;
  /** Its index in the priced sizes: the cheapest that is large enough. */
  sizeIndex = -1;
  price = 0;
  /** It has a pod that cannot move, so its requirements stay. */
  hasUnmovablePods = false;
  isChanged = false;
  /** Nodes with the same pods have the same sum. */
  #hashSum = 0;
  /** How many pods a group counts here, and how many have a rule of it. */
  readonly #countByGroup = new Map<TopologyGroup, number>();
  readonly #boundByGroup = new Map<TopologyGroup, number>();

  constructor(plannedNode: PlannedNodeState, capacityLimit: CapacityLimit) {
    this.plannedNode = plannedNode;
    this.capacityLimit = capacityLimit;
    this.requirementState = plannedNode.requirementState;
    this.used = new Float64Array(plannedNode.used.length);
  }

  /** Equal for bins that moves cannot tell apart; a collision of hashes only hides a possible move. */
  get contentKey(): number {
    return this.#hashSum * 4096 + this.requirementState.id;
  }

  get isEmpty(): boolean {
    return this.pods.size === 0;
  }

  add(moveClass: MoveClass, queuedPods: readonly QueuedPod[]): void {
    const podsHere = this.pods.get(moveClass);
    if (podsHere === undefined) this.pods.set(moveClass, [...queuedPods]);
    else podsHere.push(...queuedPods);
    this.#change(moveClass, queuedPods.length);
  }

  removeLast(moveClass: MoveClass, count: number): readonly QueuedPod[] {
    const podsHere = this.pods.get(moveClass) ?? [];
    const removed = podsHere.splice(podsHere.length - count, count);
    if (podsHere.length === 0) this.pods.delete(moveClass);
    this.#change(moveClass, -removed.length);
    return removed;
  }

  /**
   * Whether host rules allow the pods: those of the pods that come for the pods that are here, and the other way round,
   * in any order. (02)
   */
  allowsOnHost({ hostRules, countingGroups }: MoveClass, count: number): boolean {
    for (const { group, maxCount } of hostRules) {
      const alike = countingGroups.includes(group) ? count - 1 : 0;
      if ((this.#countByGroup.get(group) ?? 0) + alike > maxCount) return false;
    }
    for (const group of countingGroups) {
      if ((this.#boundByGroup.get(group) ?? 0) === 0) continue;
      const { kind, maxSkew } = group.spec;
      if (kind !== "spread" || (this.#countByGroup.get(group) ?? 0) + count > maxSkew) return false;
    }
    return true;
  }

  #change({ request, hostRules, countingGroups, hash }: MoveClass, by: number): void {
    this.#hashSum += by * hash;
    for (let i = 0; i < request.length; i++) (this.used[i] as number) += by * (request[i] as number);
    for (const { group } of hostRules) this.#boundByGroup.set(group, (this.#boundByGroup.get(group) ?? 0) + by);
    for (const group of countingGroups) this.#countByGroup.set(group, (this.#countByGroup.get(group) ?? 0) + by);
  }
}
