import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { awsLabels } from "../../../api/labels.ts";
import type { CompileExpression, InstanceVariables } from "../../../api/validation/kubelet-expressions.ts";
import type { InstanceType, Offering } from "../../../core/instance-type.ts";
import { Requirements } from "../../../core/requirements.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Quantity } from "../../../util/quantity.ts";
import { ec2Resources } from "../build-instance-types.ts";
import { instanceVariablesOf } from "../evaluated-kubelet.ts";
import type { Ec2InstanceTypeInfo } from "../instance-type-info.ts";
import { isCompatibleWithNodeClass } from "../node-class-compatibility.ts";
import { nodeSettingsOf } from "../node-class-settings.ts";
import { defaultNodeSettings, type NodeSettings } from "../node-settings.ts";
import { ec2Offerings, type OfferingTemplate, offeringTemplates } from "../offerings.ts";
import type { Zone } from "../regions.ts";
import { RequirementInterner, type TypePlacementGroup, typeRequirements } from "../type-requirements.ts";
import type { InstanceTypeDiscovery, KnownInstanceTypes } from "./instance-type-discovery.ts";
import type { LivePrices } from "./live-prices.ts";
import type { OverlayPrices } from "./overlay-prices.ts";
import type { ReservationCounts } from "./reservation-counts.ts";
import { reservedOfferings, type StatusReservation } from "./reserved-offerings.ts";
import type { SeenMemory } from "./seen-memory.ts";
import type { UnavailableCapacity } from "./unavailable-capacity.ts";

export interface Ec2InstanceTypesOptions {
  readonly region: string;
  readonly discovery: Pick<InstanceTypeDiscovery, "known" | "revision">;
  readonly prices: LivePrices;
  /** With the gate NodeOverlay: prices for types that have none. */
  readonly overlayPrices?: OverlayPrices | undefined;
  readonly unavailable: UnavailableCapacity;
  readonly reservations: ReservationCounts;
  readonly seenMemory: SeenMemory;
  readonly placementGroupOf: (nodeClass: Ec2NodeClass) => TypePlacementGroup | undefined;
  /** Zones the cluster is shifted away from, by id. */
  readonly shiftedZoneIds: () => ReadonlySet<string>;
  /** Of the controller, for all node classes. */
  readonly nodeSettings: Pick<NodeSettings, "vmMemoryOverheadPercent" | "reservedEnis">;
  /** The gate ReservedCapacity. */
  readonly usesReservations: boolean;
  /** The gate NodeClassCEL; off unless given. */
  readonly allowsExpressions?: boolean | undefined;
  readonly compileExpression: CompileExpression;
}

/** Everything about a node class that its instance types depend on. */
interface ClassInputs {
  readonly settings: NodeSettings;
  readonly subnets: readonly { readonly id: string; readonly zone: string; readonly zoneID?: string | undefined }[];
  readonly reservations: readonly StatusReservation[];
  readonly placementGroup: TypePlacementGroup | undefined;
  /** What memory seen on nodes is known by. */
  readonly amiIds: readonly string[];
}

/** A type without its offerings, and what they are made from. */
interface BaseType {
  readonly typeInfo: Ec2InstanceTypeInfo;
  readonly type: Omit<InstanceType, "offerings">;
  readonly zones: readonly Zone[];
  readonly isCompatible: boolean;
}

interface BuiltTypes {
  readonly key: string;
  readonly interner: RequirementInterner;
  readonly templates: readonly OfferingTemplate[];
  readonly base: readonly BaseType[];
  offeringsKey: string;
  types: readonly InstanceType[];
}

/**
 * The instance types of each node class. Types are built again when their node class or what EC2 offers changes, offerings
 * when prices, reservations or what is unavailable change. The same lists and types are returned until then. (04 §2)
 */
export class Ec2InstanceTypes {
  readonly #options: Ec2InstanceTypesOptions;
  readonly #built = new Map<string, BuiltTypes>();

  constructor(options: Ec2InstanceTypesOptions) {
    this.#options = options;
  }

  /** Throws while nothing is known about the types or the class's subnets. */
  list(nodeClass: Ec2NodeClass): readonly InstanceType[] {
    const { known } = this.#options.discovery;
    if (known === undefined) throw new Error("no instance types are known yet");
    const inputs = this.#inputsOf(nodeClass);
    if (inputs.subnets.length === 0) throw new Error(`EC2NodeClass ${nodeClass.metadata.name ?? ""} has no subnets`);
    const built = this.#builtFor(nodeClass.metadata.name ?? "", inputs, known);
    const offeringsKey = this.#offeringsKey();
    if (built.offeringsKey !== offeringsKey) {
      built.types = this.#withOfferings(built, inputs);
      built.offeringsKey = offeringsKey;
    }
    return built.types;
  }

  /** Drops what is kept for a class that is gone. */
  forget(nodeClassName: string): void {
    this.#built.delete(nodeClassName);
  }

  /** What kubelet expressions of the class can ask about each type. (04 §1.10) */
  variables(nodeClass: Ec2NodeClass): readonly InstanceVariables[] {
    const settings = this.#settingsOf(nodeClass);
    return (this.#options.discovery.known?.typeInfos ?? []).map((one) => instanceVariablesOf(one, settings));
  }

  #settingsOf(nodeClass: Ec2NodeClass): NodeSettings {
    const { nodeSettings, allowsExpressions, compileExpression: compile } = this.#options;
    return { ...defaultNodeSettings, ...nodeSettingsOf(nodeClass, { allowsExpressions, compile }), ...nodeSettings };
  }

  #inputsOf(nodeClass: Ec2NodeClass): ClassInputs {
    const { usesReservations, placementGroupOf } = this.#options;
    const { subnets = [], capacityReservations = [], amis = [] } = nodeClass.status ?? {};
    return {
      settings: this.#settingsOf(nodeClass),
      subnets,
      reservations: usesReservations ? capacityReservations : [],
      placementGroup: placementGroupOf(nodeClass),
      amiIds: amis.map(({ id }) => id).sort(),
    };
  }

  #builtFor(name: string, inputs: ClassInputs, known: KnownInstanceTypes): BuiltTypes {
    const { discovery, seenMemory } = this.#options;
    const key = `${discovery.revision}/${seenMemory.revision}/${canonicalJson(inputs)}`;
    const existing = this.#built.get(name);
    if (existing?.key === key) return existing;
    const zones = zonesOf(inputs, known);
    const usable = zones.filter(
      ({ id, name: zone }) => id !== undefined || inputs.subnets.some((one) => one.zone === zone),
    );
    const interner = new RequirementInterner();
    const built: BuiltTypes = {
      key,
      interner,
      templates: offeringTemplates(zones, { usable: new Set(usable), interner }),
      base: known.typeInfos.map((typeInfo) => this.#baseType(typeInfo, { inputs, known, usable, interner })),
      offeringsKey: "",
      types: [],
    };
    this.#built.set(name, built);
    return built;
  }

  #baseType(
    typeInfo: Ec2InstanceTypeInfo,
    context: {
      readonly inputs: ClassInputs;
      readonly known: KnownInstanceTypes;
      readonly usable: readonly Zone[];
      readonly interner: RequirementInterner;
    },
  ): BaseType {
    const { inputs, known, usable, interner } = context;
    const { settings, placementGroup, amiIds } = inputs;
    const zones = usable.filter((zone) => known.isOffered(typeInfo, zone));
    const seen: Quantity | undefined = this.#options.seenMemory.get(typeInfo.name, amiIds);
    const reservations = inputs.reservations.filter(({ instanceType }) => instanceType === typeInfo.name);
    return {
      typeInfo,
      zones,
      isCompatible: isCompatibleWithNodeClass(typeInfo, settings, placementGroup?.strategy),
      type: {
        name: typeInfo.name,
        requirements: typeRequirements(typeInfo, {
          region: this.#options.region,
          settings,
          zones,
          interner,
          reservations,
          placementGroup,
        }),
        ...ec2Resources(typeInfo, settings, seen),
      },
    };
  }

  #offeringsKey(): string {
    const { prices, overlayPrices, unavailable, reservations, shiftedZoneIds } = this.#options;
    const revisions = [prices.revision, overlayPrices?.revision, unavailable.revision, reservations.revision];
    return [...revisions, ...shiftedZoneIds()].join("/");
  }

  /** Types whose offerings did not change stay the same objects: others remember what they computed for them. */
  #withOfferings(built: BuiltTypes, inputs: ClassInputs): readonly InstanceType[] {
    return built.base.map((base, index) => {
      const before = built.types[index];
      const offerings = this.#offeringsOf(base, built, inputs);
      if (before !== undefined && areSameOfferings(before.offerings, offerings)) return before;
      return { ...base.type, offerings };
    });
  }

  #offeringsOf(
    { typeInfo, zones, isCompatible }: BaseType,
    built: BuiltTypes,
    inputs: ClassInputs,
  ): readonly Offering[] {
    const { prices, overlayPrices, unavailable, reservations, shiftedZoneIds } = this.#options;
    const { placementGroup } = inputs;
    const allPrices = overlayPrices?.over(prices) ?? prices;
    const shifted = shiftedZoneIds();
    const isShifted = ({ id }: Zone): boolean => id !== undefined && shifted.has(id);
    const isAvoided = ({ zone, capacityType }: OfferingTemplate): boolean =>
      isShifted(zone) ||
      unavailable.isUnavailable({
        instanceType: typeInfo.name,
        zone: zone.name,
        capacityType,
        placementGroupId: placementGroup?.id,
        subnetIds: inputs.subnets.filter((subnet) => subnet.zone === zone.name).map(({ id }) => id),
      });
    const offerings = [
      ...ec2Offerings(typeInfo, { templates: built.templates, zones, isCompatible, prices: allPrices, isAvoided }),
      ...reservedOfferings({
        reservations: inputs.reservations.filter(({ instanceType }) => instanceType === typeInfo.name),
        left: (id) => reservations.left(id),
        onDemandPrice: prices.onDemand(typeInfo),
        zones,
        isCompatible,
        isShifted,
        interner: built.interner,
      }),
    ];
    return perPartition(offerings, placementGroup, built.interner);
  }
}

/** All zones of the region, with the ids the class's subnets name, and zones only the subnets know (local zones). */
function zonesOf({ subnets }: ClassInputs, { zoneNames }: KnownInstanceTypes): readonly Zone[] {
  const ids = new Map(subnets.map(({ zone, zoneID }) => [zone, zoneID]));
  return [...new Set([...zoneNames, ...ids.keys()])].sort().map((name) => ({ name, id: ids.get(name) }));
}

/** Each offering once for every partition of the placement group. (04 §2.5) */
function perPartition(
  offerings: readonly Offering[],
  group: TypePlacementGroup | undefined,
  interner: RequirementInterner,
): readonly Offering[] {
  const partitions = partitionNumbers(group);
  if (partitions.length === 0) return offerings;
  return offerings.flatMap((offering) =>
    partitions.map((partition) => ({
      ...offering,
      requirements: Requirements.of(
        ...offering.requirements,
        interner.in(awsLabels.placementGroupPartition, [partition]),
      ),
    })),
  );
}

export function partitionNumbers(group: TypePlacementGroup | undefined): readonly string[] {
  if (group?.strategy !== "partition") return [];
  return Array.from({ length: group.partitionCount ?? 0 }, (_, index) => String(index + 1));
}

function areSameOfferings(before: readonly Offering[], after: readonly Offering[]): boolean {
  return (
    before.length === after.length &&
    before.every((offering, index) => {
      const other = after[index];
      return (
        other !== undefined &&
        offering.price === other.price &&
        offering.priceSource === other.priceSource &&
        offering.available === other.available &&
        offering.reservationCapacity === other.reservationCapacity
      );
    })
  );
}
