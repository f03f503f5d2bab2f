import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { labels } from "../../api/labels.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { karpenterController } from "../karpenter-context.ts";
import { nodeClaimView } from "../node-claim/claim-lookups.ts";
import { nodePoolView } from "../node-pool/managed-pools.ts";
import { metricLabel } from "./condition-metrics.ts";

/** Whoever else hears of a deletion has recorded by then how long it took, and somebody has read it. */
const settleMs = 2 * 60_000;
const poolLabels = ["nodepool", metricLabel(labels.nodePool)];

/** Forgets the metrics of a pool when it and its claims are gone: otherwise every pool there ever was has its series. (03 §6.1) */
export function gonePoolMetricsController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "metrics.gonepool",
    triggers: [
      triggerOn<NodePool>(
        karpenterTypes.NodePool,
        ({ object, old }) => (object === undefined ? [old.metadata.name ?? ""] : []),
        { settleMs },
      ),
      triggerOn<NodeClaim>(
        karpenterTypes.NodeClaim,
        ({ object, old }) => (object === undefined ? [old.metadata.labels?.[labels.nodePool] ?? ""] : []),
        { settleMs },
      ),
    ],
    reconcile: async (name, context) => {
      if (name === "" || nodePoolView(context).get(name) !== undefined) return undefined;
      const claims = nodeClaimView(context).all();
      if (claims.some(({ metadata }) => metadata.labels?.[labels.nodePool] === name)) return undefined;
      for (const label of poolLabels) context.metrics.forgetLabel(label, name);
      return undefined;
    },
  });
}
