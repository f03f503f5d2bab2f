import type { Problem } from "../../api/problem.ts";
import type { RegionColumn } from "./family-rows.ts";
import { embeddedZoneDigits } from "./instance-type-info.ts";
import { awsRegionNames, isAwsRegion, regionOfPlace, zoneIdPrefix } from "./region-names.ts";

export const defaultRegion = "us-west-2";

/** Regions with columns in the data. (04 §8) */
const regionColumns: Readonly<Record<string, RegionColumn>> = { "us-east-1": "use1", "us-west-2": "usw2" };

/** Regions in the embedded data. */
export const knownRegions: readonly string[] = Object.keys(regionColumns);

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
  /** Nothing of it is in the data: it is taken to offer what us-east-1 offers, in every zone. */
  readonly isAssumed?: boolean;
}

/** The region with its zones, or a problem that lists the known regions. */
export function findRegion(name: string): { readonly region: Region } | { readonly problem: Problem } {
  const column = Object.hasOwn(regionColumns, name) ? regionColumns[name] : undefined;
  if (column === undefined) return { problem: unknownRegion(name, knownRegions) };
  const zones = [...embeddedZoneDigits(column)].sort().map((digit) => zoneOf(name, digit));
  return { region: { name, column, zones } };
}

/** A region that is not in the data, with zones a, b and c and those that were seen somewhere. */
export function assumedRegion(
  name: string,
  seenZones: readonly string[],
): { readonly region: Region } | { readonly problem: Problem } {
  if (!isAwsRegion(name)) return { problem: unknownRegion(name, awsRegionNames) };
  const seen = seenZones.filter((zone) => regionOfPlace(zone) === name && zone.length === name.length + 1);
  const letters = new Set(["a", "b", "c", ...seen.map((zone) => zone.slice(-1))]);
  const zones = [...letters].sort().flatMap((letter) => {
    const digit = zoneLetters.indexOf(letter) + 1;
    return digit === 0 ? [] : [zoneOf(name, String(digit))];
  });
  return { region: { name, column: "use1", zones, isAssumed: true } };
}

const zoneLetters = "abcdefghi";

/** The letters of zones differ by account; offline they follow the ids. */
function zoneOf(region: string, digit: string): EmbeddedZone {
  const id = `${zoneIdPrefix(region)}-az${digit}`;
  return { name: `${region}${zoneLetters[Number(digit) - 1] ?? digit}`, id, digit };
}

function unknownRegion(name: string, known: readonly string[]): Problem {
  return {
    code: "unknown-value",
    path: ["region"],
    message: `no instance types are known offline for region ${JSON.stringify(name)}`,
    expected: known.join(known.length === 2 ? " or " : ", "),
  };
}
