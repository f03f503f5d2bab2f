import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Node } from "../../api/kubernetes/cluster.ts";
import { labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { CloudProvider } from "../../cloud/provider.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import type { Change, View } from "../../kube/view.ts";

/** A Node as the API server has it. */
export type LiveNode = Node & KubeObject;

const providerId = "provider-id";
const pool = "node-pool";

export function claimsIn(world: LoopWorld): View<NodeClaim> {
  return world.view<NodeClaim>(custom.NodeClaim);
}

export function nodesIn(world: LoopWorld): View<LiveNode> {
  return world.view<LiveNode>(builtIn.Node);
}

/** For `prepare` of a loop that looks up nodes of claims, claims of nodes or claims of pools. */
export function indexMachines(world: LoopWorld): void {
  nodesIn(world).index(providerId, ({ spec }) => spec?.providerID || undefined);
  claimsIn(world).index(providerId, ({ status }) => status?.providerID || undefined);
  claimsIn(world).index(pool, poolNameOf);
}

/** Every Node of the claim's machine; a claim without a machine has none. (03:L-8) */
export function nodesOf(claim: NodeClaim, world: LoopWorld): readonly LiveNode[] {
  const id = claim.status?.providerID;
  return id ? nodesIn(world).by(providerId, id) : [];
}

/** Its Node, where there is exactly one. */
export function nodeOf(claim: NodeClaim, world: LoopWorld): LiveNode | undefined {
  const [node, ...others] = nodesOf(claim, world);
  return others.length === 0 ? node : undefined;
}

/** Every claim of the Node's machine. */
export function claimsOf(node: Node, world: LoopWorld): readonly NodeClaim[] {
  const id = node.spec?.providerID;
  return id ? claimsIn(world).by(providerId, id) : [];
}

/** Its claim, where there is exactly one. */
export function claimOf(node: Node, world: LoopWorld): NodeClaim | undefined {
  const [claim, ...others] = claimsOf(node, world);
  return others.length === 0 ? claim : undefined;
}

export function claimsOfPool(name: string, world: LoopWorld): readonly NodeClaim[] {
  return claimsIn(world).by(pool, name);
}

export function poolNameOf({ metadata }: Pick<NodeClaim, "metadata">): string | undefined {
  return metadata.labels?.[labels.nodePool] || undefined;
}

/** The pool a claim is of, while it exists. */
export function poolOf(claim: NodeClaim, world: LoopWorld): NodePool | undefined {
  const name = poolNameOf(claim);
  return name === undefined ? undefined : world.view<NodePool>(custom.NodePool).get(name);
}

/** Whether the claim asks for a node class of this cloud: others are somebody else's. (03:L-1) */
export function isManaged({ spec }: NodeClaim, { nodeClasses }: Pick<CloudProvider, "nodeClasses">): boolean {
  const { group, kind } = spec.nodeClassRef;
  return nodeClasses.some((served) => served.group === group && served.kind === kind);
}

/** Keys of a trigger: the claims of a Node that came, changed or went. */
export function claimNamesOf({ object, old }: Change<LiveNode>, world: LoopWorld): readonly string[] {
  const node = object ?? old;
  return node === undefined ? [] : claimsOf(node, world).map(({ metadata }) => metadata.name ?? "");
}

export function isReady({ status }: Node): boolean {
  return status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
}
