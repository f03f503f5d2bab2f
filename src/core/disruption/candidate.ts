import type { Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { isNodeProtected, isPodProtected, podProtection } from "../../api/validation/do-not-disrupt.ts";
import { forEachInSteps, type Steps, sortInSteps } from "../../util/steps.ts";
import { type InstanceType, offeringPriceAt } from "../instance-type.ts";
import { isReschedulable, pdbsBlockingEviction } from "../pod-predicates.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import { drainCost, nodeDisruptionCost } from "./costs.ts";
import type { DisruptionClass } from "./methods.ts";
import type { DisruptionPool, DisruptionSnapshot } from "./snapshot.ts";
import type { CandidacyCause, NodeVerdict, VerdictCause } from "./verdict.ts";

/** A node that may be disrupted. */
export interface DisruptionCandidate {
  readonly name: string;
  readonly providerId: string;
  readonly stateNode: StateNode;
  readonly claim: NodeClaim;
  readonly pool: DisruptionPool;
  /** Unknown if its pool no longer offers the type. */
  readonly instanceType?: InstanceType | undefined;
  readonly capacityType?: string | undefined;
  /** Pods that need another node when this one goes. */
  readonly reschedulablePods: readonly Pod[];
  /** Dollars an hour; 0 if unknown. (03:D-6) */
  readonly price: number;
  /** The cost of draining it. (03:D-7) */
  readonly disruptionCost: number;
}

export interface DisruptionCandidates {
  /** By name. */
  readonly candidates: readonly DisruptionCandidate[];
  /** Nodes that are no candidates, and why. */
  readonly blocked: readonly NodeVerdict[];
}

/** The nodes that methods of a class may disrupt, before each method chooses among them. (03 §4.2) */
export function* disruptionCandidates(
  snapshot: DisruptionSnapshot,
  disruptionClass: DisruptionClass,
): Steps<DisruptionCandidates> {
  const candidates: DisruptionCandidate[] = [];
  const blocked: NodeVerdict[] = [];
  yield* forEachInSteps(snapshot.cluster.nodes, (stateNode) => {
    const found = candidateOrCause(stateNode, snapshot, disruptionClass);
    if ("code" in found) blocked.push({ node: stateNode.name, nodePool: stateNode.nodePool, ...found });
    else candidates.push(found);
  });
  return {
    candidates: yield* sortInSteps(candidates, byName),
    blocked: yield* sortInSteps(blocked, (a, b) => (a.node < b.node ? -1 : 1)),
  };
}

/** Those of these nodes that methods of a class may disrupt, by name. */
export function candidatesAmong(
  names: ReadonlySet<string>,
  snapshot: DisruptionSnapshot,
  disruptionClass: DisruptionClass,
): readonly DisruptionCandidate[] {
  const named = snapshot.cluster.nodes.filter(({ name }) => names.has(name));
  const found = named.flatMap((stateNode): readonly DisruptionCandidate[] => {
    const candidateOrNone = candidateOrCause(stateNode, snapshot, disruptionClass);
    return "code" in candidateOrNone ? [] : [candidateOrNone];
  });
  return found.sort(byName);
}

function byName(a: DisruptionCandidate, b: DisruptionCandidate): number {
  return a.name < b.name ? -1 : 1;
}

/** The checks in order: the first that fails is the verdict. */
function candidateOrCause(
  stateNode: StateNode,
  snapshot: DisruptionSnapshot,
  disruptionClass: DisruptionClass,
): DisruptionCandidate | CandidacyCause {
  for (const cause of candidacyCauses(stateNode, snapshot, disruptionClass)) return cause;
  const { claim, nodePool = "" } = stateNode;
  const pool = snapshot.pools.get(nodePool);
  // No cause means that both are there.
  if (claim === undefined || pool === undefined) return { code: "pool-not-found", pool: nodePool };
  return disruptionCandidateOf(stateNode, claim, pool);
}

/** Everything that keeps a node from being a candidate of the class, in the order of the checks. (03:D-10 to D-18) */
export function* candidacyCauses(
  stateNode: StateNode,
  snapshot: DisruptionSnapshot,
  disruptionClass: DisruptionClass,
): Iterable<CandidacyCause> {
  yield* nodeCauses(stateNode, snapshot);
  const { claim, node, nodePool } = stateNode;
  if (claim === undefined || node === undefined) return;
  if (nodePool !== undefined && (snapshot.pools.get(nodePool)?.instanceTypes.size ?? 0) === 0) {
    yield { code: "pool-not-found", pool: nodePool };
  }
  // With a grace period, drift waits for such pods while it drains. (03:D-17, D-18)
  const mayWait = disruptionClass === "eventual" && claim.spec.terminationGracePeriod !== undefined;
  if (!mayWait) yield* podCauses(stateNode.pods, snapshot);
}

/** What the node itself is. Nothing more is said of a node that is not ready to be looked at. */
function* nodeCauses(stateNode: StateNode, { inCommand, nominated }: DisruptionSnapshot): Iterable<CandidacyCause> {
  const { providerId, claim, node } = stateNode;
  if (inCommand.has(providerId)) yield { code: "in-command" };
  if (claim === undefined) return yield { code: "unmanaged" };
  if (node === undefined) return yield { code: "no-node" };
  if (!stateNode.isInitialized) yield { code: "not-initialized" };
  if (stateNode.isBeingDeleted) yield { code: "deleting" };
  if (nominated.has(providerId)) yield { code: "nominated" };
  if (isNodeProtected(stateNode.isRegistered ? node : claim)) yield { code: "node-protected" };
  if (stateNode.nodePool === undefined) yield { code: "no-pool-label" };
}

/** Protected pods come before budgets, whatever their order on the node. (03:D-17, D-18) */
function* podCauses(pods: readonly Pod[], snapshot: DisruptionSnapshot): Iterable<CandidacyCause> {
  const { nowMs } = snapshot;
  for (const pod of pods) {
    if (!isPodProtected(pod, nowMs)) continue;
    const protection = podProtection(pod, nowMs);
    const untilMs = protection.kind === "until" ? protection.untilMs : undefined;
    yield { code: "pod-protected", pod: namespacedName(pod.metadata), untilMs };
  }
  for (const pod of pods) {
    const blocking = pdbsBlockingEviction(pod, snapshot);
    if (blocking.length === 0) continue;
    yield { code: "pdb", pod: namespacedName(pod.metadata), budgets: blocking.map(({ key }) => key) };
  }
}

/** The node as methods see it, whatever keeps it from being a candidate. */
export function disruptionCandidateOf(
  stateNode: StateNode,
  claim: NodeClaim,
  pool: DisruptionPool,
): DisruptionCandidate {
  const { name, providerId, existing, pods } = stateNode;
  const {
    [labels.zone]: zone,
    [labels.capacityType]: capacityType,
    [labels.instanceType]: typeName = "",
  } = existing.labels;
  const instanceType = pool.instanceTypes.get(typeName);
  const reschedulablePods = pods.filter(isReschedulable);
  return {
    name,
    providerId,
    stateNode,
    claim,
    pool,
    instanceType,
    capacityType,
    reschedulablePods,
    price: (instanceType && offeringPriceAt(instanceType, { zone, capacityType })) ?? 0,
    disruptionCost: drainCost(reschedulablePods),
  };
}

/** No pod on it costs anything to evict; pods with a very negative deletion cost do not count. (03:D-8) */
export function isEmptyCandidate({ disruptionCost }: DisruptionCandidate): boolean {
  return disruptionCost <= nodeDisruptionCost;
}

export function isOfStaticPool({ pool }: DisruptionCandidate): boolean {
  return pool.nodePool.spec.replicas !== undefined;
}

export function hasCondition({ claim }: DisruptionCandidate, type: "Consolidatable" | "Drifted"): boolean {
  return isStatusConditionTrue(claim as Conditioned, type);
}

/** The most saved for the least disruption first, then by name. (03:D-9) */
export function bySavingsRatio(candidates: readonly DisruptionCandidate[]): readonly DisruptionCandidate[] {
  const ratio = ({ price, disruptionCost }: DisruptionCandidate): number => price / disruptionCost;
  return candidates.toSorted((a, b) => ratio(b) - ratio(a) || byName(a, b));
}

export function verdictOn({ name, pool }: DisruptionCandidate, cause: VerdictCause): NodeVerdict {
  return { ...cause, node: name, nodePool: pool.name };
}
