import { karpenterKinds } from "../kinds/karpenter-kinds.ts";
import { groups } from "../labels.ts";
import { closestMatch } from "../manifest/closest-match.ts";
import { isRecord } from "../object.ts";
import type { Problem } from "../problem.ts";

/** Kinds of older API versions, and how they are converted. (01 §7.1) */
const olderKinds = {
  "karpenter.sh/v1beta1 NodePool": "node-pool",
  "karpenter.sh/v1beta1 NodeClaim": "node-claim",
  "karpenter.k8s.aws/v1beta1 EC2NodeClass": "ec2-node-class",
  "karpenter.sh/v1alpha5 Provisioner": "provisioner",
  "karpenter.sh/v1alpha4 Provisioner": "provisioner",
  "karpenter.sh/v1alpha3 Provisioner": "provisioner",
  "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate": "aws-node-template",
  "karpenter.sh/v1alpha5 Machine": "machine",
} as const;
export type OlderKind = (typeof olderKinds)[keyof typeof olderKinds];

/** Served by others; not converted. */
const servedElsewhere = ["karpenter.azure.com/v1beta1 AKSNodeClass", "karpenter.azure.com/v1alpha2 AKSNodeClass"];

const currentKinds = karpenterKinds.map((one) => `${one.group}/${one.version} ${one.kind}`);
const knownKinds: readonly string[] = [...currentKinds, ...Object.keys(olderKinds), ...servedElsewhere];
const karpenterKindNames = new Set(knownKinds.map((name) => name.split(" ")[1]));

/** The version and kind of an object, classified. */
export type VersionClassification =
  | { readonly is: "older"; readonly kind: OlderKind }
  | { readonly is: "current" }
  /** Not one of our kinds: passed through unchanged. */
  | { readonly is: "foreign" }
  /** Neither apiVersion nor kind: a fragment. */
  | { readonly is: "fragment" }
  | { readonly is: "wrong"; readonly problem: Problem };

export function classifyVersion(object: unknown): VersionClassification {
  if (!isRecord(object)) return Array.isArray(object) ? { is: "fragment" } : { is: "wrong", problem: notAnObject };
  const { apiVersion, kind } = object;
  if (apiVersion === undefined && kind === undefined) return { is: "fragment" };
  if (typeof apiVersion !== "string" || apiVersion === "")
    return { is: "wrong", problem: missingFieldProblem("apiVersion", apiVersion) };
  if (typeof kind !== "string" || kind === "") return { is: "wrong", problem: missingFieldProblem("kind", kind) };
  const name = `${apiVersion} ${kind}`;
  if (Object.hasOwn(olderKinds, name)) return { is: "older", kind: olderKinds[name as keyof typeof olderKinds] };
  if (knownKinds.includes(name)) return { is: "current" };
  return isMeantForKarpenter(apiVersion, kind)
    ? { is: "wrong", problem: unknownVersionProblem(apiVersion, kind) }
    : { is: "foreign" };
}

const notAnObject: Problem = {
  code: "type",
  rule: "01 §7.1",
  path: [],
  message: "is not an object: a manifest has apiVersion, kind and metadata",
  expected: "object",
};

function missingFieldProblem(field: string, value: unknown): Problem {
  const message = value === undefined ? "is required" : "must be a string";
  return { code: value === undefined ? "required" : "type", path: [field], message, expected: "text" };
}

/** Whether the group is ours, looks like a typo of ours, or is missing while only we have the kind. */
function isMeantForKarpenter(apiVersion: string, kind: string): boolean {
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return karpenterKindNames.has(kind) || apiVersion.includes("karpenter");
  const group = apiVersion.slice(0, slash);
  const ours: readonly string[] = Object.values(groups);
  return (
    ours.includes(group) ||
    group.includes("karpenter") ||
    (karpenterKindNames.has(kind) && closestMatch(group, ours) !== undefined)
  );
}

/** The closest known name: another version of this kind, or a kind with a similar name. */
function unknownVersionProblem(apiVersion: string, kind: string): Problem {
  const versions = knownKinds.filter((name) => name.endsWith(` ${kind}`)).map((name) => name.split(" ")[0] ?? "");
  if (versions.length > 0) {
    const near = closestMatch(apiVersion, versions) ?? versions[0];
    const message = `there is no ${kind} in ${apiVersion}; the closest known version is ${near}`;
    return { code: "unknown-version", rule: "01 §7.1", path: ["apiVersion"], message, expected: versions.join(" or ") };
  }
  const here = knownKinds.filter((name) => name.startsWith(`${apiVersion} `)).map((name) => name.split(" ")[1] ?? "");
  const near = closestMatch(kind, here) ?? closestMatch(kind, new Set([...karpenterKindNames].map(String)));
  const hint = near === undefined ? "" : `; the closest known kind is ${near}`;
  const all = here.length > 0 ? here : [...karpenterKindNames].map(String);
  return {
    code: "unknown-kind",
    rule: "01 §7.1",
    path: ["kind"],
    message: `unknown kind ${kind} in ${apiVersion}${hint}`,
    expected: all.join(", "),
  };
}
