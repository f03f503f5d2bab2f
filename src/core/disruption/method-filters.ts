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
  for (const cause of filterCauses(method, candidate, snapshot)) return cause;
  return undefined;
}

/** Everything that keeps a method from this candidate, in the order of the checks. (03:D-19) */
export function filterCauses(
  method: DisruptionMethodName,
  candidate: DisruptionCandidate,
  snapshot: DisruptionSnapshot,
): Iterable<FilterCause> {
  switch (method) {
    case "emptiness":
      return emptinessCauses(candidate, snapshot);
    case "static-drift":
      return isOfStaticPool(candidate) ? driftCauses(candidate) : [{ code: "dynamic-pool" }];
    case "drift":
      return isOfStaticPool(candidate) ? [{ code: "static-pool" }] : driftCauses(candidate);
    case "multi-node-consolidation":
    case "single-node-consolidation":
      return consolidationCauses(candidate);
  }
}

/** Any policy allows it; what is empty is decided by cost, not by the number of pods. (03:D-29a, D-36) */
function* emptinessCauses(
  candidate: DisruptionCandidate,
  { bufferPodCounts }: DisruptionSnapshot,
): Iterable<FilterCause> {
  if (isOfStaticPool(candidate)) return yield { code: "static-pool" };
  if (isConsolidationDisabled(candidate)) yield { code: "consolidation-disabled", pool: candidate.pool.name };
  // A round put the buffer's capacity here on purpose: deleting it would only launch it again.
  if ((bufferPodCounts.get(candidate.providerId) ?? 0) > 0) yield { code: "buffer-pods" };
  if (!isEmptyCandidate(candidate)) yield { code: "not-empty" };
  yield* consolidatableCauses(candidate);
}

/** Without type, zone and capacity type there is no price to compare with. Empty nodes are left to emptiness. (03:D-35) */
function* consolidationCauses(candidate: DisruptionCandidate): Iterable<FilterCause> {
  const { stateNode, instanceType, pool } = candidate;
  const { labels: own } = stateNode.existing;
  if (isOfStaticPool(candidate)) return yield { code: "static-pool" };
  if (instanceType === undefined) {
    yield { code: "unknown-instance-type", instanceType: own[labels.instanceType] ?? "" };
  }
  for (const label of [labels.capacityType, labels.zone]) {
    if (own[label] === undefined) yield { code: "missing-label", label };
  }
  if (isConsolidationDisabled(candidate)) yield { code: "consolidation-disabled", pool: pool.name };
  if (isEmptyCandidate(candidate)) yield { code: "empty" };
  if (pool.nodePool.spec.disruption.consolidationPolicy === "WhenEmpty") {
    yield { code: "policy-when-empty", pool: pool.name };
  }
  yield* consolidatableCauses(candidate);
}

function isConsolidationDisabled({ pool }: DisruptionCandidate): boolean {
  return consolidateAfterMs(pool.nodePool) === undefined;
}

function* driftCauses(candidate: DisruptionCandidate): Iterable<FilterCause> {
  if (!hasCondition(candidate, "Drifted")) yield { code: "not-drifted" };
}

function* consolidatableCauses(candidate: DisruptionCandidate): Iterable<FilterCause> {
  if (isConsolidationDisabled(candidate) || hasCondition(candidate, "Consolidatable")) return;
  const readiness = consolidationReadiness(candidate.claim, candidate.pool.nodePool);
  const untilMs = readiness.isPossible && Number.isFinite(readiness.fromMs) ? readiness.fromMs : undefined;
  yield { code: "not-consolidatable", untilMs };
}
