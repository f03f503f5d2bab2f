import { labels, taints } from "../../api/labels.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { hasDisruptedTaint } from "../disruption/disrupted-taint.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import type { NodeKubeObject } from "../node-claim/claim-lookups.ts";
import { mergePatchObject } from "../writes.ts";

const { key, effect } = taints.disrupted;

/** Keeps new pods off the node, and load balancers from sending it requests. (03:T-7) */
export async function taintNode(node: NodeKubeObject, { client, log }: KarpenterContext): Promise<NodeKubeObject> {
  const present = node.spec?.taints ?? [];
  const isTainted = hasDisruptedTaint(node);
  const isExcluded = node.metadata.labels?.[labels.excludeFromLoadBalancers] === "karpenter";
  if (isTainted && isExcluded) return node;
  const after = isTainted ? present : [...present.filter((one) => one.key !== key), { key, effect }];
  const body = {
    metadata: { labels: { [labels.excludeFromLoadBalancers]: "karpenter" } },
    spec: { taints: after },
  };
  const tainted = await mergePatchObject<NodeKubeObject>(client, builtInTypes.Node, node, {
    body,
    hasOptimisticLock: true,
  });
  if (!isTainted) log.info("tainted node", { "taint.Key": key, "taint.Value": "", "taint.Effect": effect });
  return tainted;
}
