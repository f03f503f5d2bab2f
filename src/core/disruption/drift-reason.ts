import { getCondition } from "../../api/conditions/set-condition.ts";
import { areHashVersionsDifferent, hashAnnotationKeys, isDriftedByHash } from "../../api/hash/hash-drift.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels } from "../../api/labels.ts";
import { isCompatible } from "../compatibility.ts";
import { type InstanceType, reservationIdLabels } from "../instance-type.ts";
import { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";

/** Drift that shows in pool and claim alone: the template changed, or the node no longer meets its requirements. (03:M-7) */
export function poolDriftReason(claim: NodeClaim, pool: NodePool, policy: LabelPolicy): string | undefined {
  const stamps = { claim: claim.metadata.annotations, owner: pool.metadata.annotations };
  if (isDriftedByHash(hashAnnotationKeys.nodePool, stamps)) return "NodePoolDrifted";
  // A change of hash versions must not clear a drift that was already found. (01 §6.3)
  const wasDrifted = getCondition(claim, "Drifted")?.reason === "NodePoolDrifted";
  if (wasDrifted && areHashVersionsDifferent(hashAnnotationKeys.nodePool, stamps)) return "NodePoolDrifted";
  const asked = Requirements.fromItems(pool.spec.template.spec.requirements, policy);
  return isCompatible(requirementsOfLabels(claim, policy), asked) ? undefined : "RequirementsDrifted";
}

/** Young claims are not checked; a claim whose type was found is not checked again soon. (03:M-7) */
export const instanceTypeCheck = { minAgeMs: 60 * 60_000, foundForMs: 30 * 60_000 } as const;

export function isDueForInstanceTypeCheck({ metadata }: NodeClaim, now: number): boolean {
  return now - Date.parse(metadata.creationTimestamp ?? "") > instanceTypeCheck.minAgeMs;
}

/** The type, or every offering of it, is gone from the catalogue; an unavailable offering still counts as there. (03:M-7) */
export function isInstanceTypeNotFound(claim: NodeClaim, types: readonly InstanceType[], policy: LabelPolicy): boolean {
  const name = claim.metadata.labels?.[labels.instanceType];
  const type = types.find((one) => one.name === name);
  if (type === undefined) return true;
  const launchedAs = launchedRequirements(claim, policy);
  const options = { allowUndefined: policy.wellKnown };
  return !type.offerings.some(({ requirements }) => isCompatible(launchedAs, requirements, options));
}

/** A reservation may have expired under a running instance, which then continues as on-demand. */
function launchedRequirements(claim: NodeClaim, policy: LabelPolicy): Requirements {
  const labelRequirements = requirementsOfLabels(claim, policy);
  if (claim.metadata.labels?.[labels.capacityType] !== "reserved") return labelRequirements;
  return reservationIdLabels
    .reduce((rest, key) => rest.without(key), labelRequirements)
    .replace(Requirement.in(labels.capacityType, ["reserved", "on-demand"]));
}

function requirementsOfLabels({ metadata }: NodeClaim, policy: LabelPolicy): Requirements {
  return Requirements.fromLabels(metadata.labels ?? {}, policy);
}
