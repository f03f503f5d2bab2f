import type { DisruptionCandidate } from "../../core/disruption/candidate.ts";
import { isOfStaticPool } from "../../core/disruption/candidate.ts";
import type { DisruptionCommand } from "../../core/disruption/command.ts";
import type { StateNode } from "../../core/round/cluster-snapshot.ts";
import { isNodeBeingDeleted } from "../../state/existing-node.ts";
import { forEachConcurrent } from "../../util/concurrent.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { maxClaimsInFlight } from "../provisioning/create-claims.ts";
import { addDisruptedTaint, removeDisruptedTaint } from "./disrupted-taint.ts";
import { clearDisruptionReason, setDisruptionReason } from "./disruption-reason-condition.ts";

export interface MarkedCandidates {
  readonly marked: readonly DisruptionCandidate[];
  readonly errors: readonly unknown[];
}

/** Taints the nodes and says on their claims why they go; each can fail on its own. (03:D-71) */
export async function markCandidates(
  { candidates, reason }: DisruptionCommand,
  context: KarpenterContext,
): Promise<MarkedCandidates> {
  const marked = new Set<DisruptionCandidate>();
  const mark = async (candidate: DisruptionCandidate): Promise<void> => {
    const claim = claimNameOfCandidate(candidate);
    await addDisruptedTaint(candidate.name, context);
    await setDisruptionReason(claim, reason, context);
    if (isOfStaticPool(candidate)) context.cluster.nodePoolState.markPendingDisruption(candidate.pool.name, claim);
    marked.add(candidate);
  };
  const errors = await forEachConcurrent(candidates, { limit: maxClaimsInFlight, run: mark });
  return { marked: candidates.filter((one) => marked.has(one)), errors };
}

/**
 * Makes nodes usable again; each can fail on its own, returns all failures. Nodes that somebody deletes keep their marks:
 * the taint is also that of termination. (03:D-3, D-79)
 */
export function unmarkNodes(nodes: readonly StateNode[], context: KarpenterContext): Promise<readonly unknown[]> {
  const staying = nodes.filter((one) => !isNodeBeingDeleted(one) && one.node?.metadata.deletionTimestamp === undefined);
  const run = (one: StateNode): Promise<void> => unmarkNode(one, context);
  return forEachConcurrent(staying, { limit: maxClaimsInFlight, run });
}

/** Takes back the taint and the reason; a claim of a static pool counts as active again. */
async function unmarkNode({ name, claim, nodePool = "" }: StateNode, context: KarpenterContext): Promise<void> {
  const { name: claimName = "" } = claim?.metadata ?? {};
  const { nodePoolState } = context.cluster;
  // Before the writes: one that is made though its answer is lost leaves no mark that would bring us back here.
  if (nodePoolState.isPendingDisruption(nodePool, claimName)) nodePoolState.markActive(nodePool, claimName);
  await removeDisruptedTaint(name, context);
  await clearDisruptionReason(claimName, context);
}

export function claimNameOfCandidate({ claim }: DisruptionCandidate): string {
  return claim.metadata.name ?? "";
}
