import { isCompatible } from "../../src/core/compatibility.ts";
import { type InstanceType, offeringCapacityType, offeringReservationId } from "../../src/core/instance-type.ts";
import type { Requirements } from "../../src/core/requirements.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { type Claim, type Refused, refused } from "./world.ts";

/** Nodes left in each reservation. What a planned node holds is on the node. (02:Y-1) */
export type Ledger = Map<string, number>;

/** 02:Y-1: an id that several offerings name has the least any of them says. */
export function openLedger({ pools }: SchedulingProblem): Ledger {
  const ledger: Ledger = new Map();
  for (const { instanceTypes } of pools) {
    for (const offering of instanceTypes.flatMap(({ offerings }) => offerings)) {
      const id = offeringReservationId(offering);
      if (offeringCapacityType(offering) !== "reserved" || id === undefined) continue;
      ledger.set(id, Math.min(ledger.get(id) ?? Number.POSITIVE_INFINITY, offering.reservationCapacity ?? 0));
    }
  }
  return ledger;
}

export interface ReservationWish {
  readonly claim: Claim;
  readonly types: readonly InstanceType[];
  readonly requirements: Requirements;
}

/** The reservations a planned node would hold, or why it must wait for some. (02:Y-2, Y-3) */
export function reservationsFor(
  { claim, types, requirements }: ReservationWish,
  ledger: Ledger,
  { policy, labelPolicy }: SchedulingProblem,
): { readonly kind: "reservations"; readonly ids: readonly string[] } | Refused {
  if (!policy.reservedCapacity) return { kind: "reservations", ids: [] };
  let compatibleExists = false;
  const ids = new Set<string>();
  for (const offering of types.flatMap(({ offerings }) => offerings)) {
    const id = offeringReservationId(offering);
    if (offeringCapacityType(offering) !== "reserved" || id === undefined || !offering.available) continue;
    if (!isCompatible(requirements, offering.requirements, { allowUndefined: labelPolicy.wellKnown })) continue;
    compatibleExists = true;
    if (claim.held.includes(id) || (ledger.get(id) ?? 0) > 0) ids.add(id);
  }
  if (policy.reservedMode === "Strict" && ids.size === 0) {
    if (compatibleExists) {
      return refused(
        "one or more instance types with compatible reserved offerings are available, but could not be reserved",
        { defers: true },
      );
    }
    if (claim.held.length > 0) {
      return refused("satisfying updated nodeclaim constraints would remove all compatible reserved offering options", {
        defers: true,
      });
    }
  }
  return { kind: "reservations", ids: [...ids].sort() };
}

/** 02:Y-4. */
export function hold(claim: Claim, ids: readonly string[], ledger: Ledger): void {
  for (const id of ids) if (!claim.held.includes(id)) ledger.set(id, (ledger.get(id) ?? 0) - 1);
  for (const id of claim.held) if (!ids.includes(id)) ledger.set(id, (ledger.get(id) ?? 0) + 1);
  claim.held = ids;
}
