import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import { isCompatible } from "../compatibility.ts";
import { Requirements } from "../requirements.ts";
import type { ExistingNode, SchedulingProblem } from "../scheduling/problem.ts";

/** Running nodes that a change of their pool would replace. */
export interface PoolDrift {
  readonly pool: string;
  readonly nodes: number;
}

/**
 * The nodes of each pool that drift when the pools of one problem become those of another; those of `wholly` drift all,
 * since their node class is changed. (03:M-7)
 */
export function poolDriftOf(
  before: SchedulingProblem,
  after: SchedulingProblem,
  wholly: readonly string[] = [],
): readonly PoolDrift[] {
  return before.pools.flatMap(({ nodePool }) => {
    const { name = "" } = nodePool.metadata;
    if (wholly.includes(name)) {
      const all = before.nodes.filter((node) => node.nodePool === name).length;
      return all === 0 ? [] : [{ pool: name, nodes: all }];
    }
    const changed = after.pools.find((one) => one.nodePool.metadata.name === name)?.nodePool;
    if (changed === undefined || changed === nodePool) return [];
    const nodes = before.nodes.filter((node) => node.nodePool === name);
    const isOtherTemplate = nodePoolHash(nodePool.spec.template) !== nodePoolHash(changed.spec.template);
    const asked = Requirements.fromItems(changed.spec.template.spec.requirements, before.labelPolicy);
    const drifts = ({ labels }: ExistingNode): boolean =>
      isOtherTemplate || !isCompatible(Requirements.fromLabels(labels, before.labelPolicy), asked);
    const count = nodes.filter(drifts).length;
    return count === 0 ? [] : [{ pool: name, nodes: count }];
  });
}
