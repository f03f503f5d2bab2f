import { familyRows } from "./families-data.ts";

/** The regions the data has columns for, by the abbreviation it uses. */
export type RegionColumn = "use1" | "usw2";

/** One size in the data file, whose first line names the columns. */
export type Ec2TypeRow = readonly [
  vcpu: number,
  memoryMiB: number,
  /** On demand, Linux, us-east-1; null if none is listed. */
  usdPerHour: number | null,
  /** On the default network card. */
  enis: number,
  ipv4PerEni: number,
  /** 0: no trunking. */
  branchEnis: number,
  networkMbps: number,
  ebsMbps: number,
  nvmeGB: number,
  /** How many of the family's GPUs, Neuron devices or accelerators. */
  accelerators: number,
  efas: number,
  /** Last digits of the zone ids a size is offered in. */
  use1: string,
  usw2: string,
];

/** One family in the data file. */
export interface Ec2FamilyRow {
  readonly arch: string;
  readonly mfr: string;
  readonly mhz: number;
  readonly hv: string;
  /** Among the most used families. */
  readonly core?: boolean;
  /** No longer offered anywhere. */
  readonly retired?: boolean;
  /** Encrypts in transit. */
  readonly eit?: boolean;
  /** Spot price as a fraction of on-demand, the median by region. */
  readonly spot?: Readonly<Partial<Record<RegionColumn, number>>>;
  readonly gpu?: { readonly name: string; readonly mfr: string; readonly memMiB: number };
  readonly neuron?: { readonly name: string; readonly mfr: string; readonly coresPerDevice: number };
  readonly accel?: { readonly name: string; readonly mfr: string };
  /** Network cards by size, where there is more than one. */
  readonly cards?: Readonly<Record<string, number>>;
  readonly types: Readonly<Record<string, Ec2TypeRow>>;
}

/** The published facts of one EC2 instance type. */
export interface Ec2InstanceTypeInfo {
  readonly name: string;
  readonly familyName: string;
  readonly size: string;
  readonly family: Ec2FamilyRow;
  readonly isMetal: boolean;
  readonly vcpu: number;
  readonly memoryMiB: number;
  readonly usdPerHour: number | undefined;
  /** Interfaces of the default network card, which alone carries pods. (04 §2.3) */
  readonly enis: number;
  readonly ipv4PerEni: number;
  readonly branchEnis: number;
  readonly networkCards: number;
  readonly networkMbps: number;
  readonly ebsMbps: number;
  readonly nvmeGB: number;
  readonly accelerators: number;
  readonly efas: number;
  readonly zoneDigits: Readonly<Record<RegionColumn, string>>;
}

/** Every type of the embedded catalogue, including retired ones. (04 §8) */
export function ec2InstanceTypeInfos(): readonly Ec2InstanceTypeInfo[] {
  return Object.entries(familyRows).flatMap(([familyName, family]) =>
    Object.entries(family.types).map(([size, row]) => instanceTypeInfo({ familyName, family, size, row })),
  );
}

interface Ec2TypeSource {
  readonly familyName: string;
  readonly family: Ec2FamilyRow;
  readonly size: string;
  readonly row: Ec2TypeRow;
}

function instanceTypeInfo({ familyName, family, size, row }: Ec2TypeSource): Ec2InstanceTypeInfo {
  const [vcpu, memoryMiB, usdPerHour, enis, ipv4PerEni, branchEnis, networkMbps, ebsMbps, nvmeGB, ...rest] = row;
  const [accelerators, efas, use1, usw2] = rest;
  return {
    name: `${familyName}.${size}`,
    familyName,
    size,
    family,
    isMetal: size.includes("metal"),
    vcpu,
    memoryMiB,
    usdPerHour: usdPerHour ?? undefined,
    enis,
    ipv4PerEni,
    branchEnis,
    networkCards: family.cards?.[size] ?? 1,
    networkMbps,
    ebsMbps,
    nvmeGB,
    accelerators,
    efas,
    zoneDigits: { use1, usw2 },
  };
}
