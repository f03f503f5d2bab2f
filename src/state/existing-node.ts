import type { Conditioned } from "../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../api/conditions/set-condition.ts";
import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { CsiNode, Node } from "../api/kubernetes/cluster-objects.ts";
import type { Pod, ResourceList } from "../api/kubernetes/pod.ts";
import { isEphemeralTaint, isSameTaint, labels, resources, type Taint } from "../api/labels.ts";
import { hostPortsOf } from "../core/host-ports.ts";
import { QuantityReader } from "../core/pod-requests.ts";
import { noResources, type Resources, subtractResources } from "../core/resources.ts";
import type { ExistingNode, NodeLabelsAndTaints } from "../core/scheduling/problem.ts";
import { type NodeVolumes, podVolumesByDriver, type VolumeIndex } from "../core/volumes.ts";
import { Quantity } from "../util/quantity.ts";

/** The claim and the Node of one provider id; at least one of them. (02 §2.1) */
export interface NodePair {
  readonly claim?: NodeClaim | undefined;
  readonly node?: Node | undefined;
}

/** Resources of a node. (02:S-25) */
export interface NodeSize {
  /** With `nodes: 1`. */
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

/** What an existing node is made from. */
export interface ExistingNodeSource extends NodePair, NodeSize {
  readonly providerId: string;
  /** Bound to it and not terminal. (02:S-6) */
  readonly pods: readonly Pod[];
  readonly podRequests: Resources;
  /** Of its DaemonSet pods alone. */
  readonly daemonRequests: Resources;
  readonly volumes: VolumeIndex;
  readonly csiNode: CsiNode | undefined;
}

/** A node as scheduling sees it. (02 §2.3) */
export function existingNodeOf(source: ExistingNodeSource): ExistingNode {
  const { claim, node, pods, providerId, capacity, daemonRequests } = source;
  // A Node's own labels count once it is registered; before that they are incomplete. (02:S-22)
  const { name = "", labels: own = {} } = (isRegisteredNode(source) ? node : claim)?.metadata ?? {};
  const pool = own[labels.nodePool];
  return {
    name,
    ...(node?.metadata.name !== undefined && { nodeName: node.metadata.name }),
    providerId,
    hostname: own[labels.hostname] || name,
    labels: own,
    taints: schedulingTaints(source),
    isInitialized: isInitializedNode(source),
    ...(pool !== undefined && { nodePool: pool }),
    capacity,
    available: subtractResources(source.allocatable, source.podRequests),
    daemonRequests,
    hostPorts: pods.flatMap(hostPortsOf),
    volumes: nodeVolumes(source),
  };
}

/** The provider id a Node is tracked by; undefined until its labels arrive. (02:S-4, S-5) */
export function trackingIdOf(node: Node): string | undefined {
  const { metadata, spec } = node;
  if (!hasArrivedLabels(node)) return undefined;
  if (spec?.providerID) return spec.providerID;
  return metadata.labels?.[labels.nodePool] === undefined ? (metadata.name ?? "") : undefined;
}

/** A node of a pool is ignored until it has the labels that its kubelet or our registration adds. (02:S-5) */
function hasArrivedLabels({ metadata: { labels: own = {} } }: Node): boolean {
  return [labels.instanceType, labels.initialized].some((label) => label in own) || !(labels.nodePool in own);
}

/** No pods are placed on it, and its pods are rescheduled. (02:S-27) */
export function isNodeBeingDeleted({ claim, node }: NodePair): boolean {
  if (claim === undefined) return node?.metadata.deletionTimestamp !== undefined;
  return (
    claim.metadata.deletionTimestamp !== undefined || isStatusConditionTrue(claim as Conditioned, "InstanceTerminating")
  );
}

/** A Node without a claim is not ours to register. (02:S-21) */
export function isRegisteredNode(pair: NodePair): boolean {
  return pair.claim === undefined || hasTrueLabel(pair, labels.registered);
}

/** A Node without a claim counts as initialized. (02:S-21) */
export function isInitializedNode(pair: NodePair): boolean {
  return pair.claim === undefined || hasTrueLabel(pair, labels.initialized);
}

function hasTrueLabel({ node }: NodePair, label: string): boolean {
  return node?.metadata.labels?.[label] === "true";
}

export function placedNodeOf({ metadata, spec }: Node): NodeLabelsAndTaints {
  return { labels: metadata.labels ?? {}, taints: spec?.taints ?? [] };
}

/** Ephemeral and startup taints are ignored until the node is initialized. (02:S-24) */
function schedulingTaints(pair: NodePair): readonly Taint[] {
  const { claim, node } = pair;
  const taints = (isRegisteredNode(pair) ? node : claim)?.spec?.taints ?? [];
  if (claim === undefined || isInitializedNode(pair)) return taints;
  const { startupTaints = [] } = claim.spec;
  return taints.filter((taint) => !isEphemeralTaint(taint) && !startupTaints.some((one) => isSameTaint(one, taint)));
}

const oneNode = Quantity.of(1);

export function nodeSizeOf(pair: NodePair): NodeSize {
  const reader = new QuantityReader();
  return {
    capacity: { ...resourcesOf(pair, "capacity", reader), [resources.nodes]: oneNode },
    allocatable: resourcesOf(pair, "allocatable", reader),
  };
}

/** Until a node is initialized, resources it does not report yet are taken from its claim. (02:S-25) */
function resourcesOf(pair: NodePair, list: "capacity" | "allocatable", reader: QuantityReader): Resources {
  const { claim, node } = pair;
  const reported = parseResources(node?.status?.[list], reader);
  if (isInitializedNode(pair)) return reported;
  const missing = Object.entries(parseResources(claim?.status?.[list], reader)).filter(
    ([name]) => !Object.hasOwn(reported, name) || reported[name]?.isZero() === true,
  );
  return { ...reported, ...Object.fromEntries(missing) };
}

function parseResources(list: ResourceList | undefined, reader: QuantityReader): Resources {
  if (list === undefined) return noResources;
  return Object.fromEntries(Object.entries(list).map(([name, written]) => [name, reader.read(written)]));
}

/** Attached volumes, and how many the node's drivers can attach. (02:S-55, S-6) */
function nodeVolumes({ pods, volumes, csiNode }: ExistingNodeSource): NodeVolumes {
  const attached = new Map<string, Set<string>>();
  for (const pod of pods) {
    for (const [driver, claims] of podVolumesByDriver(pod, volumes)) {
      const known = attached.get(driver) ?? new Set();
      for (const claim of claims) known.add(claim);
      attached.set(driver, known);
    }
  }
  const limits = new Map<string, number>();
  for (const { name, allocatable } of csiNode?.spec?.drivers ?? []) {
    if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
  }
  return { attached, limits };
}
