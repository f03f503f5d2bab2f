import { labels, taints } from "../../api/labels.ts";
import { builtIn } from "../../kube/resources.ts";
import type { LiveNode } from "../node-claim/lookups.ts";
import { patch } from "../writes.ts";
import type { NodeScene } from "./node-scene.ts";

const { key, effect } = taints.disrupted;

/** Keeps new pods and load balancers away. (03:T-7) */
export async function taint({ node, world, log }: NodeScene): Promise<LiveNode> {
  const present = node.spec?.taints ?? [];
  const isTainted = present.some((one) => one.key === key && one.effect === effect);
  const isExcluded = node.metadata.labels?.[labels.excludeFromLoadBalancers] === "karpenter";
  if (isTainted && isExcluded) return node;
  const after = isTainted ? present : [...present.filter((one) => one.key !== key), { key, effect }];
  const body = {
    metadata: { labels: { [labels.excludeFromLoadBalancers]: "karpenter" } },
    spec: { taints: after },
  };
  const tainted = await patch<LiveNode>(world.client, builtIn.Node, node, { body, isLocked: true });
  if (!isTainted) log.info("tainted node", { "taint.Key": key, "taint.Value": "", "taint.Effect": effect });
  return tainted;
}
