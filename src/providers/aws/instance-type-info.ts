import { familyRows } from "./families-data.ts";
import type { Ec2FamilyRow, Ec2TypeRow, RegionColumn } from "./family-rows.ts";

/** GPUs, Neuron devices or other accelerators of one kind. */
export interface AcceleratorInfo {
  readonly name: string;
  readonly manufacturer: string;
  readonly count: number;
}

/** The facts of one EC2 instance type, embedded or as EC2 describes it. */
export interface Ec2InstanceTypeInfo {
  readonly name: string;
  readonly familyName: string;
  readonly size: string;
  readonly isMetal: boolean;
  readonly arch: string;
  readonly cpuManufacturer: string | undefined;
  readonly clockMhz: number | undefined;
  /** Empty for metal. */
  readonly hypervisor: string;
  readonly encryptsInTransit: boolean;
  /** Unknown for embedded types. */
  readonly nitroSandbox: boolean | undefined;
  readonly vcpu: number;
  readonly memoryMiB: number;
  /** The embedded price on demand, that of us-east-1. */
  readonly usdPerHour: number | undefined;
  /** The embedded spot price as a fraction of it, by region. */
  readonly spotFractions: Readonly<Partial<Record<RegionColumn, number>>> | undefined;
  /** Interfaces of the default network card, which alone carries pods. (04 §2.3) */
  readonly enis: number;
  readonly ipv4PerEni: number;
  readonly branchEnis: number;
  /** How many interfaces each network card takes; undefined where that is not known. */
  readonly networkCards: readonly (number | undefined)[];
  readonly supportsEna: boolean;
  readonly networkMbps: number;
  readonly ebsMbps: number;
  readonly nvmeGB: number;
  /** Local disks of any kind. */
  readonly instanceStoreGB: number;
  readonly gpus: readonly (AcceleratorInfo & { readonly memoryMiB: number })[];
  readonly neuronDevices: readonly (AcceleratorInfo & { readonly coresPerDevice: number })[];
  readonly inferenceAccelerators: readonly AcceleratorInfo[];
  readonly efas: number;
  readonly usageClasses: readonly ("on-demand" | "spot")[];
  /** Strategies of placement groups it can be in; undefined if unknown. */
  readonly placementStrategies: readonly string[] | undefined;
  /** Undefined if unknown. */
  readonly supportsNestedVirtualization: boolean | undefined;
}

/** An instance type of the embedded catalogue. */
export interface EmbeddedInstanceTypeInfo extends Ec2InstanceTypeInfo {
  /** No longer offered anywhere. */
  readonly isRetired: boolean;
  /** Last digits of the ids of the zones it is offered in. */
  readonly zoneDigits: Readonly<Record<RegionColumn, string>>;
}

/** Every type of the embedded catalogue, including retired ones. (04 §8) */
export function ec2InstanceTypeInfos(): readonly EmbeddedInstanceTypeInfo[] {
  return Object.entries(familyRows).flatMap(([familyName, family]) =>
    Object.entries(family.types).map(([size, row]) => instanceTypeInfo({ familyName, family, size, row })),
  );
}

/** Last digits of the ids of the zones some type is offered in. */
export function embeddedZoneDigits(column: RegionColumn): ReadonlySet<string> {
  const digits = Object.values(familyRows).flatMap(({ types }) =>
    Object.values(types).flatMap((row) => [...zoneDigitsOf(row)[column]]),
  );
  return new Set(digits);
}

function zoneDigitsOf(row: Ec2TypeRow): Readonly<Record<RegionColumn, string>> {
  const [use1, usw2] = row.slice(-2) as [string, string];
  return { use1, usw2 };
}

interface Ec2TypeSource {
  readonly familyName: string;
  readonly family: Ec2FamilyRow;
  readonly size: string;
  readonly row: Ec2TypeRow;
}

function instanceTypeInfo({ familyName, family, size, row }: Ec2TypeSource): EmbeddedInstanceTypeInfo {
  const [vcpu, memoryMiB, usdPerHour, enis, ipv4PerEni, branchEnis, networkMbps, ebsMbps, nvmeGB, ...rest] = row;
  const [accelerators, efas] = rest;
  const isMetal = size.includes("metal");
  return {
    name: `${familyName}.${size}`,
    familyName,
    size,
    isMetal,
    arch: family.arch,
    cpuManufacturer: family.mfr,
    clockMhz: family.mhz,
    hypervisor: isMetal ? "" : family.hv,
    encryptsInTransit: family.eit === true,
    nitroSandbox: undefined,
    vcpu,
    memoryMiB,
    usdPerHour: usdPerHour ?? undefined,
    spotFractions: family.spot,
    enis,
    ipv4PerEni,
    branchEnis,
    networkCards: Array.from({ length: family.cards?.[size] ?? 1 }, (_, index) => (index === 0 ? enis : undefined)),
    supportsEna: true,
    networkMbps,
    ebsMbps,
    nvmeGB,
    instanceStoreGB: nvmeGB,
    ...acceleratorsOf(family, accelerators),
    efas,
    usageClasses: ["on-demand", "spot"],
    placementStrategies: undefined,
    supportsNestedVirtualization: undefined,
    isRetired: family.retired === true,
    zoneDigits: zoneDigitsOf(row),
  };
}

function acceleratorsOf({ gpu, neuron, accel }: Ec2FamilyRow, count: number) {
  const some = count > 0;
  return {
    gpus: some && gpu ? [{ name: gpu.name, manufacturer: gpu.mfr, count, memoryMiB: gpu.memMiB }] : [],
    neuronDevices:
      some && neuron
        ? [{ name: neuron.name, manufacturer: neuron.mfr, count, coresPerDevice: neuron.coresPerDevice }]
        : [],
    inferenceAccelerators: some && accel ? [{ name: accel.name, manufacturer: accel.mfr, count }] : [],
  };
}
