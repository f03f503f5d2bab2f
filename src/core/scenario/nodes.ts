import type { Conditioned } from "../../api/conditions/condition.ts";
import { isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { CsiNode, Node } from "../../api/kubernetes/cluster.ts";
import type { Pod, ResourceList } from "../../api/kubernetes/pod.ts";
import { ephemeralTaintPrefix, knownEphemeralTaints, labels, resources, type Taint } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import { hostPortsOf } from "../host-ports.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import { isOwnedByDaemonSet, isTerminal } from "../provisionable.ts";
import { merge, noResources, type Resources, subtract } from "../resources.ts";
import type { ExistingNode, NodeVolumes, PlacedNode, VolumeIndex } from "../scheduling/problem.ts";
import { podVolumes } from "../volumes.ts";

/** A machine: its claim, its Node, or both, and the pods on it. (02 §2.1) */
export interface Machine {
  readonly providerId: string;
  readonly claim?: NodeClaim | undefined;
  readonly node?: Node | undefined;
  /** Bound to it and not over. (02:S-6) */
  readonly pods: readonly Pod[];
  /** Where it is known already: sums over pods are what most of the work is. */
  readonly load?: Load | undefined;
}

/** What a machine has, and what its pods ask for. */
export interface Load extends Size {
  readonly requests: Resources;
  /** What its daemons ask for, out of it. */
  readonly daemonRequests: Resources;
}

/** What a machine has: all, and what of it is for pods. (02:S-25) */
export interface Size {
  /** With `nodes: 1`. */
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

export interface Machinery {
  /** Claims of node classes the provider serves. (02:S-1) */
  readonly claims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
}

/** Claims and Nodes paired by provider id, in the order they are met, claims first. (02:S-1 to S-6) */
export function machinesOf({ claims, nodes, pods }: Machinery): readonly Machine[] {
  const podsByNode = boundPods(pods);
  const byId = new Map<string, { claim?: NodeClaim; node?: Node }>();
  for (const claim of claims) {
    const id = claim.status?.providerID ?? "";
    if (id !== "") byId.set(id, { claim }); // one that is not launched yet promises nothing
  }
  for (const node of nodes) {
    const id = machineIdOf(node);
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
export function machineIdOf(node: Node): string | undefined {
  const { metadata, spec } = node;
  if (!isTold(node)) return undefined;
  if (spec?.providerID) return spec.providerID;
  return metadata.labels?.[labels.nodePool] === undefined ? (metadata.name ?? "") : undefined;
}

/** A node of a pool whose labels have not arrived is not looked at. (02:S-5) */
function isTold({ metadata: { labels: told = {} } }: Node): boolean {
  return [labels.instanceType, labels.initialized].some((label) => label in told) || !(labels.nodePool in told);
}

function boundPods(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const { nodeName = "" } = pod.spec;
    if (nodeName === "" || isTerminal(pod)) continue;
    const known = byNode.get(nodeName);
    if (known === undefined) byNode.set(nodeName, [pod]);
    else known.push(pod);
  }
  return byNode;
}

/** On its way out: nothing is placed on it, and its pods need another place. (02:S-27) */
export function isLeaving({ claim, node }: Pick<Machine, "claim" | "node">): boolean {
  if (claim === undefined) return node?.metadata.deletionTimestamp !== undefined;
  return claim.metadata.deletionTimestamp !== undefined || isTrue(claim as Conditioned, "InstanceTerminating");
}

export interface NodeWorld {
  readonly volumes: VolumeIndex;
  readonly csiNodes: ReadonlyMap<string, CsiNode>;
  readonly reader?: QuantityReader;
}

/** 02 §2.3. */
export function existingNode(
  machine: Machine,
  { volumes, csiNodes, reader = new QuantityReader() }: NodeWorld,
): ExistingNode {
  const { claim, node, pods, providerId } = machine;
  const speaker = isRegistered(machine) ? node : claim; // a Node speaks for itself once it is registered (02:S-22)
  const { name = "", labels: told = {} } = speaker?.metadata ?? {};
  const { requests, daemonRequests, capacity, allocatable } = machine.load ?? loadOf(machine, reader);
  const pool = told[labels.nodePool];
  return {
    name,
    providerId,
    hostname: told[labels.hostname] || name,
    labels: told,
    taints: taintsOf(machine),
    isInitialized: isInitialized(machine),
    ...(pool !== undefined && { nodePool: pool }),
    capacity,
    available: subtract(allocatable, requests),
    daemonRequests,
    hostPorts: pods.flatMap(hostPortsOf),
    volumes: nodeVolumes(pods, { volumes, csiNode: csiNodes.get(node?.metadata.name ?? "") }),
  };
}

function loadOf(machine: Machine, reader: QuantityReader): Load {
  const { pods } = machine;
  const requests = pods.map((pod) => podRequests(pod, reader));
  const daemons = requests.filter((_, index) => isOwnedByDaemonSet(pods[index] as Pod));
  return {
    requests: merge(...requests),
    daemonRequests: merge(...daemons),
    ...sizeOf(machine, reader),
  };
}

/** 02:S-25. */
export function sizeOf(machine: Pick<Machine, "claim" | "node">, reader: QuantityReader = new QuantityReader()): Size {
  return {
    capacity: { ...amountsFor(machine, "capacity", reader), [resources.nodes]: oneNode },
    allocatable: amountsFor(machine, "allocatable", reader),
  };
}

export function placedNode({ metadata, spec }: Node): PlacedNode {
  return { labels: metadata.labels ?? {}, taints: spec?.taints ?? [] };
}

const oneNode = Quantity.of(1);

/** 02:S-21. */
export function isRegistered(machine: Pick<Machine, "claim" | "node">): boolean {
  return machine.claim === undefined || hasMark(machine, labels.registered);
}

/** 02:S-21. */
export function isInitialized(machine: Pick<Machine, "claim" | "node">): boolean {
  return machine.claim === undefined || hasMark(machine, labels.initialized);
}

function hasMark({ node }: Pick<Machine, "node">, label: string): boolean {
  return node?.metadata.labels?.[label] === "true";
}

/** A young node is forgiven what its boot removes. (02:S-24) */
function taintsOf(machine: Machine): readonly Taint[] {
  const { claim, node } = machine;
  const taints = (isRegistered(machine) ? node : claim)?.spec?.taints ?? [];
  if (claim === undefined || isInitialized(machine)) return taints;
  const passing = [...knownEphemeralTaints, ...(claim.spec.startupTaints ?? [])];
  return taints.filter(
    ({ key, effect }) =>
      !key.startsWith(ephemeralTaintPrefix) && !passing.some((one) => one.key === key && one.effect === effect),
  );
}

/** Until a node is initialized, its claim knows better what it will have. (02:S-25) */
function amountsFor(
  machine: Pick<Machine, "claim" | "node">,
  list: "capacity" | "allocatable",
  reader: QuantityReader,
): Resources {
  const { claim, node } = machine;
  const reported = amountsOf(node?.status?.[list], reader);
  if (isInitialized(machine)) return reported;
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
    for (const [driver, claims] of podVolumes(pod, volumes)) {
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
