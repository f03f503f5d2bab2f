import type { Problem } from "../../api/problem.ts";
import type { RegionColumn } from "./family-rows.ts";
import type { EmbeddedInstanceTypeInfo } from "./instance-type-info.ts";

export const defaultRegion = "us-west-2";

interface RegionRow {
  readonly zoneIdPrefix: string;
  readonly column: RegionColumn;
}

/** Regions with columns in the data. (04 §8) */
const regionRows: Readonly<Record<string, RegionRow>> = {
  "us-east-1": { zoneIdPrefix: "use1-az", column: "use1" },
  "us-west-2": { zoneIdPrefix: "usw2-az", column: "usw2" },
};

/** Regions in the embedded data. */
export const knownRegions: readonly string[] = Object.keys(regionRows);

export interface Zone {
  readonly name: string;
  /** Known for zones with a subnet. */
  readonly id?: string | undefined;
}

/** A zone of the embedded data. */
interface EmbeddedZone extends Zone {
  readonly id: string;
  /** The last digit of its id. */
  readonly digit: string;
}

export interface Region {
  readonly name: string;
  readonly column: RegionColumn;
  /** Every zone some type is offered in, by id. */
  readonly zones: readonly EmbeddedZone[];
}

/** The region with its zones, or a problem that lists the known regions. */
export function findRegion(
  name: string,
  typeInfos: readonly EmbeddedInstanceTypeInfo[],
): { readonly region: Region } | { readonly problem: Problem } {
  const row = Object.hasOwn(regionRows, name) ? regionRows[name] : undefined;
  if (row === undefined) return { problem: unknownRegion(name) };
  const digits = new Set(typeInfos.flatMap((typeInfo) => [...typeInfo.zoneDigits[row.column]]));
  const zones = [...digits].sort().map((digit) => zoneOf(name, row, digit));
  return { region: { name, column: row.column, zones } };
}

/** The letters of zones differ by account; offline they follow the ids. */
function zoneOf(region: string, row: RegionRow, digit: string): EmbeddedZone {
  return { name: `${region}${"abcdefghi"[Number(digit) - 1] ?? digit}`, id: `${row.zoneIdPrefix}${digit}`, digit };
}

function unknownRegion(name: string): Problem {
  return {
    code: "unknown-value",
    path: ["region"],
    message: `no instance types are known offline for region ${JSON.stringify(name)}`,
    expected: knownRegions.join(" or "),
  };
}
