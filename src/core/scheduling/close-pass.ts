import { labels } from "../../api/labels.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { reservationIdLabels } from "../instance-type.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import { mergeResources, minResources, type Resources } from "../resources.ts";
import type { Decision, ExistingNodePlacement, PlannedNode } from "./decision.ts";
import { type ClassRefusal, findClassRefusal } from "./find-refusal.ts";
import type { PricedType } from "./instance-type-table.ts";
import { simulationKeys } from "./node-claim-template.ts";
import type { Pass, PlannedNodeState, QueuedPod } from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { Refusal } from "./refusal.ts";
import type { RequirementState } from "./requirement-state.ts";

/** The most instance types a NodeClaim may name. (02:L-2) */
export const maxInstanceTypesPerNodeClaim = 600;

/**
 * Turns the state of the pass into a decision, one planned node or refused pod a step. `receivingNodes` are the existing
 * nodes that may have got pods. (02 §5.13)
 */
export function* closePass(pass: Pass, receivingNodes = pass.existingNodes): Steps<Decision> {
  const { problem, emptyPools, podClasses, candidatesTried, timedOut } = pass;
  const refusals = new Refusals(pass);
  const newNodes: PlannedNode[] = [];
  const known = new Map<RequirementState, FinalOptions>();
  for (const plannedNode of pass.plannedNodes) {
    if (plannedNode.pods.length === 0) continue; // polishing moved all of its pods elsewhere
    const outcome = finishPlannedNode(pass, plannedNode, known);
    if ("achieved" in outcome)
      for (const queuedPod of plannedNode.pods)
        refusals.add(queuedPod, minValuesRefusal(plannedNode, outcome.achieved));
    else newNodes.push(outcome);
    yield;
  }
  for (let at = timedOut ? pass.queue.length : pass.queueHead; at < pass.queue.length; at++) {
    refusals.addLeftOver(pass.queue[at] as QueuedPod);
    yield;
  }
  const placements: ExistingNodePlacement[] = [];
  yield* forEachInSteps(receivingNodes, ({ node, pods }) => {
    if (pods.length > 0) placements.push({ node: node.name, pods: pods.map(({ pod }) => pod) });
  });
  return {
    placements,
    newNodes,
    refusals: refusals.inOrder(),
    emptyPools,
    statistics: { pods: problem.pods.length, classes: podClasses.length, candidatesTried, timedOut },
  };
}

/** Collects refusals. Pods of one class share one reason. */
class Refusals {
  readonly #pass: Pass;
  readonly #byClass = new Map<PodClass, ClassRefusal>();
  /** By position in the problem. */
  readonly #found: (Refusal | undefined)[];
  #count = 0;

  constructor(pass: Pass) {
    this.#pass = pass;
    this.#found = new Array<Refusal | undefined>(pass.problem.pods.length);
  }

  add({ pod, position }: QueuedPod, reason: ClassRefusal): void {
    this.#found[position] = { pod, ...reason };
    this.#count++;
  }

  addLeftOver(queuedPod: QueuedPod): void {
    const { podClass } = queuedPod;
    const reason = this.#byClass.get(podClass) ?? findClassRefusal(this.#pass, queuedPod);
    this.#byClass.set(podClass, reason);
    this.add(queuedPod, reason);
  }

  inOrder(): readonly Refusal[] {
    return this.#count === 0 ? [] : this.#found.filter((one) => one !== undefined);
  }
}

/** Final requirements and priced types, shared by planned nodes of one requirement state. */
interface FinalOptions {
  readonly requirements: Requirements;
  readonly pricedTypes: readonly PricedType[];
}

function computeFinalOptions(plannedNode: PlannedNodeState, reservations: readonly string[]): FinalOptions {
  const requirements = finalRequirements(plannedNode, reservations);
  return {
    requirements,
    pricedTypes: plannedNode.poolTemplate.typeTable.typesByPrice(
      plannedNode.poolTemplate.requirementStates.of(requirements),
    ),
  };
}

function finishPlannedNode(
  pass: Pass,
  plannedNode: PlannedNodeState,
  known: Map<RequirementState, FinalOptions>,
): PlannedNode | { readonly achieved: ReadonlyMap<string, number> } {
  const reservations = [...pass.reservations.reservedBy(plannedNode.hostIndex)].sort();
  const shared = reservations.length === 0 ? known.get(plannedNode.requirementState) : undefined;
  const finalOptions = shared ?? computeFinalOptions(plannedNode, reservations);
  if (reservations.length === 0) known.set(plannedNode.requirementState, finalOptions);
  const { requirements } = finalOptions;
  const pricedTypes = remainingPricedTypes(plannedNode, finalOptions);
  const instanceTypes = pricedTypes.slice(0, maxInstanceTypesPerNodeClaim).map(({ type }) => type);
  const flexible = checkMinValues(instanceTypes, requirements);
  if (flexible.kind === "unsatisfied" && pass.problem.policy.minValues === "Strict") {
    return { achieved: flexible.achieved };
  }
  return {
    pool: plannedNode.poolTemplate.nodeClaimTemplate.pool,
    pods: plannedNode.pods.map(({ pod }) => pod),
    requirements,
    instanceTypes,
    price: pricedTypes[0]?.price ?? Number.POSITIVE_INFINITY,
    requests: mergeResources(
      ...plannedNode.pods.map(({ podClass }) => podClass.requests),
      smallestDaemonOverhead(plannedNode),
    ),
    minValuesRelaxed: plannedNode.minValuesRelaxed,
    reservations,
    ...draDriversOf(pass, plannedNode),
  };
}

function draDriversOf({ devices }: Pass, { hostIndex }: PlannedNodeState): Pick<PlannedNode, "draDrivers"> {
  const draDrivers = devices?.driversOf(hostIndex) ?? [];
  return draDrivers.length === 0 ? {} : { draDrivers };
}

/** Without the keys that only the simulation needs; reservations are named. (02:Q-50, Y-6) */
function finalRequirements(
  { requirementState, poolTemplate }: PlannedNodeState,
  reservations: readonly string[],
): Requirements {
  let { requirements } = requirementState;
  for (const key of simulationKeys) requirements = requirements.without(key);
  if (reservations.length === 0) return requirements;
  const named = reservationIdLabels
    .filter((key) => poolTemplate.typeTable.offeringsHaveLabel(key))
    .map((key) => Requirement.in(key, reservations));
  return requirements.replace(Requirement.in(labels.capacityType, ["reserved"])).add(...named);
}

/** The types that are left, by their cheapest compatible offering, then by name. (02:L-1, 02 §12.1-5) */
function remainingPricedTypes(
  { poolTemplate, columns }: PlannedNodeState,
  { pricedTypes }: FinalOptions,
): readonly PricedType[] {
  return pricedTypes.filter(({ typeIndex }) => poolTemplate.typeTable.hasType(columns, typeIndex));
}

/** The smallest overhead among daemon groups that have a type left. (02:G-3) */
function smallestDaemonOverhead({ poolTemplate, columns }: PlannedNodeState): Resources {
  const groups = poolTemplate.daemonGroups.filter((group) => group.columns.intersects(columns));
  return minResources(...groups.map(({ overhead }) => overhead));
}

/** Types left after truncation do not meet minValues. Upstream's text, typographic apostrophes included. (02:Q-52) */
function minValuesRefusal({ poolTemplate }: PlannedNodeState, achieved: ReadonlyMap<string, number>): ClassRefusal {
  const { pool } = poolTemplate.nodeClaimTemplate;
  const message = `pod didn’t schedule because NodePool couldn’t meet minValues requirements, validating minValues, ${describeMinValues(achieved)} (NodePool=${pool})`;
  const requirements = poolTemplate.initialState.requirements;
  return { code: "min-values", message, pools: [{ pool, cause: { code: "min-values", achieved, requirements } }] };
}
