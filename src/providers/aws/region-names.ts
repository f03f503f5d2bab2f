/** The regions of AWS; any other name is taken for a typing error. */
const regionNames = [
  "af-south-1",
  "ap-east-1",
  "ap-east-2",
  "ap-northeast-1",
  "ap-northeast-2",
  "ap-northeast-3",
  "ap-south-1",
  "ap-south-2",
  "ap-southeast-1",
  "ap-southeast-2",
  "ap-southeast-3",
  "ap-southeast-4",
  "ap-southeast-5",
  "ap-southeast-6",
  "ap-southeast-7",
  "ca-central-1",
  "ca-west-1",
  "cn-north-1",
  "cn-northwest-1",
  "eu-central-1",
  "eu-central-2",
  "eu-north-1",
  "eu-south-1",
  "eu-south-2",
  "eu-west-1",
  "eu-west-2",
  "eu-west-3",
  "eusc-de-east-1",
  "il-central-1",
  "me-central-1",
  "me-south-1",
  "mx-central-1",
  "sa-east-1",
  "us-east-1",
  "us-east-2",
  "us-gov-east-1",
  "us-gov-west-1",
  "us-west-1",
  "us-west-2",
] as const;

export const awsRegionNames: readonly string[] = regionNames;

export function isAwsRegion(name: string): boolean {
  return awsRegionNames.includes(name);
}

/** `usw2` of us-west-2: what the ids of its zones begin with. */
export function zoneIdPrefix(region: string): string {
  const [first = "", ...words] = region.split("-");
  return first + words.map((word) => directions[word] ?? word).join("");
}

const directions: Readonly<Record<string, string>> = {
  east: "e",
  west: "w",
  north: "n",
  south: "s",
  central: "c",
  northeast: "ne",
  northwest: "nw",
  southeast: "se",
  gov: "g",
};

/**
 * The region of a zone's name or id: `us-east-1a`, `us-west-2-lax-1a`, `use1-az4`; or the region itself. Undefined for
 * names of other clouds.
 */
export function regionOfPlace(name: string): string | undefined {
  const [, region = ""] = /^([a-z]{2,4}(?:-[a-z]+)+-\d)(?:[a-z]|-[a-z0-9-]+)?$/.exec(name) ?? [];
  if (isAwsRegion(region)) return region;
  const [, prefix] = /^([a-z]+\d)-(?:[a-z]+\d+-)?az\d$/.exec(name) ?? [];
  return prefix === undefined ? undefined : awsRegionNames.find((one) => zoneIdPrefix(one) === prefix);
}

/** The region of an ARN: `arn:aws:ec2:us-east-1:…`; undefined if it has none, as those of IAM. */
export function regionOfArn(text: string): string | undefined {
  const [, region = ""] = /^arn:aws[a-z-]*:[a-z0-9-]+:([a-z0-9-]+):/.exec(text) ?? [];
  return isAwsRegion(region) ? region : undefined;
}

/** The region of a node's provider id: `aws:///us-east-1a/i-0123456789abcdef0`. */
export function regionOfProviderId(text: string): string | undefined {
  const [, zone = ""] = /^aws:\/\/[^/]*\/([^/]+)\//.exec(text) ?? [];
  return regionOfPlace(zone);
}
