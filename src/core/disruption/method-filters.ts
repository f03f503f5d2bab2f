import { labels } from "../../api/labels.ts";
import { type DisruptionCandidate, hasCondition, isEmptyCandidate, isOfStaticPool } from "./candidate.ts";
import { consolidateAfterMs, consolidationReadiness } from "./consolidation-window.ts";
import type { DisruptionMethodName } from "./methods.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { FilterCause } from "./verdict.ts";

/** Why a method is not for this candidate; undefined if it is. (03:D-19) */
export function filterCause(
  method: DisruptionMethodName,
  candidate: DisruptionCandidate,
  snapshot: DisruptionSnapshot,
): FilterCause | undefined {
  switch (method) {
    case "emptiness":
      return emptinessCause(candidate, snapshot);
    case "static-drift":
      return isOfStaticPool(candidate) ? driftCause(candidate) : { code: "dynamic-pool" };
    case "drift":
      return isOfStaticPool(candidate) ? { code: "static-pool" } : driftCause(candidate);
    case "multi-node-consolidation":
    case "single-node-consolidation":
      return consolidationCause(candidate);
  }
}

/** Any policy allows it; what is empty is decided by cost, not by the number of pods. (03:D-29a, D-36) */
function emptinessCause(
  candidate: DisruptionCandidate,
  { bufferPodCounts }: DisruptionSnapshot,
): FilterCause | undefined {
  if (isOfStaticPool(candidate)) return { code: "static-pool" };
  if (isConsolidationDisabled(candidate)) return { code: "consolidation-disabled", pool: candidate.pool.name };
  // A round put the buffer's capacity here on purpose: deleting it would only launch it again.
  if ((bufferPodCounts.get(candidate.providerId) ?? 0) > 0) return { code: "buffer-pods" };
  if (!isEmptyCandidate(candidate)) return { code: "not-empty" };
  return consolidatableCause(candidate);
}

/** Without type, zone and capacity type there is no price to compare with. Empty nodes are left to emptiness. (03:D-35) */
function consolidationCause(candidate: DisruptionCandidate): FilterCause | undefined {
  const { stateNode, instanceType, pool } = candidate;
  const { labels: own } = stateNode.existing;
  if (isOfStaticPool(candidate)) return { code: "static-pool" };
  if (instanceType === undefined) {
    return { code: "unknown-instance-type", instanceType: own[labels.instanceType] ?? "" };
  }
  for (const label of [labels.capacityType, labels.zone]) {
    if (own[label] === undefined) return { code: "missing-label", label };
  }
  if (isConsolidationDisabled(candidate)) return { code: "consolidation-disabled", pool: pool.name };
  if (isEmptyCandidate(candidate)) return { code: "empty" };
  if (pool.nodePool.spec.disruption.consolidationPolicy === "WhenEmpty") {
    return { code: "policy-when-empty", pool: pool.name };
  }
  return consolidatableCause(candidate);
}

function isConsolidationDisabled({ pool }: DisruptionCandidate): boolean {
  return consolidateAfterMs(pool.nodePool) === undefined;
}

function driftCause(candidate: DisruptionCandidate): FilterCause | undefined {
  return hasCondition(candidate, "Drifted") ? undefined : { code: "not-drifted" };
}

function consolidatableCause(candidate: DisruptionCandidate): FilterCause | undefined {
  if (hasCondition(candidate, "Consolidatable")) return undefined;
  const readiness = consolidationReadiness(candidate.claim, candidate.pool.nodePool);
  const untilMs = readiness.isPossible && Number.isFinite(readiness.fromMs) ? readiness.fromMs : undefined;
  return { code: "not-consolidatable", untilMs };
}
