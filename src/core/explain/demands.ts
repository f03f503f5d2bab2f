import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { requirementOperators } from "../../api/vocabulary.ts";
import { Requirement, type RequirementItem } from "../requirement.ts";
import type { Path } from "./patch.ts";

/** Something said of one label, and where it is written. */
export interface Demand {
  readonly path: Path;
  readonly requirement: Requirement;
  readonly written: RequirementItem;
  /** How it is written: `nodeSelector` and labels hold one value, expressions and pool requirements a list. */
  readonly form: "pair" | "item";
}

const termsPath = [
  "spec",
  "affinity",
  "nodeAffinity",
  "requiredDuringSchedulingIgnoredDuringExecution",
  "nodeSelectorTerms",
];

/** What a pod insists on: its node selector and the last of its alternatives, which is what it is left with. (02:Q-40) */
export function podDemands({ spec }: Pod, policy: LabelPolicy): readonly Demand[] {
  const pairs = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) =>
    demand({ key, operator: "In", values: [value] }, { path: ["spec", "nodeSelector", key], form: "pair", policy }),
  );
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const term = terms.length - 1;
  const items = (terms[term]?.matchExpressions ?? []).flatMap(({ key, operator, values }, index) => {
    const known = requirementOperators.find((one) => one === operator);
    if (known === undefined) return [];
    const path = [...termsPath, term, "matchExpressions", index];
    return [demand({ key, operator: known, values }, { path, form: "item", policy })];
  });
  return [...pairs, ...items];
}

/** Where a pod's required node affinity is, if dropping one expression leaves nothing of it. */
export function emptiedBy({ path }: Demand, { spec }: Pod): Path {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const isExpression = path.length === termsPath.length + 3;
  if (!isExpression || (terms.at(-1)?.matchExpressions?.length ?? 0) > 1) return path;
  return terms.length > 1 ? path.slice(0, termsPath.length + 1) : path.slice(0, termsPath.length - 1);
}

/** What a pool says of its nodes, requirements before labels. */
export function poolDemands({ spec }: NodePool, policy: LabelPolicy): readonly Demand[] {
  const { template } = spec;
  const items = template.spec.requirements.map((item, index) =>
    demand(item as RequirementItem, {
      path: ["spec", "template", "spec", "requirements", index],
      form: "item",
      policy,
    }),
  );
  const pairs = Object.entries(template.metadata?.labels ?? {}).map(([key, value]) =>
    demand(
      { key, operator: "In", values: [value] },
      { path: ["spec", "template", "metadata", "labels", key], form: "pair", policy },
    ),
  );
  return [...items, ...pairs];
}

function demand(
  written: RequirementItem,
  { path, form, policy }: { path: Path; form: Demand["form"]; policy: LabelPolicy },
): Demand {
  return { path, form, written, requirement: Requirement.fromItem(written, policy) };
}
