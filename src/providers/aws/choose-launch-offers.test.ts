import { describe, expect, it } from "vitest";
import { type InstanceTypeBuilder, instanceType } from "../../../test/builders/instance-type.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { annotations, awsLabels, labels } from "../../api/labels.ts";
import {
  claimLaunchRequestOf,
  type LaunchableOffering,
  launchableOfferings,
} from "../../cloud/launchable-offerings.ts";
import { type InstanceType, offeringCapacityType, offeringReservationId } from "../../core/instance-type.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { chooseLaunchOffers } from "./choose-launch-offers.ts";

const policy = labelPolicy("all");

interface ClaimSpec {
  readonly requirements?: readonly object[];
  readonly annotations?: Readonly<Record<string, string>>;
}

function launchOffers(types: readonly InstanceType[], given: ClaimSpec = {}): readonly LaunchableOffering[] {
  const claim = {
    metadata: { annotations: given.annotations },
    spec: { requirements: given.requirements ?? [] },
  } as unknown as NodeClaim;
  const launchRequest = claimLaunchRequestOf(claim, policy);
  return chooseLaunchOffers(launchableOfferings(launchRequest, types), { claim, launchRequest });
}

function chosen(types: readonly InstanceTypeBuilder[], given: ClaimSpec = {}): readonly string[] {
  const kept = launchOffers(
    types.map((type) => type.build()),
    given,
  );
  return [...new Set(kept.map(({ type, offering }) => `${type.name} ${offeringCapacityType(offering)}`))].sort();
}

interface Reservation {
  readonly kind?: "default" | "capacity-block" | "interruptible";
  readonly zone?: string;
  readonly price?: number;
  readonly capacity?: number;
}

/** A type that can be had on demand and from reservations, by id. */
function reserving(name: string, reservations: Readonly<Record<string, Reservation>>): InstanceType {
  const plain = instanceType(name).build();
  const offerings = Object.entries(reservations).map(
    ([id, { kind = "default", zone = "a", price = 1e-7, capacity = 1 }]) => ({
      requirements: Requirements.of(
        Requirement.in(labels.capacityType, ["reserved"]),
        Requirement.in(labels.zone, [zone]),
        Requirement.in(awsLabels.capacityReservationId, [id]),
        Requirement.in(awsLabels.capacityReservationType, [kind === "capacity-block" ? kind : "default"]),
        Requirement.in(awsLabels.capacityReservationInterruptible, [String(kind === "interruptible")]),
      ),
      price,
      available: capacity > 0,
      reservationCapacity: capacity,
    }),
  );
  const capacityType = Requirement.in(labels.capacityType, ["reserved", "spot", "on-demand"]);
  const others = [...plain.requirements].filter(({ key }) => key !== labels.capacityType);
  return {
    ...plain,
    requirements: Requirements.of(...others, capacityType),
    offerings: [...plain.offerings, ...offerings],
  };
}

/** The reservations a launch would use, by type. */
function reserved(types: readonly InstanceType[], given: ClaimSpec = {}): readonly string[] {
  return launchOffers(types, given).map(
    ({ type, offering }) => `${type.name} ${offeringReservationId(offering) ?? offeringCapacityType(offering)}`,
  );
}

describe("launchChoice", () => {
  it("02:L-33 one capacity type: reserved before spot before on demand", () => {
    const plain = instanceType("m.large");
    const reserved = instanceType("m.large").reserved("cr-1", { zone: "a", capacity: 2 });
    expect(chosen([reserved])).toEqual(["m.large reserved"]);
    expect(chosen([plain])).toEqual(["m.large spot"]);
    expect(chosen([plain.onlyOnDemand()])).toEqual(["m.large on-demand"]);
    const onDemand = [{ key: labels.capacityType, operator: "In", values: ["on-demand"] }];
    expect(chosen([reserved], { requirements: onDemand })).toEqual(["m.large on-demand"]);
  });

  it("02:L-33 nothing exotic, unless nothing else is left", () => {
    const gpu = instanceType("g.large").resource("nvidia.com/gpu", "1");
    const metal = instanceType("m.metal");
    expect(chosen([gpu, metal, instanceType("m.large")])).toEqual(["m.large spot"]);
    expect(chosen([gpu, metal])).toEqual(["g.large spot", "m.metal spot"]);
  });

  it("02:L-33 spot dearer than the cheapest on demand is dropped", () => {
    const dear = instanceType("m.large").price(10);
    const cheap = instanceType("m.small").price(1).onlyOnDemand();
    expect(chosen([dear, cheap])).toEqual(["m.large on-demand", "m.small on-demand"]);
    expect(chosen([dear])).toEqual(["m.large spot"]);
  });

  it("02:L-33 the 60 cheapest types are requested", () => {
    const many = Array.from({ length: 70 }, (_, index) =>
      instanceType(`m.${index}`)
        .onlyOnDemand()
        .price(100 - index),
    );
    const kept = chosen(many);
    expect(kept).toHaveLength(60);
    expect(kept).not.toContain("m.9 on-demand");
    expect(kept).toContain("m.10 on-demand");
  });

  it("04 §3.2 minValues keep the exotic, and refuse where even so they are not reached, unless they were relaxed", () => {
    const flexible = (minValues: number) => ({
      requirements: [{ key: labels.instanceType, operator: "Exists", minValues }],
    });
    const types = [instanceType("m.metal"), instanceType("m.large")];
    expect(chosen(types, flexible(2))).toEqual(["m.large spot", "m.metal spot"]);
    expect(chosen(types, flexible(3))).toEqual([]);
    const relaxed = { [annotations.minValuesRelaxed]: "true" };
    expect(chosen(types, { ...flexible(3), annotations: relaxed })).toEqual(["m.large spot", "m.metal spot"]);
  });
});

describe("reservations that compete", () => {
  const cheap = 1e-7;
  const dear = 2e-7;

  it("04 §3.2-2 of two kinds that with the cheapest offering is launched, and types without one are dropped", () => {
    const both = reserving("m.large", { "cr-1": { price: dear }, "cr-2": { kind: "interruptible", price: cheap } });
    const onlyDefault = reserving("m.xlarge", { "cr-3": { price: dear } });
    expect(reserved([both, onlyDefault, instanceType("m.small").build()])).toEqual(["m.large cr-2"]);
    const cheaper = reserving("m.xlarge", { "cr-3": { price: cheap / 2 } });
    expect(reserved([both, cheaper])).toEqual(["m.large cr-1", "m.xlarge cr-3"]);
  });

  it.each([
    [["interruptible", "capacity-block", "default"], "default"],
    [["interruptible", "capacity-block"], "capacity-block"],
    [["interruptible", "default"], "default"],
    [["capacity-block", "default"], "default"],
  ] as const)("04 §3.2-2 of %j at one price %s is launched", (kinds, winner) => {
    const types = kinds.map((kind, index) => reserving(`m.${index}`, { [kind]: { kind } }));
    const expected = [`m.${(kinds as readonly string[]).indexOf(winner)} ${winner}`];
    expect(reserved(types)).toEqual(expected);
    expect(reserved([...types].reverse())).toEqual(expected);
  });

  it("04 §3.2-3 of capacity blocks one is launched, the cheapest, and of equal ones a single one", () => {
    const block = (price: number) => ({ kind: "capacity-block" as const, price });
    const types = [
      reserving("m.large", { "cr-1": block(dear), "cr-2": { ...block(cheap), zone: "b" } }),
      reserving("m.xlarge", { "cr-3": block(dear) }),
    ];
    expect(reserved(types)).toEqual(["m.large cr-2"]);
    const equal = [
      reserving("m.large", { "cr-1": block(cheap), "cr-2": { ...block(cheap), zone: "b" } }),
      reserving("m.xlarge", { "cr-3": block(cheap) }),
    ];
    expect(reserved(equal)).toEqual(["m.large cr-1"]);
  });

  it("04 §3.2-4 for each type and zone the reservation with the most left, of equal ones the first by id", () => {
    const types = [
      reserving("m.large", { "cr-3": { capacity: 2 }, "cr-1": { capacity: 3 }, "cr-2": { capacity: 2, zone: "b" } }),
      reserving("m.xlarge", { "cr-5": { capacity: 1 }, "cr-4": { capacity: 1 } }),
    ];
    expect(reserved(types)).toEqual(["m.large cr-1", "m.large cr-2", "m.xlarge cr-4"]);
  });

  it("04 §3.2 without reserved allowed, or any left, nothing changes", () => {
    const type = reserving("m.large", { "cr-1": {} });
    const onDemand = { requirements: [{ key: labels.capacityType, operator: "In", values: ["on-demand"] }] };
    expect(new Set(reserved([type, instanceType("m.small").build()], onDemand))).toEqual(
      new Set(["m.large on-demand", "m.small on-demand"]),
    );
    const empty = reserving("m.large", { "cr-1": { capacity: 0 } });
    expect(new Set(reserved([empty, instanceType("m.small").build()]))).toEqual(
      new Set(["m.large spot", "m.small spot"]),
    );
  });

  it("04 §3.2-5 an exotic reservation is launched only if no ordinary one of its kind is there", () => {
    const metal = reserving("m.metal", { "cr-1": { price: cheap / 2 } });
    expect(reserved([metal, reserving("m.large", { "cr-2": {} })])).toEqual(["m.large cr-2"]);
    expect(reserved([metal, instanceType("m.small").build()])).toEqual(["m.metal cr-1"]);
  });
});

describe("ties of price", () => {
  it("04 §3.2-6 spot that costs as much as the cheapest on demand is kept, a bit more is dropped", () => {
    const onDemand = instanceType("m.small").price(1).onlyOnDemand();
    const spotAt = (price: number) => {
      const places = ["a", "b", "c"] as const;
      return places.reduce((type, zone) => type.priceIn(zone, price, "spot"), instanceType("m.large").price(2));
    };
    expect(chosen([spotAt(1), onDemand])).toEqual(["m.large spot"]);
    expect(chosen([spotAt(1.000_001), onDemand])).toEqual(["m.large on-demand", "m.small on-demand"]);
  });

  it("04 §3.2-7 of 61 types at one price the last by name is dropped, whatever their order", () => {
    const names = Array.from({ length: 61 }, (_, index) => `m.${String(index).padStart(2, "0")}`);
    const expected = names.slice(0, 60).map((name) => `${name} on-demand`);
    const types = names.map((name) => instanceType(name).onlyOnDemand());
    expect(chosen(types)).toEqual(expected);
    expect(chosen([...types].reverse())).toEqual(expected);
  });
});
