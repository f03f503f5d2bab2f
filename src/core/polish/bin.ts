import type { PlannedNodeState, QueuedPod } from "../scheduling/pass-state.ts";
import type { RequirementState } from "../scheduling/requirement-state.ts";
import type { TopologyGroup } from "../scheduling/topology/topology-group.ts";
import type { MoveClass } from "./move-class.ts";
import type { CapacityLimit, PricedSizes } from "./priced-sizes.ts";

/** A planned node while pods are moved about. */
export class Bin {
  /** Its place among those that are worked on. */
  index = 0;
  readonly plannedNode: PlannedNodeState;
  readonly capacityLimit: CapacityLimit;
  readonly pods = new Map<MoveClass, QueuedPod[]>();
  readonly used: Float64Array;
  requirementState: RequirementState;
  signature = -1;
  pricedSizes: PricedSizes | undefined;
  /** Where on the menu it is: the cheapest that has room. */
  sizeIndex = -1;
  price = 0;
  /** Some pod must stay: then its requirements stay as well. */
  hasUnmovablePods = false;
  /** Something about it has changed. */
  isChanged = false;
  /** Nodes with the same pods have the same sum of marks. */
  #hashSum = 0;
  /** How many pods a group counts here, and how many are bound by it. */
  readonly #countByGroup = new Map<TopologyGroup, number>();
  readonly #boundByGroup = new Map<TopologyGroup, number>();

  constructor(plannedNode: PlannedNodeState, capacityLimit: CapacityLimit) {
    this.plannedNode = plannedNode;
    this.capacityLimit = capacityLimit;
    this.requirementState = plannedNode.requirementState;
    this.used = new Float64Array(plannedNode.used.length);
  }

  /** Alike in all that matters for moving. */
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

  /** Takes the last few pods away. */
  removeLast(moveClass: MoveClass, count: number): readonly QueuedPod[] {
    const podsHere = this.pods.get(moveClass) ?? [];
    const removed = podsHere.splice(podsHere.length - count, count);
    if (podsHere.length === 0) this.pods.delete(moveClass);
    this.#change(moveClass, -removed.length);
    return removed;
  }

  /**
   * Whether hosts are no reason against it. The pods that come are content with those that are here, and those that are
   * here with those that come, in whichever order they arrive. (02)
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

  #change({ request, hostRules, countingGroups: counted, hash }: MoveClass, by: number): void {
    this.#hashSum += by * hash;
    for (let i = 0; i < request.length; i++) (this.used[i] as number) += by * (request[i] as number);
    for (const { group } of hostRules) this.#boundByGroup.set(group, (this.#boundByGroup.get(group) ?? 0) + by);
    for (const group of counted) this.#countByGroup.set(group, (this.#countByGroup.get(group) ?? 0) + by);
  }
}
