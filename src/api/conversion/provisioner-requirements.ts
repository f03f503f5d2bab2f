import { awsLabels, labels } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import type { ConversionOptions } from "./conversion.ts";
import { type ConversionDraft, fieldPath } from "./conversion-draft.ts";
import { convertRequirements } from "./requirements.ts";

const from = fieldPath("spec.requirements");
const to = fieldPath("spec.template.spec.requirements");

/** Fields of the oldest versions that are requirements now. (01 §7.7) */
const requirementLists: readonly (readonly [FieldPath, string])[] = [
  [fieldPath("spec.instanceTypes"), labels.instanceType],
  [fieldPath("spec.zones"), labels.zone],
  [fieldPath("spec.architectures"), labels.arch],
  [fieldPath("spec.architecture"), labels.arch],
  [fieldPath("spec.operatingSystems"), labels.os],
  [fieldPath("spec.operatingSystem"), labels.os],
  [fieldPath("spec.provider.capacityTypes"), labels.capacityType],
];

/** The default requirements of v1alpha5 on AWS. (01 §7.6) */
const impliedRequirements = [
  { key: labels.os, operator: "In", values: ["linux"] },
  { key: labels.arch, operator: "In", values: ["amd64"] },
  { key: labels.capacityType, operator: "In", values: ["on-demand"] },
] as const;
const typeNarrowingKeys: readonly string[] = [
  labels.instanceType,
  awsLabels.instanceFamily,
  awsLabels.instanceCategory,
  awsLabels.instanceGeneration,
];
const impliedTypeRequirements = [
  { key: awsLabels.instanceCategory, operator: "In", values: ["c", "m", "r"] },
  { key: awsLabels.instanceGeneration, operator: "Gt", values: ["2"] },
] as const;

export function convertProvisionerRequirements(draft: ConversionDraft, options: ConversionOptions): void {
  draft.setField(to, []);
  convertRequirements(draft, { from, to });
  const items = draft.resultValue(to);
  if (!Array.isArray(items)) return; // the schema reports it
  for (const [path, key] of requirementLists) listRequirement(draft, { path, key, items });
  if (isBeforeV1alpha5(draft)) warnSelectorsIntersect(draft);
  else if (options.ignoreDefaults !== true) items.push(...impliedFor(draft, items));
}

function listRequirement(
  draft: ConversionDraft,
  { path, key, items }: { path: FieldPath; key: string; items: unknown[] },
): void {
  const written = draft.sourceValue(path);
  const values = typeof written === "string" ? [written] : written;
  if (values === undefined || (Array.isArray(values) && values.length === 0)) return; // an empty list constrains nothing
  if (!Array.isArray(values) || values.some((value) => typeof value !== "string")) {
    draft.addProblem({
      code: "type",
      rule: "01 §7.7",
      path,
      message: "must be a list of strings",
      expected: "a list of strings",
    });
    return;
  }
  draft.moves.push({ from: path, to: [...to, items.length] }, { from: path, to: [...to, items.length, "values"] });
  items.push({ key, operator: "In", values: [...values] });
}

/** Labels of the pool are requirements too, so their keys need no default. */
function impliedFor(draft: ConversionDraft, items: readonly unknown[]): readonly unknown[] {
  const poolLabels = draft.resultValue(fieldPath("spec.template.metadata.labels"));
  const written = new Set<unknown>([
    ...items.map((item) => (isRecord(item) ? item["key"] : undefined)),
    ...(isRecord(poolLabels) ? Object.keys(poolLabels) : []),
  ]);
  const missing = impliedRequirements.filter(({ key }) => !written.has(key));
  const types = typeNarrowingKeys.some((key) => written.has(key)) ? [] : impliedTypeRequirements;
  return structuredClone([...missing, ...types]);
}

function isBeforeV1alpha5(draft: ConversionDraft): boolean {
  return ["karpenter.sh/v1alpha3", "karpenter.sh/v1alpha4"].includes(String(draft.sourceValue(["apiVersion"])));
}

/** A pod's selector used to override these lists; now both must match. (01 §7.7) */
function warnSelectorsIntersect(draft: ConversionDraft): void {
  const first = requirementLists.find(([path]) => draft.sourceValue(path) !== undefined);
  if (first === undefined) return;
  draft.warn({
    code: "selectors-intersect",
    path: first[0],
    message: "pods could override this list with a node selector; in v1 pool and pod must both agree",
    advice: "add what such pods ask for, or give them a pool of their own",
  });
}
