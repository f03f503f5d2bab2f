import { throwIfAny } from "../../util/concurrent.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { hasDisruptedTaint } from "./disrupted-taint.ts";
import { hasDisruptionReason } from "./disruption-reason-condition.ts";
import { unmarkNodes } from "./mark-candidates.ts";
import type { RunningCommands } from "./running-commands.ts";

/**
 * Removes the marks of commands that no longer exist: ours failed to start, or the process was restarted. Nodes without
 * a claim, claims without a Node and nodes that are leaving are left alone. (03:D-3)
 */
export async function removeStaleMarks(commands: RunningCommands, context: KarpenterContext): Promise<void> {
  const stale = context.cluster.nodes().filter(({ providerId, claim, node, isBeingDeleted }) => {
    if (claim === undefined || node === undefined || isBeingDeleted || commands.has(providerId)) return false;
    return hasDisruptedTaint(node) || hasDisruptionReason(claim);
  });
  throwIfAny(await unmarkNodes(stale, context), "removing marks of commands that no longer exist");
}
