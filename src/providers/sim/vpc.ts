import { awsZoneId, labels } from "../../api/labels.ts";
import { hash64 } from "../../util/hash.ts";
import type { Ec2NodeClassSpec, Ec2NodeClassStatus } from "../aws/node-class/node-class-object.ts";
import type { Region } from "../aws/regions.ts";

type Tags = Readonly<Record<string, string>>;

/**
 * The network of the simulated account: one subnet per zone and two security groups. It stands in for any account, so
 * tags match everything unless they name a zone; ids are its own.
 */
export function subnetsFor(
  terms: Ec2NodeClassSpec["subnetSelectorTerms"],
  region: Region,
): NonNullable<Ec2NodeClassStatus["subnets"]> {
  const all = region.zones.map(({ name, id }) => ({ id: subnetId(id), zone: name, zoneID: id }));
  return all.filter((subnet) =>
    terms.some(({ id, tags }) => (id === undefined || id === subnet.id) && tagsMatch(tags, subnet)),
  );
}

const simulatedSecurityGroups = [
  { id: "sg-simcluster", name: "simulated-cluster" },
  { id: "sg-simnodes", name: "simulated-nodes" },
];

export function securityGroupsFor(
  terms: Ec2NodeClassSpec["securityGroupSelectorTerms"],
): NonNullable<Ec2NodeClassStatus["securityGroups"]> {
  return simulatedSecurityGroups.filter((group) => terms.some(({ id }) => id === undefined || id === group.id));
}

/** EC2's private DNS name, like `ip-10-16-4-5.us-west-2.compute.internal`. Derived from the id, so it need not be stored. */
export function ec2NodeName(
  instanceId: string,
  { region, zone }: { readonly region: Region; readonly zone: string },
): string {
  const offset = Number(BigInt(hash64(instanceId)) % BigInt(2 ** 20));
  const index = region.zones.findIndex(({ name }) => name === zone);
  const address = [10, Math.max(0, index) * 16 + (offset >> 16), (offset >> 8) & 255, offset & 255].join("-");
  return `ip-${address}.${region.name === "us-east-1" ? "ec2.internal" : `${region.name}.compute.internal`}`;
}

function subnetId(zoneId: string): string {
  return `subnet-sim${zoneId.replaceAll("-", "")}`;
}

function tagsMatch(tags: Tags = {}, { zone, zoneID }: { readonly zone: string; readonly zoneID: string }): boolean {
  const known: Tags = { [labels.zone]: zone, [awsZoneId]: zoneID };
  return Object.entries(tags).every(([key, value]) => value === "*" || (known[key] ?? value) === value);
}
