import { resources } from "../../api/labels.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { Quantity } from "../../util/quantity.ts";
import { ec2Capacity } from "./capacity.ts";
import { settingsForType } from "./evaluated-kubelet.ts";
import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import { isCompatibleWithNodeClass } from "./node-class-compatibility.ts";
import type { NodeSettings } from "./node-settings.ts";
import { ec2Offerings, offeringTemplates } from "./offerings.ts";
import { ec2Overhead } from "./overhead.ts";
import type { Prices } from "./prices.ts";
import type { Zone } from "./regions.ts";
import { RequirementInterner, typeRequirements } from "./type-requirements.ts";

export interface InstanceTypeContext {
  /** Its name. */
  readonly region: string;
  readonly zones: readonly Zone[];
  /** Those of them nodes can be in. */
  readonly usableZones: readonly Zone[];
  readonly isOffered: (typeInfo: Ec2InstanceTypeInfo, zone: Zone) => boolean;
  readonly settings: NodeSettings;
  readonly prices: Prices;
}

/** Instance types for the settings of a node class, also those not available there. (04 §2) */
export function buildInstanceTypes(
  typeInfos: readonly Ec2InstanceTypeInfo[],
  context: InstanceTypeContext,
): readonly InstanceType[] {
  const { region, settings, prices, usableZones } = context;
  const interner = new RequirementInterner();
  const templates = offeringTemplates(context.zones, { usable: new Set(usableZones), interner });
  return typeInfos.map((typeInfo) => {
    const zones = usableZones.filter((zone) => context.isOffered(typeInfo, zone));
    const isCompatible = isCompatibleWithNodeClass(typeInfo, settings);
    return {
      name: typeInfo.name,
      requirements: typeRequirements(typeInfo, { region, settings, zones, interner }),
      offerings: ec2Offerings(typeInfo, { templates, zones, isCompatible, prices }),
      ...ec2Resources(typeInfo, settings),
    };
  });
}

/** Capacity and overhead of a node. The overhead is that of the estimated memory, even if nodes were seen to have another. (04 §2.3) */
export function ec2Resources(
  typeInfo: Ec2InstanceTypeInfo,
  classSettings: NodeSettings,
  seenMemory?: Quantity,
): Pick<InstanceType, "capacity" | "overhead"> {
  const settings = settingsForType(classSettings, typeInfo);
  const estimated = ec2Capacity(typeInfo, settings);
  return {
    capacity: seenMemory === undefined ? estimated : { ...estimated, [resources.memory]: seenMemory },
    overhead: ec2Overhead(typeInfo, settings, estimated),
  };
}
