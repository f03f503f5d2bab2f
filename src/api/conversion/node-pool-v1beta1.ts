import { closest } from "../manifest/closest.ts";
import { at, type Draft, shown } from "./draft.ts";
import { poolClassRef } from "./node-class-ref.ts";
import { requirements } from "./requirements.ts";

const paths = {
  disruption: at("spec.disruption"),
  policy: at("spec.disruption.consolidationPolicy"),
  after: at("spec.disruption.consolidateAfter"),
  oldExpiry: at("spec.disruption.expireAfter"),
  expiry: at("spec.template.spec.expireAfter"),
  requirements: at("spec.template.spec.requirements"),
  resources: at("spec.template.spec.resources"),
} as const;

/** The beta schema's own default, which nobody had to write down. (01 §7.2) */
export const betaExpireAfter = "720h";

/** v1beta1 NodePool to v1, except for its kubelet settings, which concern the class. (01 §7.3) */
export function nodePoolFromBeta(draft: Draft): void {
  if (!draft.isObject(["spec"])) return;
  poolClassRef(draft);
  if (draft.said(paths.requirements) !== undefined) {
    requirements(draft, { from: paths.requirements, to: paths.requirements });
  }
  expiry(draft);
  if (draft.isObject(paths.disruption)) {
    const policy = consolidationPolicy(draft);
    consolidateAfter(draft, policy);
  }
  if (draft.says(paths.resources) !== undefined) {
    draft.omit(paths.resources);
    const message = "dropped: a pool never could ask for resources";
    draft.note({ code: "field-dropped", path: paths.resources, message, advice: "remove it" });
  }
}

function expiry(draft: Draft): void {
  const old = draft.said(paths.oldExpiry);
  const own = draft.said(paths.expiry);
  draft.omit(paths.oldExpiry);
  if (old !== undefined && own !== undefined && old !== own) {
    draft.refuse({
      code: "not-convertible",
      rule: "01 §7.3",
      path: paths.oldExpiry,
      message: `says ${shown(old)}, while spec.template.spec.expireAfter says ${shown(own)}`,
      expected: "one of the two",
    });
  } else if (old !== undefined) {
    draft.put(paths.expiry, old, paths.oldExpiry);
  } else if (own === undefined) {
    draft.put(paths.expiry, betaExpireAfter);
  }
}

/** Which of the two beta policies is meant; the rest of the family is written in place. */
type BetaPolicy = "WhenEmpty" | "WhenUnderutilized" | "unknown";

function consolidationPolicy(draft: Draft): BetaPolicy {
  const said = draft.said(paths.policy);
  const policy = typeof said === "string" ? said : said === undefined ? "WhenUnderutilized" : JSON.stringify(said);
  switch (policy) {
    case "WhenEmpty":
      return "WhenEmpty";
    case "WhenUnderutilized":
      if (said !== undefined) draft.put(paths.policy, "WhenEmptyOrUnderutilized");
      return "WhenUnderutilized";
    case "WhenIdle":
      return whenIdle(draft);
    case "WhenEmptyOrUnderutilized":
    case "Balanced":
      return v1Word(draft, policy);
    default:
      return unknownPolicy(draft, policy);
  }
}

/** No version ever had it; the documents that use it explain it as "nodes with no workload". Never read in v1. (01 §7.9 M1) */
function whenIdle(draft: Draft): BetaPolicy {
  draft.put(paths.policy, "WhenEmpty");
  draft.note({
    code: "policy-assumed",
    path: paths.policy,
    message: "WhenIdle is not a Karpenter policy; treating it as WhenEmpty (remove nodes that run no workload pods)",
    advice: "write WhenEmpty, or WhenEmptyOrUnderutilized to also move pods together",
  });
  return "WhenEmpty";
}

function v1Word(draft: Draft, policy: string): BetaPolicy {
  draft.assume({
    code: "policy-assumed",
    path: paths.policy,
    message: `${policy} is a policy of v1, not of v1beta1; kept`,
    advice: "set apiVersion to karpenter.sh/v1",
    instead: {
      code: "enum",
      rule: "01 §7.2",
      message: `${policy} is not a policy of v1beta1`,
      expected: "WhenEmpty or WhenUnderutilized",
    },
  });
  return "unknown";
}

function unknownPolicy(draft: Draft, policy: string): BetaPolicy {
  const near = closest(policy, ["WhenEmpty", "WhenUnderutilized", "WhenEmptyOrUnderutilized", "Balanced"]);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  draft.refuse({
    code: "enum",
    rule: "01 §7.2",
    path: paths.policy,
    message: `unsupported consolidationPolicy ${policy}${hint}`,
    expected: "WhenEmpty, WhenEmptyOrUnderutilized or Balanced",
  });
  return "unknown";
}

/** Upstream loses `Never` here and invents it there; we keep what was written. (01 §7.3, trap 19) */
function consolidateAfter(draft: Draft, policy: BetaPolicy): void {
  const after = draft.said(paths.after);
  if (after === undefined) {
    draft.put(paths.after, "0s");
    if (policy === "WhenEmpty") assumeNoWait(draft);
  } else if (policy === "WhenUnderutilized" && after !== "Never") {
    draft.assume({
      code: "consolidate-after-kept",
      path: paths.after,
      message: `v1beta1 allowed no wait with WhenUnderutilized; kept ${shown(after)}, which v1 honours`,
      advice: "write 0s to consolidate at once, as v1beta1 did",
      instead: {
        code: "rule",
        rule: "01 §7.2",
        message: "is not allowed with WhenUnderutilized in v1beta1",
        expected: "Never, or nothing",
      },
    });
  }
}

function assumeNoWait(draft: Draft): void {
  draft.assume({
    code: "consolidate-after-assumed",
    path: paths.after,
    message: "WhenEmpty without consolidateAfter; assumed 0s (empty nodes go at once)",
    advice: "write consolidateAfter: 0s, a longer wait, or Never",
    instead: {
      code: "required",
      rule: "01 §7.2",
      message: "is required with WhenEmpty in v1beta1",
      expected: "a duration such as 30s, or Never",
    },
  });
}
