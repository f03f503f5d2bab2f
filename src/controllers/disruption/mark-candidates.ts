import type { DisruptionCandidate } from "../../core/disruption/candidate.ts";
import { isOfStaticPool } from "../../core/disruption/candidate.ts";
import type { DisruptionCommand } from "../../core/disruption/command.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
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
  const marked: DisruptionCandidate[] = [];
  const errors: unknown[] = [];
  const mark = async (candidate: DisruptionCandidate): Promise<void> => {
    try {
      await addDisruptedTaint(candidate.name, context);
      await setDisruptionReason(claimNameOfCandidate(candidate), reason, context);
      if (isOfStaticPool(candidate))
        context.cluster.nodePoolState.markPendingDisruption(candidate.pool.name, claimNameOfCandidate(candidate));
      marked.push(candidate);
    } catch (error) {
      errors.push(error);
    }
  };
  await Promise.all(candidates.map(mark));
  return { marked: candidates.filter((one) => marked.includes(one)), errors };
}

/** Makes the nodes usable again. (03:D-79) */
export async function unmarkCandidates(
  candidates: readonly DisruptionCandidate[],
  context: KarpenterContext,
): Promise<void> {
  await Promise.all(
    candidates.map(async (candidate) => {
      const claim = claimNameOfCandidate(candidate);
      if (isOfStaticPool(candidate) && context.cluster.nodeByClaimName(claim)?.isBeingDeleted === false)
        context.cluster.nodePoolState.markActive(candidate.pool.name, claim);
      await removeDisruptedTaint(candidate.name, context);
      await clearDisruptionReason(claim, context);
    }),
  );
}

export function claimNameOfCandidate({ claim }: DisruptionCandidate): string {
  return claim.metadata.name ?? "";
}
