import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { isPodProtected } from "../../api/validation/do-not-disrupt.ts";
import { lifetimeRemaining, totalEvictionCost } from "../../core/disruption/costs.ts";
import { isOwnedByDaemonSet } from "../../core/pod-predicates.ts";
import { claimNameOf } from "../node-claim/claim-lookups.ts";

/** A claim that could be deleted. */
export interface DeprovisioningCandidate {
  readonly claim: NodeClaim;
  /** The pods on its node; undefined if it has no instance yet. */
  readonly pods: readonly Pod[] | undefined;
}

/** Lower ranks are deleted first. */
type Rank = readonly [group: number, cost: number];

/** Which claims of a static pool are deleted first: unlaunched ones, empty ones, then the least costly. (02:Z-3, 03:SP-4) */
export function claimsToDeprovision(
  candidates: readonly DeprovisioningCandidate[],
  { count, nowMs }: { readonly count: number; readonly nowMs: number },
): readonly NodeClaim[] {
  return candidates
    .map(({ claim, pods }) => ({ claim, rank: rankOf({ claim, pods }, nowMs) }))
    .sort(
      (a, b) =>
        a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || (claimNameOf(a.claim) < claimNameOf(b.claim) ? -1 : 1),
    )
    .slice(0, count)
    .map(({ claim }) => claim);
}

function rankOf({ claim, pods }: DeprovisioningCandidate, nowMs: number): Rank {
  if (pods === undefined) return [0, 0];
  const hasProtectedPod = pods.some((pod) => isPodProtected(pod, nowMs));
  if (!hasProtectedPod && pods.every(isOwnedByDaemonSet)) return [1, 0];
  return [hasProtectedPod ? 3 : 2, totalEvictionCost(pods) * lifetimeRemaining(claim, nowMs)];
}
