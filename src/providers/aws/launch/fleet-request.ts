import type { CreateFleetCommandInput, FleetLaunchTemplateOverridesRequest } from "@aws-sdk/client-ec2";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { annotations, awsLabels, type CapacityType } from "../../../api/labels.ts";
import type { LaunchableOffering } from "../../../cloud/launchable-offerings.ts";
import { offeringReservationId, offeringZone } from "../../../core/instance-type.ts";
import { type Tags, tagList } from "./launch-tags.ts";
import type { LaunchTemplateSpec } from "./launch-template-spec.ts";

export interface FleetLaunch {
  readonly claim: NodeClaim;
  readonly offers: readonly LaunchableOffering[];
  readonly capacityType: CapacityType;
  readonly templates: readonly { readonly name: string; readonly spec: LaunchTemplateSpec }[];
  /** By zone. */
  readonly subnets: ReadonlyMap<string, string>;
  readonly tags: Tags;
  readonly context: string | undefined;
}

/** The request for one instance. Undefined if no template has anything to launch. (04 §3.3) */
export function ec2FleetRequest(launch: FleetLaunch): CreateFleetCommandInput | undefined {
  const { claim, templates, tags } = launch;
  const configs = templates.flatMap(({ name, spec }) => {
    const overrides = overridesOf(spec, launch);
    if (overrides.length === 0) return [];
    return [{ LaunchTemplateSpecification: { LaunchTemplateName: name, Version: "$Latest" }, Overrides: overrides }];
  });
  if (configs.length === 0) return undefined;
  const isRelaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] === "true";
  return {
    Type: "instant",
    ...(launch.context !== undefined && !isRelaxed && { Context: launch.context }),
    LaunchTemplateConfigs: configs,
    TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: targetCapacityType(launch) },
    ...allocationOptions(launch),
    TagSpecifications: (["instance", "volume", "fleet"] as const).map((ResourceType) => ({
      ResourceType,
      Tags: tagList(tags),
    })),
  };
}

/** Each type and zone once, the cheapest first. */
function overridesOf(
  spec: LaunchTemplateSpec,
  { offers, subnets }: FleetLaunch,
): FleetLaunchTemplateOverridesRequest[] {
  const names = new Set(spec.instanceTypes.map(({ name }) => name));
  const own = offers
    .filter(({ type, offering }) => names.has(type.name) && isOfReservation(offering, spec))
    .sort((a, b) => a.offering.price - b.offering.price || (a.type.name < b.type.name ? -1 : 1));
  const overrides = new Map<string, FleetLaunchTemplateOverridesRequest>();
  for (const { type, offering } of own) {
    const zone = offeringZone(offering) ?? "";
    const subnetId = subnets.get(zone);
    const key = `${type.name}/${zone}`;
    if (subnetId === undefined || overrides.has(key)) continue;
    overrides.set(key, {
      InstanceType: type.name as never, // the SDK lists the types of its day
      SubnetId: subnetId,
      ImageId: spec.imageId,
      AvailabilityZone: zone, // errors are attributed by it
      Priority: offering.price,
    });
  }
  return [...overrides.values()];
}

function isOfReservation(offering: LaunchableOffering["offering"], { reservationId }: LaunchTemplateSpec): boolean {
  return reservationId === undefined || offeringReservationId(offering) === reservationId;
}

/** Which kind of reservation a reserved launch uses; all of its offerings have the same. */
function reservationKind({
  capacityType,
  offers,
}: FleetLaunch): "default" | "capacity-block" | "interruptible" | undefined {
  if (capacityType !== "reserved") return undefined;
  const requirements = offers[0]?.offering.requirements;
  if (requirements?.get(awsLabels.capacityReservationType).singleValue === "capacity-block") return "capacity-block";
  const isInterruptible = requirements?.get(awsLabels.capacityReservationInterruptible).singleValue === "true";
  return isInterruptible ? "interruptible" : "default";
}

function targetCapacityType(launch: FleetLaunch): "spot" | "on-demand" | "capacity-block" | "reserved-capacity" {
  const kind = reservationKind(launch);
  if (kind === "capacity-block") return kind;
  if (kind === "interruptible") return "reserved-capacity";
  return launch.capacityType === "spot" ? "spot" : "on-demand";
}

/** With overlays on prices EC2 must follow our order, not its own prices. (04 §3.3) */
function allocationOptions(launch: FleetLaunch): Partial<CreateFleetCommandInput> {
  const isOverlaid = launch.claim.metadata.annotations?.[annotations.priceOverlayApplied] !== undefined;
  const kind = reservationKind(launch);
  if (kind === "interruptible") {
    return { ReservedCapacityOptions: { ReservationTypes: ["interruptible-capacity-reservation"] } };
  }
  if (kind === "capacity-block") return {};
  if (launch.capacityType === "spot") {
    const strategy = isOverlaid ? "capacity-optimized-prioritized" : "price-capacity-optimized";
    return { SpotOptions: { AllocationStrategy: strategy } };
  }
  return { OnDemandOptions: { AllocationStrategy: isOverlaid ? "prioritized" : "lowest-price" } };
}
