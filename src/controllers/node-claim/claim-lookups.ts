import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import { labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange, View } from "../../kube/view.ts";

/** A Node as the API server has it. */
export type NodeKubeObject = Node & KubeObject;

const providerIdIndex = "provider-id";
const poolIndex = "node-pool";

export function nodeClaimView(context: ControllerContext): View<NodeClaim> {
  return context.view<NodeClaim>(karpenterTypes.NodeClaim);
}

export function nodeView(context: ControllerContext): View<NodeKubeObject> {
  return context.view<NodeKubeObject>(builtInTypes.Node);
}

/** For `start` of a controller that looks up nodes of claims, claims of nodes or claims of pools. */
export function indexClaimsAndNodes(context: ControllerContext): void {
  nodeView(context).addIndex(providerIdIndex, ({ spec }) => spec?.providerID || undefined);
  nodeClaimView(context).addIndex(providerIdIndex, ({ status }) => status?.providerID || undefined);
  nodeClaimView(context).addIndex(poolIndex, poolNameOf);
}

/** Every Node of the claim's instance; a claim without an instance has none. (03:L-8) */
export function allNodesForClaim(claim: NodeClaim, context: ControllerContext): readonly NodeKubeObject[] {
  const id = claim.status?.providerID;
  return id ? nodeView(context).byIndex(providerIdIndex, id) : [];
}

/** Its Node, if there is exactly one. */
export function nodeForClaim(claim: NodeClaim, context: ControllerContext): NodeKubeObject | undefined {
  const [node, ...others] = allNodesForClaim(claim, context);
  return others.length === 0 ? node : undefined;
}

/** Every claim of the Node's instance. */
function allClaimsForNode(node: Node, context: ControllerContext): readonly NodeClaim[] {
  const id = node.spec?.providerID;
  return id ? nodeClaimView(context).byIndex(providerIdIndex, id) : [];
}

/** Its claim, if there is exactly one. */
export function claimForNode(node: Node, context: ControllerContext): NodeClaim | undefined {
  const [claim, ...others] = allClaimsForNode(node, context);
  return others.length === 0 ? claim : undefined;
}

export function claimsOfPool(name: string, context: ControllerContext): readonly NodeClaim[] {
  return nodeClaimView(context).byIndex(poolIndex, name);
}

export function claimNameOf({ metadata }: Pick<NodeClaim, "metadata">): string {
  return metadata.name ?? "";
}

export function poolNameOf({ metadata }: Pick<NodeClaim, "metadata">): string | undefined {
  return metadata.labels?.[labels.nodePool] || undefined;
}

/** The pool of a claim, while it exists. */
export function poolForClaim(claim: NodeClaim, context: ControllerContext): NodePool | undefined {
  const name = poolNameOf(claim);
  return name === undefined ? undefined : context.view<NodePool>(karpenterTypes.NodePool).get(name);
}

/** Whether this cloud provider serves the claim's node class; other claims are left alone. (03:L-1) */
export function isManagedClaim({ spec }: NodeClaim, { nodeClasses }: Pick<CloudProvider, "nodeClasses">): boolean {
  const { group, kind } = spec.nodeClassRef;
  return nodeClasses.some((served) => served.group === group && served.kind === kind);
}

/** Keys for a trigger: the claims of a Node that was created, changed or deleted. */
export function claimNamesForNode(
  { object, old }: ObjectChange<NodeKubeObject>,
  context: ControllerContext,
): readonly string[] {
  const node = object ?? old;
  return node === undefined ? [] : claimNamesOfNode(node, context);
}

export function claimNamesOfNode(node: NodeKubeObject, context: ControllerContext): readonly string[] {
  return allClaimsForNode(node, context).map(claimNameOf);
}

export function isNodeReady({ status }: Node): boolean {
  return status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
}
