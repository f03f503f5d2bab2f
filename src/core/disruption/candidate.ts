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
  const unfit = nodeCause(stateNode, snapshot);
  if (unfit !== undefined) return unfit;
  const { claim, nodePool = "" } = stateNode;
  const pool = snapshot.pools.get(nodePool);
  if (claim === undefined || pool === undefined || pool.instanceTypes.size === 0) {
    return { code: "pool-not-found", pool: nodePool };
  }
  // With a grace period, drift waits for such pods while it drains. (03:D-17, D-18)
  const mayWait = disruptionClass === "eventual" && claim.spec.terminationGracePeriod !== undefined;
  return (mayWait ? undefined : podCause(stateNode.pods, snapshot)) ?? candidateOf(stateNode, claim, pool);
}

function nodeCause(stateNode: StateNode, { inCommand, nominated }: DisruptionSnapshot): CandidacyCause | undefined {
  const { providerId, claim, node } = stateNode;
  if (inCommand.has(providerId)) return { code: "in-command" };
  if (claim === undefined) return { code: "unmanaged" };
  if (node === undefined) return { code: "no-node" };
  if (!stateNode.isInitialized) return { code: "not-initialized" };
  if (stateNode.isBeingDeleted) return { code: "deleting" };
  if (nominated.has(providerId)) return { code: "nominated" };
  if (isNodeProtected(stateNode.isRegistered ? node : claim)) return { code: "node-protected" };
  return stateNode.nodePool === undefined ? { code: "no-pool-label" } : undefined;
}

/** Protected pods come before budgets, whatever their order on the node. (03:D-17, D-18) */
function podCause(pods: readonly Pod[], snapshot: DisruptionSnapshot): CandidacyCause | undefined {
  const { nowMs } = snapshot;
  for (const pod of pods) {
    if (!isPodProtected(pod, nowMs)) continue;
    const protection = podProtection(pod, nowMs);
    const untilMs = protection.kind === "until" ? protection.untilMs : undefined;
    return { code: "pod-protected", pod: namespacedName(pod.metadata), untilMs };
  }
  for (const pod of pods) {
    const blocking = pdbsBlockingEviction(pod, snapshot);
    if (blocking.length === 0) continue;
    return { code: "pdb", pod: namespacedName(pod.metadata), budgets: blocking.map(({ key }) => key) };
  }
  return undefined;
}

function candidateOf(stateNode: StateNode, claim: NodeClaim, pool: DisruptionPool): DisruptionCandidate {
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
