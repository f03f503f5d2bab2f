import { labels, resources } from "../../api/labels.ts";
import type { InstanceType, Offering } from "../../core/instance-type.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { Quantity } from "../../util/quantity.ts";
import { kwokInstanceType } from "./kwok-instance-type.ts";

const cpuSizes = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/** Families by their GiB per cpu. (02:K-2) */
const families = [
  { name: "c", gibPerCpu: 2 },
  { name: "s", gibPerCpu: 4 },
  { name: "m", gibPerCpu: 8 },
];
const operatingSystems = ["linux", "windows"];
const architectures = ["amd64", "arm64"];
const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
const spotFraction = 0.7;

/** The 144 default KWOK types. (02:K-1) */
export function kwokInstanceTypes(): readonly InstanceType[] {
  const templates = offeringTemplates();
  return cpuSizes.flatMap((cpu) =>
    families.flatMap(({ name, gibPerCpu }) =>
      operatingSystems.flatMap((os) =>
        architectures.map((architecture) =>
          kwokInstanceType({
            name: `${name}-${cpu}x-${architecture}-${os}`,
            architecture,
            operatingSystems: [os],
            resources: capacity(cpu, gibPerCpu),
            offerings: offerings(templates, price(cpu, gibPerCpu)),
          }),
        ),
      ),
    ),
  );
}

/** The capacity of a type of this size: 16 pods per cpu, at most 1024. (02:K-3) */
function capacity(cpu: number, gibPerCpu: number) {
  return {
    [resources.cpu]: Quantity.of(cpu),
    [resources.memory]: Quantity.of(bytes(cpu, gibPerCpu), "BinarySI"),
    [resources.pods]: Quantity.of(Math.min(16 * cpu, 1024)),
    [resources.ephemeralStorage]: Quantity.parse("20Gi"),
  };
}

/** Dollars an hour on demand. The order of operations decides the last bit. (02:K-3) */
function price(cpu: number, gibPerCpu: number): number {
  return 0.025 * cpu + (0.001 * bytes(cpu, gibPerCpu)) / 1e9;
}

function bytes(cpu: number, gibPerCpu: number): number {
  return cpu * gibPerCpu * 2 ** 30;
}

interface OfferingTemplate {
  readonly requirements: Requirements;
  readonly fraction: number;
}

/** The eight combinations of zone and capacity type, shared by all types. (02:K-1) */
function offeringTemplates(): readonly OfferingTemplate[] {
  return zones.flatMap((zone) => [
    offeringTemplate(zone, "spot", spotFraction),
    offeringTemplate(zone, "on-demand", 1),
  ]);
}

function offeringTemplate(zone: string, capacityType: string, fraction: number): OfferingTemplate {
  const capacityRequirement = Requirement.in(labels.capacityType, [capacityType]);
  return { requirements: Requirements.of(capacityRequirement, Requirement.in(labels.zone, [zone])), fraction };
}

function offerings(templates: readonly OfferingTemplate[], onDemand: number): readonly Offering[] {
  return templates.map(({ requirements, fraction }) => ({ requirements, price: onDemand * fraction, available: true }));
}
