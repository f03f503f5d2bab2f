import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels, type Taint } from "../../api/labels.ts";
import { nodeClassLabelKey } from "../../api/node-class-ref.ts";
import { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";

/** What every NodeClaim of a pool says before any pod is added. (02:T-2) */
export interface NodeClaimTemplate {
  readonly pool: string;
  readonly nodePool: NodePool;
  readonly labels: Readonly<Record<string, string>>;
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
}

/** Keys that exist only during the pass, for daemons that select on them; not in the NodeClaim. (02:T-2) */
export const simulationKeys: readonly string[] = [labels.registered, labels.initialized];

export function nodeClaimTemplateOf(nodePool: NodePool, policy: LabelPolicy): NodeClaimTemplate {
  const { template } = nodePool.spec;
  const pool = nodePool.metadata.name ?? "";
  const templateLabels = {
    ...template.metadata?.labels,
    [labels.nodePool]: pool,
    [nodeClassLabelKey(template.spec.nodeClassRef)]: template.spec.nodeClassRef.name,
  };
  const requirements = Requirements.fromItems(template.spec.requirements, policy)
    .add(...Requirements.fromLabels(templateLabels, policy))
    .add(...simulationKeys.map((key) => Requirement.in(key, ["true"])));
  return { pool, nodePool, labels: templateLabels, requirements, taints: template.spec.taints ?? [] };
}
