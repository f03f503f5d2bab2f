import { getCondition, isStatusConditionTrue } from "../../../src/api/conditions/set-condition.ts";
import type { CapacityBuffer } from "../../../src/api/kinds/capacity-buffer.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { Node } from "../../../src/api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../../src/api/kubernetes/pod.ts";
import { finalizers, isEphemeralTaint, labels, taints } from "../../../src/api/labels.ts";
import { type KubeObject, namespacedName } from "../../../src/api/object.ts";
import type { CloudProvider } from "../../../src/cloud/cloud-provider.ts";
import { isNodeReady } from "../../../src/controllers/node-claim/claim-lookups.ts";
import type { FeatureGates } from "../../../src/controllers/settings.ts";
import { isWaitingEviction } from "../../../src/core/pod-predicates.ts";
import { type BufferSources, type NamedPodTemplate, resolveBuffers } from "../../../src/core/round/resolve-buffers.ts";
import type { SimulatedCloud } from "../../../src/providers/sim/simulated-cloud.ts";
import { type StoredObjects, storages } from "../stored-objects.ts";
import { leavingObligations } from "./leaving-obligations.ts";

type StoredClaim = KubeObject & NodeClaim;
type StoredNode = KubeObject & Node;
type StoredPod = KubeObject & Pod;

/** Something the controller owes the cluster as it is now. */
export interface Obligation {
  readonly what: string;
  /** How long it may stay owed. */
  readonly withinMs: number;
}

/** A cluster as it is, to judge its progress by. */
export interface JudgedCluster {
  readonly objects: StoredObjects;
  readonly cloud: Pick<SimulatedCloud, "records" | "recordOf" | "interruptionQueue">;
  readonly nodeClasses: CloudProvider["nodeClasses"];
  readonly repairPolicies: CloudProvider["repairPolicies"];
  readonly gates: FeatureGates;
  readonly now: number;
}

/** Watches may be late by three seconds, and a reconcile makes a few calls. */
const soonMs = 10_000;
/** Five seconds of draining at least, the instance's own end, and a poll of five seconds. (03:T-13, T-30) */
const emptyNodeMs = 25_000;

/** A Node that pods are planned on is registered when it is ready, or half a minute after it joined. (02:L-47) */
const notReadyMs = 35_000;

/** Everything that must happen soon. */
export function obligationsOf(cluster: JudgedCluster): readonly Obligation[] {
  const { objects, nodeClasses } = cluster;
  const isManaged = ({ spec: { nodeClassRef: ref } }: StoredClaim): boolean =>
    nodeClasses.some(({ group, kind }) => group === ref.group && kind === ref.kind);
  const claims = objects.all<StoredClaim>(storages.claims).filter(isManaged);
  return [
    ...claims.flatMap((claim) => (isDeleting(claim) ? endsOf(claim, cluster) : stepsOf(claim, cluster))),
    ...objects.all<StoredNode>(storages.nodes).flatMap((node) => claimDeletion(node, claims)),
    ...leavingObligations(claims, cluster),
    ...(cluster.gates.CapacityBuffer ? bufferResolutions(cluster) : []),
  ];
}

/** A Node that joined is registered, and one that is ready is initialized. (03:L-8, L-14) */
function stepsOf(claim: StoredClaim, cluster: JudgedCluster): readonly Obligation[] {
  const [node, ...others] = nodesOf(claim, cluster);
  if (node === undefined || others.length > 0 || isDeleting(node)) return [];
  const names = `Node ${node.metadata.name} of NodeClaim ${claim.metadata.name}`;
  if (!isStatusConditionTrue(claim, "Registered")) {
    const [state, withinMs] = isOpen(node) ? (["is ready", soonMs] as const) : (["joined", notReadyMs] as const);
    return [{ what: `${names} ${state}, but is not registered`, withinMs }];
  }
  if (isStatusConditionTrue(claim, "Initialized") || !mayBeInitialized(node, claim)) return [];
  return [{ what: `${names} is ready, but not initialized`, withinMs: soonMs }];
}

/** Whether pods may go to it as soon as it is registered. */
function isOpen(node: StoredNode): boolean {
  const others = (node.spec?.taints ?? []).filter(({ key }) => key !== taints.unregistered.key);
  return isNodeReady(node) && !others.some(isEphemeralTaint);
}

function mayBeInitialized(node: StoredNode, claim: StoredClaim): boolean {
  const { spec, status } = node;
  const awaited = (claim.spec.startupTaints ?? []).map(({ key }) => key);
  const isFree = (spec?.taints ?? []).every((taint) => !awaited.includes(taint.key) && !isEphemeralTaint(taint));
  const requested = Object.keys(claim.spec.resources?.requests ?? {});
  const hasResources = requested.every((name) => (status?.allocatable?.[name] ?? "0") !== "0");
  return isNodeReady(node) && isFree && hasResources;
}

/** A deleted claim without anything that holds it goes. (03:L-30 to L-34) */
function endsOf(claim: StoredClaim, cluster: JudgedCluster): readonly Obligation[] {
  if (!claim.metadata.finalizers?.includes(finalizers.termination)) return [];
  const nodes = nodesOf(claim, cluster);
  if (nodes.some((node) => isHeld(node, cluster))) return [];
  const record = cluster.cloud.recordOf(claim.metadata.uid ?? "");
  const isLeft = record !== undefined || nodes.length > 0;
  const what = `NodeClaim ${claim.metadata.name} is deleted and its node is ${isLeft ? "empty" : "gone"}, but it stays`;
  return [{ what, withinMs: isLeft ? emptyNodeMs : soonMs }];
}

function isHeld({ metadata }: StoredNode, { objects, now }: JudgedCluster): boolean {
  const isThere = ({ spec }: StoredPod): boolean => spec.nodeName === metadata.name;
  const attachments = objects.all<KubeObject & { readonly spec: { readonly nodeName: string } }>(storages.attachments);
  return (
    objects.all<StoredPod>(storages.pods).some((pod) => isThere(pod) && isWaitingEviction(pod, now)) ||
    attachments.some(({ spec }) => spec.nodeName === metadata.name)
  );
}

/** With a Node its claim is deleted. (03:T-1) */
function claimDeletion(node: StoredNode, claims: readonly StoredClaim[]): readonly Obligation[] {
  const { metadata, spec } = node;
  if (!isDeleting(node) || metadata.labels?.[labels.nodePool] === undefined) return [];
  if (!metadata.finalizers?.includes(finalizers.termination)) return [];
  const claim = claims.find(({ status }) => status?.providerID === spec?.providerID);
  if (claim === undefined || isDeleting(claim)) return [];
  return [
    { what: `Node ${metadata.name} is deleted, but its NodeClaim ${claim.metadata.name} is not`, withinMs: soonMs },
  ];
}

/** A buffer that can resolve does. (02:B-2, B-3) */
function bufferResolutions({ objects }: JudgedCluster): readonly Obligation[] {
  const workloads = [storages.deployments, storages.statefulSets, storages.replicaSets].flatMap((one) =>
    objects.all(one),
  );
  const podTemplates = objects.all<KubeObject & NamedPodTemplate>(storages.podTemplates);
  const sources: BufferSources = { podTemplates, workloads };
  return objects.all<KubeObject & CapacityBuffer>(storages.buffers).flatMap((buffer) => {
    const { pods, faults } = resolveBuffers([buffer], sources);
    const { status } = buffer;
    const isResolved = getCondition(buffer, "ReadyForProvisioning")?.status === "True";
    if (faults.length > 0 || (isResolved && status?.replicas === pods.length)) return [];
    const now = isResolved ? `has ${status?.replicas} replicas` : "is not resolved";
    const what = `CapacityBuffer ${namespacedName(buffer.metadata)} has ${pods.length} pods, but ${now}`;
    return [{ what, withinMs: soonMs }];
  });
}

function nodesOf({ status }: StoredClaim, { objects }: JudgedCluster): readonly StoredNode[] {
  const id = status?.providerID;
  return id ? objects.all<StoredNode>(storages.nodes).filter(({ spec }) => spec?.providerID === id) : [];
}

function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
