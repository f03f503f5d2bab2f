import type { RequirementItem } from "../kubernetes/pod.ts";
import type { LabelPolicy } from "../label-policy.ts";
import type { Problem } from "../problem.ts";
import { reviewRequirements, type ValidationReview } from "./requirements.ts";

/** The part of a NodeOverlay that runtime validation reads. */
export interface ReviewedOverlay {
  readonly spec: {
    readonly requirements: readonly RequirementItem[];
    readonly capacity?: Readonly<Record<string, string | number>> | undefined;
  };
}

/** The nodepool label is allowed here: an overlay may apply to one pool. (01 §1.4) */
export function reviewNodeOverlay({ spec }: ReviewedOverlay, policy: LabelPolicy): ValidationReview {
  const path = ["spec", "requirements"];
  const { problems, notices } = reviewRequirements(spec.requirements, { policy, path, needValues: ["In", "NotIn"] });
  return { problems: [...problems, ...capacityProblems(spec.capacity, policy)], notices };
}

function capacityProblems(capacity: ReviewedOverlay["spec"]["capacity"], policy: LabelPolicy): readonly Problem[] {
  return Object.keys(capacity ?? {})
    .filter((resource) => policy.wellKnownResources.has(resource))
    .map((resource) => ({
      code: "restricted-resource",
      path: ["spec", "capacity", resource],
      message: `${resource} is known from the instance type itself and cannot be overlaid; only extended resources can`,
      rule: "01 §3.5",
    }));
}
