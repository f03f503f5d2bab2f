import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import { readNodeLabels } from "./node-labels.ts";
import { type TypesByName, typesByName } from "./node-prices.ts";

/** EC2 types by region, and the regions of which nothing is known. */
export interface RegionTypes {
  readonly types: readonly TypesByName[];
  readonly unknownRegions: readonly string[];
}

/** EC2 types with the list prices of each region that has nodes, also those no longer offered: they may still run. */
export async function ec2TypesOfRegions(nodes: readonly Node[]): Promise<RegionTypes> {
  const regions = new Set(nodes.filter(isEc2Node).flatMap(({ metadata }) => regionOf(metadata.labels ?? {}) ?? []));
  if (regions.size === 0) return { types: [], unknownRegions: [] };
  const { ec2InstanceTypes } = await import("../../providers/aws/index.ts");
  const types: TypesByName[] = [];
  const unknownRegions: string[] = [];
  for (const region of [...regions].sort()) {
    const found = ec2InstanceTypes({ region, includeRetired: true });
    if ("types" in found) types.push(typesByName(found.types));
    else unknownRegions.push(region);
  }
  return { types, unknownRegions };
}

function isEc2Node({ spec }: Node): boolean {
  return spec?.providerID?.startsWith("aws:") === true;
}

/** `eu-west-1` of the zone `eu-west-1b`, where there is no label of the region. */
function regionOf(labels: Readonly<Record<string, string>>): string | undefined {
  const { region, zone } = readNodeLabels(labels);
  return region ?? (zone === undefined ? undefined : /^[a-z]+(?:-[a-z]+)+-\d+/.exec(zone)?.[0]);
}
