import type { Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { CsiNode, Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod, ResourceList } from "../../api/kubernetes/pod.ts";
import { ephemeralTaintPrefix, knownEphemeralTaints, labels, resources, type Taint } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import { hostPortsOf } from "../host-ports.ts";
import { isOwnedByDaemonSet, isTerminalPod } from "../pod-predicates.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import { mergeResources, noResources, type Resources, subtractResources } from "../resources.ts";
import type { ExistingNode, NodeLabelsAndTaints, NodeVolumes, VolumeIndex } from "../scheduling/problem.ts";
import { podVolumesByDriver } from "../volumes.ts";

/** A machine: its claim, its Node, or both, and the pods on it. (02 §2.1) */
export interface PairedNode {
  readonly providerId: string;
  readonly claim?: NodeClaim | undefined;
  readonly node?: Node | undefined;
  /** Bound to it and not over. (02:S-6) */
  readonly pods: readonly Pod[];
  /** Where it is known already: sums over pods are what most of the work is. */
  readonly load?: NodeResourceUsage | undefined;
}

/** What a machine has, and what its pods ask for. */
export interface NodeResourceUsage extends NodeSize {
  readonly requests: Resources;
  /** What its daemons ask for, out of it. */
  readonly daemonRequests: Resources;
}

/** What a machine has: all, and what of it is for pods. (02:S-25) */
export interface NodeSize {
  /** With `nodes: 1`. */
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

export interface PairingInput {
  /** Claims of node classes the provider serves. (02:S-1) */
  readonly claims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
}

/** Claims and Nodes paired by provider id, in the order they are met, claims first. (02:S-1 to S-6) */
export function pairNodes({ claims, nodes, pods }: PairingInput): readonly PairedNode[] {
  const podsByNode = boundPods(pods);
  const byId = new Map<string, { claim?: NodeClaim; node?: Node }>();
  for (const claim of claims) {
    const id = claim.status?.providerID ?? "";
    if (id !== "") byId.set(id, { claim }); // one that is not launched yet promises nothing
  }
  for (const node of nodes) {
    const id = trackingIdOf(node);
    if (id !== undefined) byId.set(id, { ...byId.get(id), node });
  }
  return [...byId].map(([providerId, { claim, node }]) => ({
    providerId,
    claim,
    node,
    pods: podsByNode.get(node?.metadata.name ?? "") ?? [],
  }));
}

/** Which machine the Node is; undefined while it cannot be told. (02:S-4, S-5) */
export function trackingIdOf(node: Node): string | undefined {
  const { metadata, spec } = node;
  if (!hasArrivedLabels(node)) return undefined;
  if (spec?.providerID) return spec.providerID;
  return metadata.labels?.[labels.nodePool] === undefined ? (metadata.name ?? "") : undefined;
}

/** A node of a pool whose labels have not arrived is not looked at. (02:S-5) */
function hasArrivedLabels({ metadata: { labels: given = {} } }: Node): boolean {
  return [labels.instanceType, labels.initialized].some((label) => label in given) || !(labels.nodePool in given);
}

function boundPods(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const { nodeName = "" } = pod.spec;
    if (nodeName === "" || isTerminalPod(pod)) continue;
    const known = byNode.get(nodeName);
    if (known === undefined) byNode.set(nodeName, [pod]);
    else known.push(pod);
  }
  return byNode;
}

/** On its way out: nothing is placed on it, and its pods need another place. (02:S-27) */
export function isNodeBeingDeleted({ claim, node }: Pick<PairedNode, "claim" | "node">): boolean {
  if (claim === undefined) return node?.metadata.deletionTimestamp !== undefined;
  return (
    claim.metadata.deletionTimestamp !== undefined || isStatusConditionTrue(claim as Conditioned, "InstanceTerminating")
  );
}

export interface ExistingNodeContext {
  readonly volumes: VolumeIndex;
  readonly csiNodes: ReadonlyMap<string, CsiNode>;
  readonly reader?: QuantityReader;
}

/** 02 §2.3. */
export function existingNodeOf(
  paired: PairedNode,
  { volumes, csiNodes, reader = new QuantityReader() }: ExistingNodeContext,
): ExistingNode {
  const { claim, node, pods, providerId } = paired;
  const labelSource = isRegisteredNode(paired) ? node : claim; // a Node speaks for itself once it is registered (02:S-22)
  const { name = "", labels: given = {} } = labelSource?.metadata ?? {};
  const { requests, daemonRequests, capacity, allocatable } = paired.load ?? nodeLoadOf(paired, reader);
  const pool = given[labels.nodePool];
  return {
    name,
    providerId,
    hostname: given[labels.hostname] || name,
    labels: given,
    taints: schedulingTaints(paired),
    isInitialized: isInitializedNode(paired),
    ...(pool !== undefined && { nodePool: pool }),
    capacity,
    available: subtractResources(allocatable, requests),
    daemonRequests,
    hostPorts: pods.flatMap(hostPortsOf),
    volumes: nodeVolumes(pods, { volumes, csiNode: csiNodes.get(node?.metadata.name ?? "") }),
  };
}

function nodeLoadOf(paired: PairedNode, reader: QuantityReader): NodeResourceUsage {
  const { pods } = paired;
  const requests = pods.map((pod) => podRequests(pod, reader));
  const daemons = requests.filter((_, index) => isOwnedByDaemonSet(pods[index] as Pod));
  return {
    requests: mergeResources(...requests),
    daemonRequests: mergeResources(...daemons),
    ...nodeSizeOf(paired, reader),
  };
}

/** 02:S-25. */
export function nodeSizeOf(
  paired: Pick<PairedNode, "claim" | "node">,
  reader: QuantityReader = new QuantityReader(),
): NodeSize {
  return {
    capacity: { ...amountsFor(paired, "capacity", reader), [resources.nodes]: oneNode },
    allocatable: amountsFor(paired, "allocatable", reader),
  };
}

export function placedNodeOf({ metadata, spec }: Node): NodeLabelsAndTaints {
  return { labels: metadata.labels ?? {}, taints: spec?.taints ?? [] };
}

const oneNode = Quantity.of(1);

/** 02:S-21. */
export function isRegisteredNode(paired: Pick<PairedNode, "claim" | "node">): boolean {
  return paired.claim === undefined || hasTrueLabel(paired, labels.registered);
}

/** 02:S-21. */
export function isInitializedNode(paired: Pick<PairedNode, "claim" | "node">): boolean {
  return paired.claim === undefined || hasTrueLabel(paired, labels.initialized);
}

function hasTrueLabel({ node }: Pick<PairedNode, "node">, label: string): boolean {
  return node?.metadata.labels?.[label] === "true";
}

/** A young node is forgiven what its boot removes. (02:S-24) */
function schedulingTaints(paired: PairedNode): readonly Taint[] {
  const { claim, node } = paired;
  const taints = (isRegisteredNode(paired) ? node : claim)?.spec?.taints ?? [];
  if (claim === undefined || isInitializedNode(paired)) return taints;
  const passing = [...knownEphemeralTaints, ...(claim.spec.startupTaints ?? [])];
  return taints.filter(
    ({ key, effect }) =>
      !key.startsWith(ephemeralTaintPrefix) && !passing.some((one) => one.key === key && one.effect === effect),
  );
}

/** Until a node is initialized, its claim knows better what it will have. (02:S-25) */
function amountsFor(
  paired: Pick<PairedNode, "claim" | "node">,
  list: "capacity" | "allocatable",
  reader: QuantityReader,
): Resources {
  const { claim, node } = paired;
  const reported = amountsOf(node?.status?.[list], reader);
  if (isInitializedNode(paired)) return reported;
  const missing = Object.entries(amountsOf(claim?.status?.[list], reader)).filter(
    ([name]) => !Object.hasOwn(reported, name) || reported[name]?.isZero() === true,
  );
  return { ...reported, ...Object.fromEntries(missing) };
}

function amountsOf(list: ResourceList | undefined, reader: QuantityReader): Resources {
  if (list === undefined) return noResources;
  return Object.fromEntries(Object.entries(list).map(([name, written]) => [name, reader.read(written)]));
}

/** 02:S-55, S-6. */
function nodeVolumes(
  pods: readonly Pod[],
  { volumes, csiNode }: { readonly volumes: VolumeIndex; readonly csiNode: CsiNode | undefined },
): NodeVolumes {
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
