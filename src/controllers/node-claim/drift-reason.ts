import { getCondition } from "../../api/conditions/set-condition.ts";
import { areHashVersionsDifferent, hashAnnotationKeys, isDriftedByHash } from "../../api/hash/hash-drift.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels } from "../../api/labels.ts";
import { isCompatible } from "../../core/compatibility.ts";
import { type InstanceType, reservationIdLabels } from "../../core/instance-type.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";

/** Why a node is no longer what its pool asks for, as far as the pool and the catalogue tell. (03:M-7) */
export type KarpenterDriftReason = "NodePoolDrifted" | "RequirementsDrifted" | "InstanceTypeNotFound";

/** What only pool and claim are needed for: the template changed, or the machine does not meet it any more. (03:M-7) */
export function poolDriftReason(
  claim: NodeClaim,
  pool: NodePool,
  policy: LabelPolicy,
): KarpenterDriftReason | undefined {
  const stamps = { claim: claim.metadata.annotations, owner: pool.metadata.annotations };
  if (isDriftedByHash(hashAnnotationKeys.nodePool, stamps)) return "NodePoolDrifted";
  // A change of versions forgives nobody, not even for the moment it takes. (01 §6.3)
  const wasDrifted = getCondition(claim, "Drifted")?.reason === "NodePoolDrifted";
  if (wasDrifted && areHashVersionsDifferent(hashAnnotationKeys.nodePool, stamps)) return "NodePoolDrifted";
  const asked = Requirements.fromItems(pool.spec.template.spec.requirements, policy);
  return isCompatible(requirementsOfLabels(claim, policy), asked) ? undefined : "RequirementsDrifted";
}

/** Young claims were chosen from the catalogue as it is; and one that was found is not looked for again soon. (03:M-7) */
export const instanceTypeCheck = { minAgeMs: 60 * 60_000, foundForMs: 30 * 60_000 } as const;

export function isDueForInstanceTypeCheck({ metadata }: NodeClaim, now: number): boolean {
  return now - Date.parse(metadata.creationTimestamp ?? "") > instanceTypeCheck.minAgeMs;
}

/** Nobody sells such a machine any more, not even sold out. (03:M-7) */
export function isInstanceTypeNotFound(claim: NodeClaim, types: readonly InstanceType[], policy: LabelPolicy): boolean {
  const name = claim.metadata.labels?.[labels.instanceType];
  const type = types.find((one) => one.name === name);
  if (type === undefined) return true;
  const launchedAs = launchedRequirements(claim, policy);
  return !type.offerings.some(({ requirements }) =>
    isCompatible(launchedAs, requirements, { allowUndefined: policy.wellKnown }),
  );
}

/** A reservation may have run out under the machine, which then goes on as an on-demand one. */
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
