import { parseNillableDurationMs } from "../../util/duration.ts";
import type { RequirementItem } from "../kubernetes/pod.ts";
import { isRestrictedLabel, type LabelPolicy } from "../label-policy.ts";
import { labels } from "../labels.ts";
import type { FieldPath, Problem } from "../problem.ts";
import { labelValueError, qualifiedNameError, shortText } from "./names.ts";
import { invalidKeyProblem, restrictedKeyProblem, reviewRequirements, type ValidationReview } from "./requirements.ts";
import { type TaintLists, taintProblems } from "./taints.ts";

/** The part of a NodePool that runtime validation reads. */
export interface ReviewedPool {
  readonly metadata: { readonly name?: string | undefined };
  readonly spec: {
    readonly replicas?: number | undefined;
    readonly template: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | undefined } | undefined;
      readonly spec: TaintLists & {
        readonly requirements: readonly RequirementItem[];
        readonly expireAfter?: string | undefined;
        readonly terminationGracePeriod?: string | undefined;
      };
    };
    readonly disruption?: {
      readonly consolidateAfter?: string | undefined;
      readonly budgets?: readonly { readonly duration?: string | undefined }[] | undefined;
    };
  };
}

const specPath: FieldPath = ["spec", "template", "spec"];
const labelsPath: FieldPath = ["spec", "template", "metadata", "labels"];
const requirementsPath: FieldPath = [...specPath, "requirements"];

/** All problems that admission does not find, so that one edit can fix them. (01 §1.2.3) */
export function reviewNodePool({ metadata, spec }: ReviewedPool, policy: LabelPolicy): ValidationReview {
  const { template } = spec;
  const requirements = reviewRequirements(template.spec.requirements, { policy, path: requirementsPath });
  return {
    problems: [
      ...nameProblems(metadata.name),
      ...Object.entries(template.metadata?.labels ?? {}).flatMap(([key, value]) => labelProblems(key, value, policy)),
      ...taintProblems(template.spec, specPath),
      ...requirements.problems,
      ...template.spec.requirements.flatMap(poolRequirementProblems),
      ...rangeProblems(spec),
    ],
    notices: requirements.notices,
  };
}

/** Numbers and durations the schema allows and nobody can calculate with; upstream cannot decode such durations. (01 §0.3) */
function rangeProblems({ replicas = 0, template, disruption }: ReviewedPool["spec"]): readonly Problem[] {
  const durations: readonly (readonly [FieldPath, string | undefined])[] = [
    [[...specPath, "expireAfter"], template.spec.expireAfter],
    [[...specPath, "terminationGracePeriod"], template.spec.terminationGracePeriod],
    [["spec", "disruption", "consolidateAfter"], disruption?.consolidateAfter],
    ...(disruption?.budgets ?? []).map(
      ({ duration }, at) => [["spec", "disruption", "budgets", at, "duration"], duration] as const,
    ),
  ];
  const problems = durations.flatMap(([path, text]): readonly Problem[] => {
    if (text === undefined || parseNillableDurationMs(text) !== undefined) return [];
    const message = `${shortText(text)} is longer than a duration can be`;
    return [{ code: "too-large", path, message, expected: "at most 2562047h, which is 292 years", rule: "01 §0.3" }];
  });
  if (Number.isSafeInteger(replicas)) return problems;
  const expected = `at most ${Number.MAX_SAFE_INTEGER}`;
  return [
    ...problems,
    { code: "too-large", path: ["spec", "replicas"], message: `${replicas} is too large`, expected },
  ];
}

// The name becomes a label value on every claim and node; the CRD does not limit it accordingly. (01 §3.1.1)
function nameProblems(name: string | undefined): readonly Problem[] {
  const error = name === undefined ? undefined : labelValueError(name);
  if (error === undefined) return [];
  const message = `the pool's name becomes label ${labels.nodePool} of its nodes and is not a valid label value: ${error}`;
  return [{ code: "invalid-value", path: ["metadata", "name"], message, rule: "01 §3.1.1" }];
}

function labelProblems(key: string, value: string, policy: LabelPolicy): readonly Problem[] {
  const path = [...labelsPath, key];
  const keyError = qualifiedNameError(key);
  const valueError = labelValueError(value);
  const problems: Problem[] = [];
  if (key === labels.nodePool) problems.push(reservedLabel(path));
  if (keyError !== undefined) problems.push(invalidKeyProblem(key, keyError, path));
  if (valueError !== undefined) {
    const message = `${JSON.stringify(shortText(value))} is not a label value: ${valueError}`;
    problems.push({ code: "invalid-value", path, message, rule: "01 §1.2.3" });
  }
  if (isRestrictedLabel(policy, key)) problems.push(restrictedKeyProblem(key, path));
  return problems;
}

function poolRequirementProblems({ key }: RequirementItem, at: number): readonly Problem[] {
  return key === labels.nodePool ? [reservedLabel([...requirementsPath, at, "key"])] : [];
}

function reservedLabel(path: FieldPath): Problem {
  return {
    code: "restricted-label",
    path,
    message: `${labels.nodePool} is set by Karpenter to the pool's name; remove it`,
    rule: "01 §1.2.3",
  };
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** Pools whose node class belongs to another provider get no conditions, hash or counts. (01 §1.2.3) */
export function isManagedPool(
  pool: { readonly spec: { readonly template: { readonly spec: { readonly nodeClassRef: GroupKind } } } },
  served: readonly GroupKind[],
): boolean {
  const { group, kind } = pool.spec.template.spec.nodeClassRef;
  return served.some((one) => one.group === group && one.kind === kind);
}
