import { discoveryTag, legacyNames } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import type { ConversionOptions } from "./conversion.ts";
import { type ConversionDraft, fieldPath } from "./conversion-draft.ts";

/** Fills in fields v1 requires and older versions took from a global setting or did not have. (01 §7.9 M2 and M15) */

/** The instance profile of upstream's installation instructions. */
const conventionalInstanceProfile = "KarpenterNodeInstanceProfile";
/** Used when no cluster name is given: it matches nothing, rather than the subnets of another cluster. */
const placeholderClusterName = "my-cluster";

const paths = {
  role: fieldPath("spec.role"),
  profile: fieldPath("spec.instanceProfile"),
  subnets: fieldPath("spec.subnetSelectorTerms"),
  securityGroups: fieldPath("spec.securityGroupSelectorTerms"),
  metadataOptions: fieldPath("spec.metadataOptions"),
  tags: fieldPath("spec.tags"),
  userData: fieldPath("spec.userData"),
} as const;

/** `base` is the path of the class spec in the source. */
export function fillNodeClassGaps(
  draft: ConversionDraft,
  { base, options }: { base: FieldPath; options: ConversionOptions },
): void {
  for (const [terms, what] of [
    [paths.subnets, "subnets"],
    [paths.securityGroups, "security groups"],
  ] as const) {
    if (isEmpty(draft.resultValue(terms))) assumeDiscoveryTerms(draft, { terms, what, base, options });
  }
  if (draft.resultValue(paths.role) === undefined && draft.resultValue(paths.profile) === undefined)
    assumeProfile(draft, { base, options });
  keepHopLimit(draft, base);
  dropReservedTags(draft, base);
}

function isEmpty(terms: unknown): boolean {
  return terms === undefined || (Array.isArray(terms) && terms.length === 0);
}

function assumeDiscoveryTerms(
  draft: ConversionDraft,
  { terms, what, base, options }: { terms: FieldPath; what: string; base: FieldPath; options: ConversionOptions },
): void {
  const cluster = options.clusterName ?? placeholderClusterName;
  const field = String(terms.at(-1));
  draft.setField(terms, [{ tags: { [discoveryTag]: cluster } }]);
  draft.assume({
    code: "selector-assumed",
    path: [...base, field],
    message: `no ${field}; assumed the ${what} tagged ${discoveryTag}: ${cluster}`,
    advice:
      options.clusterName === undefined
        ? "name the cluster with --cluster-name, or write the terms"
        : "write the terms",
    strictProblem: {
      code: "required",
      rule: what === "subnets" ? "01:EC1" : "01:EC2",
      message: "is required",
      expected: `at least one term that selects ${what} by tags or id`,
    },
  });
}

/** `settings.aws.defaultInstanceProfile` no longer exists: each class has its own. (01 §7.9 M2) */
function assumeProfile(
  draft: ConversionDraft,
  { base, options }: { base: FieldPath; options: ConversionOptions },
): void {
  const path = [...base, "instanceProfile"];
  const configured = options.defaultInstanceProfile;
  const profile = configured ?? conventionalInstanceProfile;
  draft.setField(paths.profile, profile);
  const message = `neither role nor instanceProfile; assumed instanceProfile ${profile}`;
  if (configured !== undefined) {
    const advice = "write it: v1 has no default instance profile";
    draft.warn({ code: "instance-profile-assumed", path, message: `${message}, the configured default`, advice });
    return;
  }
  draft.assume({
    code: "instance-profile-assumed",
    path,
    message: `${message}, as the usual installation creates it`,
    advice: "write role or instanceProfile, or name the old default with --default-instance-profile",
    strictProblem: {
      code: "required",
      rule: "01:EC12",
      message: "set exactly one of spec.role or spec.instanceProfile",
      expected: "spec.role or spec.instanceProfile",
    },
  });
}

/** The default hop limit of 2, with which containers reach instance metadata, is 1 in v1. (01 §7.2) */
function keepHopLimit(draft: ConversionDraft, base: FieldPath): void {
  const path = [...base, "metadataOptions"];
  const given = draft.resultValue(paths.metadataOptions) ?? {};
  if (!isRecord(given) || (given["httpPutResponseHopLimit"] ?? undefined) !== undefined) return;
  draft.setField([...paths.metadataOptions, "httpPutResponseHopLimit"], 2);
  draft.warn({
    code: "hop-limit-changed",
    path,
    message: "httpPutResponseHopLimit was 2 where left out; v1 would make it 1, so 2 is written out",
    advice: "set it to 1 unless pods need instance metadata",
  });
}

/** Tags users could set before and Karpenter reserves now. (01 §7.5) */
function dropReservedTags(draft: ConversionDraft, base: FieldPath): void {
  for (const tag of [legacyNames.managedBy, legacyNames.provisionerName]) {
    if (draft.resultValue([...paths.tags, tag]) === undefined) continue;
    draft.removeField([...paths.tags, tag]);
    const message = `dropped the tag ${tag}: Karpenter writes its own`;
    draft.warn({ code: "field-dropped", path: [...base, "tags", tag], message, advice: "remove it" });
  }
}

/** Karpenter appends its bootstrap call to AL2 user data. (01 §7.9 M2) */
export function warnDoubleBootstrap(
  draft: ConversionDraft,
  { base, family }: { base: FieldPath; family: unknown },
): void {
  const userData = draft.resultValue(paths.userData);
  if (family !== "AL2" || typeof userData !== "string" || !userData.includes("/etc/eks/bootstrap.sh")) return;
  draft.warn({
    code: "bootstrap-twice",
    path: [...base, "userData"],
    message: "calls /etc/eks/bootstrap.sh, which Karpenter appends for AL2 anyway: it would run twice",
    advice: "remove the call",
  });
}
