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
