import { didYouMean } from "../manifest/closest-match.ts";
import { type ConversionDraft, fieldPath, valueText } from "./conversion-draft.ts";
import { convertPoolClassRef } from "./node-class-ref.ts";
import { convertRequirements } from "./requirements.ts";

const paths = {
  disruption: fieldPath("spec.disruption"),
  policy: fieldPath("spec.disruption.consolidationPolicy"),
  after: fieldPath("spec.disruption.consolidateAfter"),
  oldExpiry: fieldPath("spec.disruption.expireAfter"),
  expiry: fieldPath("spec.template.spec.expireAfter"),
  requirements: fieldPath("spec.template.spec.requirements"),
  resources: fieldPath("spec.template.spec.resources"),
} as const;

/** The default of the v1beta1 schema. (01 §7.2) */
export const v1beta1ExpireAfter = "720h";

/** v1beta1 NodePool to v1, except for its kubelet settings, which concern the class. (01 §7.3) */
export function nodePoolFromV1beta1(draft: ConversionDraft): void {
  if (!draft.checkIsObject(["spec"])) return;
  convertPoolClassRef(draft);
  if (draft.sourceValue(paths.requirements) !== undefined) {
    convertRequirements(draft, { from: paths.requirements, to: paths.requirements });
  }
  convertExpiry(draft);
  if (draft.checkIsObject(paths.disruption)) {
    const policy = convertConsolidationPolicy(draft);
    convertConsolidateAfter(draft, policy);
  }
  if (draft.resultValue(paths.resources) !== undefined) {
    draft.removeField(paths.resources);
    const message = "dropped: a NodePool cannot request resources";
    draft.warn({ code: "field-dropped", path: paths.resources, message, advice: "remove it" });
  }
}

function convertExpiry(draft: ConversionDraft): void {
  const old = draft.sourceValue(paths.oldExpiry);
  const own = draft.sourceValue(paths.expiry);
  draft.removeField(paths.oldExpiry);
  if (old !== undefined && own !== undefined && old !== own) {
    draft.addProblem({
      code: "not-convertible",
      rule: "01 §7.3",
      path: paths.oldExpiry,
      message: `says ${valueText(old)}, while spec.template.spec.expireAfter says ${valueText(own)}`,
      expected: "one of the two",
    });
  } else if (old !== undefined) {
    draft.setField(paths.expiry, old, paths.oldExpiry);
  } else if (own === undefined) {
    draft.setField(paths.expiry, v1beta1ExpireAfter);
  }
}

/** Which of the two v1beta1 policies is meant; other values are handled where they occur. */
type V1beta1Policy = "WhenEmpty" | "WhenUnderutilized" | "unknown";

function convertConsolidationPolicy(draft: ConversionDraft): V1beta1Policy {
  const written = draft.sourceValue(paths.policy);
  const policy =
    typeof written === "string" ? written : written === undefined ? "WhenUnderutilized" : JSON.stringify(written);
  switch (policy) {
    case "WhenEmpty":
      return "WhenEmpty";
    case "WhenUnderutilized":
      if (written !== undefined) draft.setField(paths.policy, "WhenEmptyOrUnderutilized");
      return "WhenUnderutilized";
    case "WhenIdle":
      return convertWhenIdle(draft);
    case "WhenEmptyOrUnderutilized":
    case "Balanced":
      return keepV1Policy(draft, policy);
    default:
      return refuseUnknownPolicy(draft, policy);
  }
}

/** No version ever had this field; documents that use it describe it as "nodes with no workload". Not accepted in v1. (01 §7.9 M1) */
function convertWhenIdle(draft: ConversionDraft): V1beta1Policy {
  draft.setField(paths.policy, "WhenEmpty");
  draft.warn({
    code: "policy-assumed",
    path: paths.policy,
    message: "WhenIdle is not a Karpenter policy; treating it as WhenEmpty (remove nodes that run no workload pods)",
    advice: "write WhenEmpty, or WhenEmptyOrUnderutilized to also move pods together",
  });
  return "WhenEmpty";
}

function keepV1Policy(draft: ConversionDraft, policy: string): V1beta1Policy {
  draft.assume({
    code: "policy-assumed",
    path: paths.policy,
    message: `${policy} is a policy of v1, not of v1beta1; kept`,
    advice: "set apiVersion to karpenter.sh/v1",
    strictProblem: {
      code: "enum",
      rule: "01 §7.2",
      message: `${policy} is not a policy of v1beta1`,
      expected: "WhenEmpty or WhenUnderutilized",
    },
  });
  return "unknown";
}

function refuseUnknownPolicy(draft: ConversionDraft, policy: string): V1beta1Policy {
  const hint = didYouMean(policy, ["WhenEmpty", "WhenUnderutilized", "WhenEmptyOrUnderutilized", "Balanced"]);
  draft.addProblem({
    code: "enum",
    rule: "01 §7.2",
    path: paths.policy,
    message: `unsupported consolidationPolicy ${policy}${hint}`,
    expected: "WhenEmpty, WhenEmptyOrUnderutilized or Balanced",
  });
  return "unknown";
}

/** Upstream's conversion drops or adds `Never`; we keep the value as written. (01 §7.3, §9.19) */
function convertConsolidateAfter(draft: ConversionDraft, policy: V1beta1Policy): void {
  const after = draft.sourceValue(paths.after);
  if (after === undefined) {
    draft.setField(paths.after, "0s");
    if (policy === "WhenEmpty") assumeZeroConsolidateAfter(draft);
  } else if (policy === "WhenUnderutilized" && after !== "Never") {
    draft.assume({
      code: "consolidate-after-kept",
      path: paths.after,
      message: `v1beta1 allowed no wait with WhenUnderutilized; kept ${valueText(after)}, which v1 honours`,
      advice: "write 0s to consolidate at once, as v1beta1 did",
      strictProblem: {
        code: "rule",
        rule: "01 §7.2",
        message: "is not allowed with WhenUnderutilized in v1beta1",
        expected: "Never, or nothing",
      },
    });
  }
}

function assumeZeroConsolidateAfter(draft: ConversionDraft): void {
  draft.assume({
    code: "consolidate-after-assumed",
    path: paths.after,
    message: "WhenEmpty without consolidateAfter; assumed 0s (empty nodes are removed at once)",
    advice: "write consolidateAfter: 0s, a longer wait, or Never",
    strictProblem: {
      code: "required",
      rule: "01 §7.2",
      message: "is required with WhenEmpty in v1beta1",
      expected: "a duration such as 30s, or Never",
    },
  });
}
