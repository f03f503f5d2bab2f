import { awsLabels, labels } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { at, type Draft } from "./draft.ts";
import type { ConversionOptions } from "./outcome.ts";
import { requirements } from "./requirements.ts";

const from = at("spec.requirements");
const to = at("spec.template.spec.requirements");

/** Fields of the oldest versions that are requirements today. (01 §7.7) */
const lists: readonly (readonly [Path, string])[] = [
  [at("spec.instanceTypes"), labels.instanceType],
  [at("spec.zones"), labels.zone],
  [at("spec.architectures"), labels.arch],
  [at("spec.architecture"), labels.arch],
  [at("spec.operatingSystems"), labels.os],
  [at("spec.operatingSystem"), labels.os],
  [at("spec.provider.capacityTypes"), labels.capacityType],
];

/** What v1alpha5 on AWS required when nothing was said. (01 §7.6) */
const implied = [
  { key: labels.os, operator: "In", values: ["linux"] },
  { key: labels.arch, operator: "In", values: ["amd64"] },
  { key: labels.capacityType, operator: "In", values: ["on-demand"] },
] as const;
const narrowing: readonly string[] = [
  labels.instanceType,
  awsLabels.instanceFamily,
  awsLabels.instanceCategory,
  awsLabels.instanceGeneration,
];
const impliedTypes = [
  { key: awsLabels.instanceCategory, operator: "In", values: ["c", "m", "r"] },
  { key: awsLabels.instanceGeneration, operator: "Gt", values: ["2"] },
] as const;

export function provisionerRequirements(draft: Draft, options: ConversionOptions): void {
  draft.put(to, []);
  requirements(draft, { from, to });
  const items = draft.says(to);
  if (!Array.isArray(items)) return; // the schema will say what is wrong with it
  for (const [path, key] of lists) listRequirement(draft, { path, key, items });
  if (isOldest(draft)) selectorsIntersect(draft);
  else if (options.ignoreDefaults !== true) items.push(...impliedFor(draft, items));
}

function listRequirement(draft: Draft, { path, key, items }: { path: Path; key: string; items: unknown[] }): void {
  const said = draft.said(path);
  const values = typeof said === "string" ? [said] : said;
  if (values === undefined || (Array.isArray(values) && values.length === 0)) return; // an empty list constrains nothing
  if (!Array.isArray(values) || values.some((value) => typeof value !== "string")) {
    draft.refuse({ code: "type", rule: "01 §7.7", path, message: "must be a list of words", expected: "list of text" });
    return;
  }
  draft.moves.push({ from: path, to: [...to, items.length] }, { from: path, to: [...to, items.length, "values"] });
  items.push({ key, operator: "In", values: [...values] });
}

/** Labels of the pool are requirements too: what they say needs no default. */
function impliedFor(draft: Draft, items: readonly unknown[]): readonly unknown[] {
  const poolLabels = draft.says(at("spec.template.metadata.labels"));
  const said = new Set<unknown>([
    ...items.map((item) => (isRecord(item) ? item["key"] : undefined)),
    ...(isRecord(poolLabels) ? Object.keys(poolLabels) : []),
  ]);
  const missing = implied.filter(({ key }) => !said.has(key));
  const types = narrowing.some((key) => said.has(key)) ? [] : impliedTypes;
  return structuredClone([...missing, ...types]);
}

function isOldest(draft: Draft): boolean {
  return ["karpenter.sh/v1alpha3", "karpenter.sh/v1alpha4"].includes(String(draft.said(["apiVersion"])));
}

/** A pod's selector used to override these lists; today both must hold. (01 §7.7) */
function selectorsIntersect(draft: Draft): void {
  const first = lists.find(([path]) => draft.said(path) !== undefined);
  if (first === undefined) return;
  draft.note({
    code: "selectors-intersect",
    path: first[0],
    message: "pods could override this list with a node selector; in v1 pool and pod must both agree",
    advice: "add what such pods ask for, or give them a pool of their own",
  });
}
