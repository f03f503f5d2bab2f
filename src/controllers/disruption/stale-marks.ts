import type { KarpenterContext } from "../karpenter-context.ts";
import { hasDisruptedTaint } from "./disrupted-taint.ts";
import { hasDisruptionReason } from "./disruption-reason-condition.ts";
import { unmarkNode } from "./mark-candidates.ts";
import type { RunningCommands } from "./running-commands.ts";

/**
 * Removes the marks of commands that no longer exist: ours failed to start, or the process was restarted. Nodes without
 * a claim, claims without a Node and nodes that are leaving are left alone. (03:D-3)
 */
export async function removeStaleMarks(commands: RunningCommands, context: KarpenterContext): Promise<void> {
  for (const stateNode of context.cluster.nodes()) {
    const { providerId, claim, node, isBeingDeleted } = stateNode;
    if (claim === undefined || node === undefined || isBeingDeleted || commands.has(providerId)) continue;
    if (hasDisruptedTaint(node) || hasDisruptionReason(claim)) await unmarkNode(stateNode, context);
  }
}
