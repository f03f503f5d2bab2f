import { familyRows } from "./families-data.ts";
import type { Ec2FamilyRow, Ec2TypeRow, RegionColumn } from "./family-rows.ts";

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
