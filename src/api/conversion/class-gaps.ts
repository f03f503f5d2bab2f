import { discoveryTag, legacyNames } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { at, type Draft } from "./draft.ts";
import type { ConversionOptions } from "./outcome.ts";

/** What a class must say in v1, and what old ones left to a global setting or to nobody. (01 §7.9 M2, M15) */

/** The profile the usual installation instructions set up. */
export const usualInstanceProfile = "KarpenterNodeInstanceProfile";
/** Stands in for a cluster name nobody gave: it finds nothing, rather than another cluster's subnets. */
export const unnamedCluster = "my-cluster";

const paths = {
  role: at("spec.role"),
  profile: at("spec.instanceProfile"),
  subnets: at("spec.subnetSelectorTerms"),
  securityGroups: at("spec.securityGroupSelectorTerms"),
  metadataOptions: at("spec.metadataOptions"),
  tags: at("spec.tags"),
  userData: at("spec.userData"),
} as const;

/** `base` is where the source wrote the spec of the class. */
export function fillGaps(draft: Draft, { base, options }: { base: Path; options: ConversionOptions }): void {
  for (const [terms, what] of [
    [paths.subnets, "subnets"],
    [paths.securityGroups, "security groups"],
  ] as const) {
    if (isEmpty(draft.says(terms))) assumeDiscovery(draft, { terms, what, base, options });
  }
  if (draft.says(paths.role) === undefined && draft.says(paths.profile) === undefined)
    assumeProfile(draft, { base, options });
  hopLimit(draft, base);
  droppedTags(draft, base);
}

function isEmpty(terms: unknown): boolean {
  return terms === undefined || (Array.isArray(terms) && terms.length === 0);
}

function assumeDiscovery(
  draft: Draft,
  { terms, what, base, options }: { terms: Path; what: string; base: Path; options: ConversionOptions },
): void {
  const cluster = options.clusterName ?? unnamedCluster;
  const field = String(terms.at(-1));
  draft.put(terms, [{ tags: { [discoveryTag]: cluster } }]);
  draft.assume({
    code: "selector-assumed",
    path: [...base, field],
    message: `no ${field}; assumed the ${what} tagged ${discoveryTag}: ${cluster}`,
    advice:
      options.clusterName === undefined
        ? "name the cluster with --cluster-name, or write the terms"
        : "write the terms",
    instead: {
      code: "required",
      rule: what === "subnets" ? "01:EC1" : "01:EC2",
      message: "is required",
      expected: `at least one term that selects ${what} by tags or id`,
    },
  });
}

/** `settings.aws.defaultInstanceProfile` is gone: each class names its own. (01 §7.9 M2) */
function assumeProfile(draft: Draft, { base, options }: { base: Path; options: ConversionOptions }): void {
  const path = [...base, "instanceProfile"];
  const configured = options.defaultInstanceProfile;
  const profile = configured ?? usualInstanceProfile;
  draft.put(paths.profile, profile);
  const message = `neither role nor instanceProfile; assumed instanceProfile ${profile}`;
  if (configured !== undefined) {
    const advice = "write it: v1 has no default instance profile";
    draft.note({ code: "instance-profile-assumed", path, message: `${message}, the configured default`, advice });
    return;
  }
  draft.assume({
    code: "instance-profile-assumed",
    path,
    message: `${message}, as the usual installation creates it`,
    advice: "write role or instanceProfile, or name the old default with --default-instance-profile",
    instead: {
      code: "required",
      rule: "01:EC12",
      message: "set exactly one of spec.role or spec.instanceProfile",
      expected: "spec.role or spec.instanceProfile",
    },
  });
}

/** Containers two hops away could reach instance metadata; in v1 they cannot unless told so. (01 §7.2) */
function hopLimit(draft: Draft, base: Path): void {
  const path = [...base, "metadataOptions"];
  const given = draft.says(paths.metadataOptions);
  if (given === undefined) {
    draft.note({
      code: "hop-limit-changed",
      path,
      message:
        "no metadataOptions: older versions let containers reach instance metadata (hop limit 2), v1 does not (hop limit 1)",
      advice: "set metadataOptions.httpPutResponseHopLimit: 2 if pods need it",
    });
    return;
  }
  if (!isRecord(given) || (given["httpPutResponseHopLimit"] ?? undefined) !== undefined) return;
  draft.put([...paths.metadataOptions, "httpPutResponseHopLimit"], 2);
  draft.note({
    code: "hop-limit-changed",
    path,
    message: "httpPutResponseHopLimit was 2 where left out; v1 would make it 1, so 2 is written out",
    advice: "set it to 1 unless pods need instance metadata",
  });
}

/** Tags Karpenter once wrote itself and now keeps for itself. (01 §7.5) */
function droppedTags(draft: Draft, base: Path): void {
  for (const tag of [legacyNames.managedBy, legacyNames.provisionerName]) {
    if (draft.says([...paths.tags, tag]) === undefined) continue;
    draft.omit([...paths.tags, tag]);
    const message = `dropped the tag ${tag}: Karpenter writes its own`;
    draft.note({ code: "field-dropped", path: [...base, "tags", tag], message, advice: "remove it" });
  }
}

/** AL2 user data is followed by a bootstrap call of ours. (01 §7.9 M2) */
export function bootstrapTwice(draft: Draft, { base, family }: { base: Path; family: unknown }): void {
  const userData = draft.says(paths.userData);
  if (family !== "AL2" || typeof userData !== "string" || !userData.includes("/etc/eks/bootstrap.sh")) return;
  draft.note({
    code: "bootstrap-twice",
    path: [...base, "userData"],
    message: "calls /etc/eks/bootstrap.sh, which Karpenter appends for AL2 anyway: it would run twice",
    advice: "remove the call",
  });
}
