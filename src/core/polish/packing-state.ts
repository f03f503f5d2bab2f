import type { Bitset } from "../../util/bitset.ts";
import { mapInSteps, type Steps } from "../../util/steps.ts";
import { reservationIdLabels } from "../instance-type.ts";
import { checkMinValues } from "../min-values.ts";
import { maxInstanceTypesPerNodeClaim } from "../scheduling/close-pass.ts";
import type { Pass, PlannedNodeState, PoolTemplate } from "../scheduling/pass-state.ts";
import type { RequirementState } from "../scheduling/requirement-state.ts";
import { Bin } from "./bin.ts";
import { type MoveClass, MoveClasses, type PodBatch } from "./move-class.ts";
import { MoveScopes } from "./move-scopes.ts";
import { capacityLimitOf, PricedSizesCache } from "./priced-sizes.ts";
import { TopologySignatures } from "./topology-signatures.ts";

/** Its types are those that have the devices of its pods, which no move knows of. */
function hasDevices({ devices }: Pass, { pods }: PlannedNodeState): boolean {
  return devices !== undefined && pods.some(({ podClass }) => podClass.usesDra);
}

/** A planned node as it would be after a move. */
export interface ProposedNode {
  readonly requirementState: RequirementState;
  /** Its index in the priced sizes; -1: no node is needed. */
  readonly sizeIndex: number;
  readonly price: number;
}

/** The planned nodes of a pass prepared for moving pods, with what each would cost. */
export class PackingState {
  readonly bins: Bin[] = [];
  readonly scopes: MoveScopes;
  readonly #pass: Pass;
  readonly #pricedSizes: PricedSizesCache;
  readonly #signatures: TopologySignatures;
  readonly #mergedRequirements = new Map<string, RequirementState | undefined>();
  readonly #row: Float64Array;

  private constructor(pass: Pass) {
    this.#pass = pass;
    this.#pricedSizes = new PricedSizesCache(pass);
    this.#row = pass.space.zeroRow();
    this.#signatures = new TopologySignatures(pass);
    this.scopes = new MoveScopes(pass.plannedNodes.length, pass.space.size);
  }

  static *create(pass: Pass): Steps<PackingState> {
    const packing = new PackingState(pass);
    const moveClasses = new MoveClasses(pass);
    for (const plannedNode of pass.plannedNodes) {
      // Those without pods were planned for nodes that a simulation keeps as gone; they are not part of this plan.
      if (plannedNode.pods.length === 0 || !packing.#canChange(plannedNode) || hasDevices(pass, plannedNode)) continue;
      packing.#add(plannedNode, moveClasses);
      yield;
    }
    return packing;
  }

  /** The node with these pods added; undefined: there is no such node. */
  proposeWith(bin: Bin, { moveClass, count }: PodBatch): ProposedNode | undefined {
    const { poolTemplate } = bin.plannedNode;
    const requirementState = poolTemplate.requirementStates.merge(bin.requirementState, moveClass.variant.incoming);
    if (requirementState === null) return undefined;
    if (
      requirementState !== bin.requirementState &&
      this.#signatures.of(poolTemplate, requirementState) !== bin.signature
    )
      return undefined;
    return this.#propose(bin, requirementState, this.#usedWith(bin, moveClass, count));
  }

  /** Whether a node that has enough resources for a pod accepts it without a change of its requirements. */
  takesAsIs({ plannedNode: { poolTemplate }, requirementState }: Bin, { variant }: MoveClass): boolean {
    return (
      !requirementState.hasMinValues &&
      poolTemplate.requirementStates.merge(requirementState, variant.incoming) === requirementState
    );
  }

  /** An empty node with these pods, which come from another node. */
  proposeAlone(bin: Bin, { moveClass, count }: PodBatch, from: Bin): ProposedNode | undefined {
    const { poolTemplate } = bin.plannedNode;
    const requirementState = this.#mergeRequirements(poolTemplate, [moveClass], from);
    if (requirementState === undefined) return undefined;
    if (moveClass.isTopologyBound && this.#signatures.of(poolTemplate, requirementState) !== from.signature)
      return undefined;
    return this.#propose(bin, requirementState, this.#usedWith(bin, moveClass, count));
  }

  /** The node with these pods removed; without any pods it costs nothing. */
  proposeWithout(bin: Bin, { moveClass, count }: PodBatch): ProposedNode | undefined {
    const isLast = bin.pods.get(moveClass)?.length === count;
    if (isLast && bin.pods.size === 1) return emptyNodeOf(bin.plannedNode.poolTemplate);
    const requirementState = isLast ? this.#requirementsWithout(bin, moveClass) : bin.requirementState;
    return this.#propose(bin, requirementState, this.#usedWith(bin, moveClass, -count));
  }

  /** Moves all pods that another node accepts as it is; undefined: that saves nothing, and nothing is moved. */
  moveAllPods(from: Bin, to: Bin): number | undefined {
    const before = from.price + to.price;
    const moved: PodBatch[] = [];
    for (const [moveClass, { length: count }] of [...from.pods]) {
      if (!this.#canMoveAll(from, to, { moveClass, count })) continue;
      to.add(moveClass, from.removeLast(moveClass, count));
      moved.push({ moveClass, count });
    }
    const remainder = this.#proposeAfterwards(from);
    const proposal = this.#propose(to, to.requirementState, to.used);
    const savings = remainder === undefined || proposal === undefined ? 0 : before - remainder.price - proposal.price;
    if (remainder === undefined || proposal === undefined || savings <= 1e-9) {
      for (const { moveClass, count } of moved.reverse()) from.add(moveClass, to.removeLast(moveClass, count));
      return undefined;
    }
    this.#apply(from, remainder);
    this.#apply(to, proposal);
    for (const bin of [from, to]) {
      bin.isChanged = true;
      this.scopes.update(bin, { hasMoreRoom: true });
    }
    return savings;
  }

  #canMoveAll(from: Bin, to: Bin, { moveClass, count }: PodBatch): boolean {
    if (!moveClass.isMovable || (moveClass.isTopologyBound && from.signature !== to.signature)) return false;
    if (!this.takesAsIs(to, moveClass) || !to.allowsOnHost(moveClass, count) || to.pricedSizes === undefined)
      return false;
    return this.#pricedSizes.cheapestFitting(to.pricedSizes, this.#usedWith(to, moveClass, count)) >= 0;
  }

  #proposeAfterwards(bin: Bin): ProposedNode | undefined {
    const { poolTemplate } = bin.plannedNode;
    if (bin.isEmpty) return emptyNodeOf(poolTemplate);
    const requirementState = bin.hasUnmovablePods
      ? undefined
      : this.#mergeRequirements(poolTemplate, [...bin.pods.keys()], bin);
    const hasSameSignature =
      requirementState !== undefined && this.#signatures.of(poolTemplate, requirementState) === bin.signature;
    return this.#propose(bin, hasSameSignature ? requirementState : bin.requirementState, bin.used);
  }

  /** Moves pods from one node to another; both become what was proposed. */
  move(
    { moveClass, count }: PodBatch,
    { from, remainder, to, proposal }: { from: Bin; remainder: ProposedNode; to: Bin; proposal: ProposedNode },
  ): void {
    const hasMoreRoom =
      to.isEmpty || proposal.sizeIndex !== to.sizeIndex || proposal.requirementState !== to.requirementState;
    if (to.isEmpty) to.signature = this.#signatures.of(to.plannedNode.poolTemplate, proposal.requirementState);
    to.add(moveClass, from.removeLast(moveClass, count));
    from.isChanged = true;
    to.isChanged = true;
    this.#apply(from, remainder);
    this.#apply(to, proposal);
    this.scopes.update(from, { hasMoreRoom: true });
    this.scopes.update(to, { hasMoreRoom });
  }

  /** Writes the result back into the pass. Nodes that lost all their pods stay there, empty. */
  *writeBack(): Steps<void> {
    const changedBins = this.bins.filter(({ isChanged }) => isChanged);
    const changes = yield* mapInSteps(changedBins, (bin) => {
      const { plannedNode, pods, used, requirementState } = bin;
      const columns = this.#columnsOf(bin, requirementState, used);
      const change: Partial<PlannedNodeState> = { pods: [...pods.values()].flat(), used, requirementState, columns };
      return { plannedNode, change };
    });
    // All at once: a half-written plan is invalid.
    for (const { plannedNode, change } of changes) Object.assign(plannedNode, change);
  }

  /** Not with host ports, lowered minValues or reservations: those depend on the order of placement. */
  #canChange({ poolTemplate, hostPorts, minValuesRelaxed }: PlannedNodeState): boolean {
    if (hostPorts.length > 0 || minValuesRelaxed) return false;
    return (
      this.#pass.reservations.isEmpty ||
      !reservationIdLabels.some((label) => poolTemplate.typeTable.offeringsHaveLabel(label))
    );
  }

  #add(plannedNode: PlannedNodeState, moveClasses: MoveClasses): void {
    const bin = new Bin(plannedNode, capacityLimitOf(plannedNode));
    for (const [moveClass, queuedPods] of moveClasses.groupByMoveClass(plannedNode.pods)) {
      bin.add(moveClass, queuedPods);
      if (!moveClass.isMovable) bin.hasUnmovablePods = true;
    }
    bin.signature = this.#signatures.of(plannedNode.poolTemplate, plannedNode.requirementState);
    const proposal = this.#propose(bin, bin.requirementState, bin.used);
    if (proposal === undefined) return;
    this.#apply(bin, proposal);
    bin.index = this.bins.push(bin) - 1;
    this.scopes.update(bin, { hasMoreRoom: true });
  }

  #apply(bin: Bin, { requirementState, sizeIndex, price }: ProposedNode): void {
    bin.requirementState = requirementState;
    bin.sizeIndex = sizeIndex;
    bin.price = price;
    bin.pricedSizes = this.#pricedSizes.of(bin.plannedNode.poolTemplate, requirementState, bin.capacityLimit);
  }

  #usedWith({ used }: Bin, { request }: MoveClass, count: number): Float64Array {
    const row = this.#row;
    for (let i = 0; i < row.length; i++) row[i] = (used[i] as number) + count * (request[i] as number);
    return row;
  }

  #propose(bin: Bin, requirementState: RequirementState, used: Float64Array): ProposedNode | undefined {
    const known = requirementState === bin.requirementState ? bin.pricedSizes : undefined;
    const pricedSizes =
      known ?? this.#pricedSizes.of(bin.plannedNode.poolTemplate, requirementState, bin.capacityLimit);
    const sizeIndex = this.#pricedSizes.cheapestFitting(pricedSizes, used);
    if (sizeIndex < 0) return undefined;
    if (requirementState.hasMinValues && !this.#isFlexible(bin, requirementState, used)) return undefined;
    return { requirementState, sizeIndex, price: pricedSizes.prices[sizeIndex] as number };
  }

  /** Whether the types left after truncation meet minValues. (02:F-2, Q-52) */
  #isFlexible(bin: Bin, requirementState: RequirementState, used: Float64Array): boolean {
    const { typeTable } = bin.plannedNode.poolTemplate;
    const columns = this.#columnsOf(bin, requirementState, used);
    const byPrice = typeTable
      .typesByPrice(requirementState)
      .filter(({ typeIndex }) => typeTable.hasType(columns, typeIndex));
    const types = byPrice.slice(0, maxInstanceTypesPerNodeClaim).map(({ type }) => type);
    return checkMinValues(types, requirementState.requirements).kind === "satisfied";
  }

  /** Every column it can be launched as. (02:F-1) */
  #columnsOf(
    { plannedNode: { poolTemplate }, capacityLimit }: Bin,
    requirementState: RequirementState,
    used: Float64Array,
  ): Bitset {
    const possible = this.#pricedSizes.columns(poolTemplate, requirementState, capacityLimit);
    const found = possible.clone().clear();
    for (const group of poolTemplate.daemonGroups) {
      const asked = used.map((amount, dimension) => amount + (group.overheadRow[dimension] as number));
      found.or(poolTemplate.typeTable.keepFitting(possible.intersection(group.columns), asked));
    }
    return found;
  }

  /** The requirements without those of pods that leave; unchanged where that is uncertain. */
  #requirementsWithout(bin: Bin, leaving: MoveClass): RequirementState {
    if (bin.hasUnmovablePods || isRequiredByOthers(bin, leaving)) return bin.requirementState;
    const { poolTemplate } = bin.plannedNode;
    const rest = [...bin.pods.keys()].filter((moveClass) => moveClass !== leaving);
    const requirementState = this.#mergeRequirements(poolTemplate, rest, bin);
    return requirementState !== undefined && this.#signatures.of(poolTemplate, requirementState) === bin.signature
      ? requirementState
      : bin.requirementState;
  }

  /** The merged requirements of some pods; those bound by topology keep their domains. */
  #mergeRequirements(
    poolTemplate: PoolTemplate,
    moveClasses: readonly MoveClass[],
    from: Bin,
  ): RequirementState | undefined {
    const sets = [...new Set(moveClasses.map(({ variant }) => variant.incoming))].sort((a, b) => a.id - b.id);
    const domainIds = moveClasses.some(({ isTopologyBound }) => isTopologyBound)
      ? this.#signatures.idsOf(from.requirementState)
      : [];
    const key = [poolTemplate.index, ...sets.map(({ id }) => id), "at", ...domainIds].join();
    if (this.#mergedRequirements.has(key)) return this.#mergedRequirements.get(key);
    let requirementState: RequirementState | null = poolTemplate.initialState;
    for (const set of sets)
      requirementState = requirementState && poolTemplate.requirementStates.merge(requirementState, set);
    for (const id of domainIds)
      if (id >= 0) requirementState = requirementState && poolTemplate.requirementStates.narrow(requirementState, id);
    this.#mergedRequirements.set(key, requirementState ?? undefined);
    return requirementState ?? undefined;
  }
}

/** A node that is not needed any more: any pods of the pool may use it again. */
function emptyNodeOf({ initialState }: PoolTemplate): ProposedNode {
  return { requirementState: initialState, sizeIndex: -1, price: 0 };
}

/** Whether other pods on the node have the same requirements, so that they do not change when these leave. */
function isRequiredByOthers(bin: Bin, { variant, isTopologyBound }: MoveClass): boolean {
  for (const other of bin.pods.keys()) {
    if (other.variant === variant) continue;
    if (other.variant.incoming === variant.incoming && (other.isTopologyBound || !isTopologyBound)) return true;
  }
  return false;
}
