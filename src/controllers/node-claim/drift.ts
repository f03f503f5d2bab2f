import { get } from "../../api/conditions/engine.ts";
import { hashStamps, isBetweenVersions, isDriftedByHash } from "../../api/hash/drift.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels } from "../../api/labels.ts";
import { isCompatible } from "../../core/compatibility.ts";
import { type InstanceType, reservationIdLabels } from "../../core/instance-type.ts";
import { Requirement, type RequirementItem } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";

/** Why a node is no longer what its pool asks for, as far as the pool and the catalogue tell. (03:M-7) */
export type OwnDriftReason = "NodePoolDrifted" | "RequirementsDrifted" | "InstanceTypeNotFound";

/** What only pool and claim are needed for: the template changed, or the machine does not meet it any more. (03:M-7) */
export function driftFromPool(claim: NodeClaim, pool: NodePool, policy: LabelPolicy): OwnDriftReason | undefined {
  const stamps = { claim: claim.metadata.annotations, owner: pool.metadata.annotations };
  if (isDriftedByHash(hashStamps.nodePool, stamps)) return "NodePoolDrifted";
  // A change of versions forgives nobody, not even for the moment it takes. (01 §6.3)
  const wasDrifted = get(claim, "Drifted")?.reason === "NodePoolDrifted";
  if (wasDrifted && isBetweenVersions(hashStamps.nodePool, stamps)) return "NodePoolDrifted";
  const asked = Requirements.fromItems(pool.spec.template.spec.requirements as readonly RequirementItem[], policy);
  return isCompatible(labelsOf(claim, policy), asked) ? undefined : "RequirementsDrifted";
}

/** Young claims were chosen from the catalogue as it is; and one that was found is not looked for again soon. (03:M-7) */
export const catalogueCheck = { minAgeMs: 60 * 60_000, foundForMs: 30 * 60_000 } as const;

export function isDueForCatalogueCheck({ metadata }: NodeClaim, now: number): boolean {
  return now - Date.parse(metadata.creationTimestamp ?? "") > catalogueCheck.minAgeMs;
}

/** Nobody sells such a machine any more, not even sold out. (03:M-7) */
export function isUnknownToCatalogue(claim: NodeClaim, types: readonly InstanceType[], policy: LabelPolicy): boolean {
  const name = claim.metadata.labels?.[labels.instanceType];
  const type = types.find((one) => one.name === name);
  if (type === undefined) return true;
  const bought = boughtAs(claim, policy);
  return !type.offerings.some(({ requirements }) =>
    isCompatible(bought, requirements, { allowUndefined: policy.wellKnown }),
  );
}

/** A reservation may have run out under the machine, which then goes on as an on-demand one. */
function boughtAs(claim: NodeClaim, policy: LabelPolicy): Requirements {
  const told = labelsOf(claim, policy);
  if (claim.metadata.labels?.[labels.capacityType] !== "reserved") return told;
  return reservationIdLabels
    .reduce((rest, key) => rest.without(key), told)
    .replace(Requirement.in(labels.capacityType, ["reserved", "on-demand"]));
}

function labelsOf({ metadata }: NodeClaim, policy: LabelPolicy): Requirements {
  return Requirements.fromLabels(metadata.labels ?? {}, policy);
}
