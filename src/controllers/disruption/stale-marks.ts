import type { KarpenterContext } from "../karpenter-context.ts";
import { hasDisruptedTaint, removeDisruptedTaint } from "./disrupted-taint.ts";
import { clearDisruptionReason, hasDisruptionReason } from "./disruption-reason-condition.ts";
import type { RunningCommands } from "./running-commands.ts";

/**
 * Removes the marks of commands that no longer exist: ours failed to start, or the process was restarted. Nodes without
 * a claim, claims without a Node and nodes that are leaving are left alone. (03:D-3)
 */
export async function removeStaleMarks(commands: RunningCommands, context: KarpenterContext): Promise<void> {
  const { cluster } = context;
  for (const { providerId, claim, node, isBeingDeleted } of cluster.nodes()) {
    if (claim === undefined || node === undefined || isBeingDeleted || commands.has(providerId)) continue;
    if (hasDisruptedTaint(node)) await removeDisruptedTaint(node.metadata.name ?? "", context);
    if (hasDisruptionReason(claim)) await clearDisruptionReason(claim.metadata.name ?? "", context);
  }
}
