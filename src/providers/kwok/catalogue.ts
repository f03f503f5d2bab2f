import { labels, resources } from "../../api/labels.ts";
import type { InstanceType, Offering } from "../../core/instance-type.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { Quantity } from "../../util/quantity.ts";
import { kwokInstanceType } from "./kwok-instance-type.ts";

const cpuSizes = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/** GiB a cpu, and the family named for it. (02:K-2) */
const families = [
  { name: "c", gibPerCpu: 2 },
  { name: "s", gibPerCpu: 4 },
  { name: "m", gibPerCpu: 8 },
];
const operatingSystems = ["linux", "windows"];
const architectures = ["amd64", "arm64"];
const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
const spotFraction = 0.7;

/** The 144 types the KWOK provider comes with, by rule. (02:K-1) */
export function kwokInstanceTypes(): readonly InstanceType[] {
  const templates = kwokOfferingTemplates();
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

/** 02:K-3. */
function capacity(cpu: number, gibPerCpu: number) {
  return {
    [resources.cpu]: Quantity.of(cpu),
    [resources.memory]: Quantity.of(bytes(cpu, gibPerCpu), "BinarySI"),
    [resources.pods]: Quantity.of(Math.min(16 * cpu, 1024)),
    [resources.ephemeralStorage]: Quantity.parse("20Gi"),
  };
}

/** Dollars an hour on demand. The order of operations is part of the price. (02:K-3) */
function price(cpu: number, gibPerCpu: number): number {
  return 0.025 * cpu + (0.001 * bytes(cpu, gibPerCpu)) / 1e9;
}

function bytes(cpu: number, gibPerCpu: number): number {
  return cpu * gibPerCpu * 2 ** 30;
}

interface KwokOfferingTemplate {
  readonly requirements: Requirements;
  readonly priceFraction: number;
}

/** The eight ways to buy, shared by all types. (02:K-1) */
function kwokOfferingTemplates(): readonly KwokOfferingTemplate[] {
  return zones.flatMap((zone) => [
    kwokOfferingTemplate(zone, "spot", spotFraction),
    kwokOfferingTemplate(zone, "on-demand", 1),
  ]);
}

function kwokOfferingTemplate(zone: string, capacityType: string, fraction: number): KwokOfferingTemplate {
  const requirements = Requirements.of(
    Requirement.in(labels.capacityType, [capacityType]),
    Requirement.in(labels.zone, [zone]),
  );
  return { requirements, priceFraction: fraction };
}

function offerings(templates: readonly KwokOfferingTemplate[], onDemand: number): readonly Offering[] {
  return templates.map(({ requirements, priceFraction }) => ({
    requirements,
    price: onDemand * priceFraction,
    available: true,
  }));
}
