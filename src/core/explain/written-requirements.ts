import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod, RequirementItem } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { Requirement } from "../requirement.ts";
import type { PatchPath } from "./json-patch.ts";

/** A requirement on one label, and where it is written. */
export interface WrittenRequirement {
  readonly path: PatchPath;
  readonly requirement: Requirement;
  readonly written: RequirementItem;
  /** `pair`: one value, in `nodeSelector` or labels. `item`: a list of values, in expressions or pool requirements. */
  readonly form: "pair" | "item";
}

const termsPath = [
  "spec",
  "affinity",
  "nodeAffinity",
  "requiredDuringSchedulingIgnoredDuringExecution",
  "nodeSelectorTerms",
];

/** The node selector and the last required term: relaxation drops the others first. (02:Q-40) */
export function writtenPodRequirements({ spec }: Pod, policy: LabelPolicy): readonly WrittenRequirement[] {
  const pairs = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) =>
    writtenRequirementOf(
      { key, operator: "In", values: [value] },
      { path: ["spec", "nodeSelector", key], form: "pair", policy },
    ),
  );
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const term = terms.length - 1;
  const items = (terms[term]?.matchExpressions ?? []).map((item, index) => {
    const path = [...termsPath, term, "matchExpressions", index];
    return writtenRequirementOf(item, { path, form: "item", policy });
  });
  return [...pairs, ...items];
}

/** The path to remove: the whole affinity if nothing else is left of it. */
export function removalPath({ path }: WrittenRequirement, { spec }: Pod): PatchPath {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const isExpression = path.length === termsPath.length + 3;
  if (!isExpression || (terms.at(-1)?.matchExpressions?.length ?? 0) > 1) return path;
  return terms.length > 1 ? path.slice(0, termsPath.length + 1) : path.slice(0, termsPath.length - 1);
}

/** Requirements of the pool, then labels of its template. */
export function writtenPoolRequirements({ spec }: NodePool, policy: LabelPolicy): readonly WrittenRequirement[] {
  const { template } = spec;
  const items = template.spec.requirements.map((item, index) =>
    writtenRequirementOf(item, {
      path: ["spec", "template", "spec", "requirements", index],
      form: "item",
      policy,
    }),
  );
  const pairs = Object.entries(template.metadata?.labels ?? {}).map(([key, value]) =>
    writtenRequirementOf(
      { key, operator: "In", values: [value] },
      { path: ["spec", "template", "metadata", "labels", key], form: "pair", policy },
    ),
  );
  return [...items, ...pairs];
}

function writtenRequirementOf(
  written: RequirementItem,
  { path, form, policy }: { path: PatchPath; form: WrittenRequirement["form"]; policy: LabelPolicy },
): WrittenRequirement {
  return { path, form, written, requirement: Requirement.fromItem(written, policy) };
}
