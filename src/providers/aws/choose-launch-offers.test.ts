import { describe, expect, it } from "vitest";
import { type InstanceTypeBuilder, instanceType } from "../../../test/builders/instance-type.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { annotations, labels } from "../../api/labels.ts";
import { claimLaunchRequestOf, launchableOfferings } from "../../cloud/launchable-offerings.ts";
import { offeringCapacityType } from "../../core/instance-type.ts";
import { chooseLaunchOffers } from "./choose-launch-offers.ts";

const policy = labelPolicy("all");

interface ClaimSpec {
  readonly requirements?: readonly object[];
  readonly annotations?: Readonly<Record<string, string>>;
}

function chosen(types: readonly InstanceTypeBuilder[], given: ClaimSpec = {}): readonly string[] {
  const claim = {
    metadata: { annotations: given.annotations },
    spec: { requirements: given.requirements ?? [] },
  } as unknown as NodeClaim;
  const launchRequest = claimLaunchRequestOf(claim, policy);
  const offers = launchableOfferings(
    launchRequest,
    types.map((type) => type.build()),
  );
  const kept = chooseLaunchOffers(offers, { claim, launchRequest });
  return [...new Set(kept.map(({ type, offering }) => `${type.name} ${offeringCapacityType(offering)}`))].sort();
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
