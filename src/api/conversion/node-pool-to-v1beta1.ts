import { compatibilityAnnotations } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { type ConversionDraft, fieldPath } from "./conversion-draft.ts";
import { defaultClassKind, defaultClassName } from "./node-class-ref.ts";

const poolPaths = {
  ref: fieldPath("spec.template.spec.nodeClassRef"),
  kubelet: fieldPath("spec.template.spec.kubelet"),
  requirements: fieldPath("spec.template.spec.requirements"),
  expiry: fieldPath("spec.template.spec.expireAfter"),
  oldExpiry: fieldPath("spec.disruption.expireAfter"),
  policy: fieldPath("spec.disruption.consolidationPolicy"),
  after: fieldPath("spec.disruption.consolidateAfter"),
  budgets: fieldPath("spec.disruption.budgets"),
} as const;

/** v1 NodePool to v1beta1. (01 §7.3) */
export function nodePoolToV1beta1(draft: ConversionDraft): void {
  restoreClassRef(draft, poolPaths.ref);
  restoreKubelet(draft, poolPaths.kubelet);
  draft.moveField(poolPaths.expiry, poolPaths.oldExpiry);
  restorePolicy(draft);
  dropBudgetReasons(draft);
  rewriteBounds(draft, poolPaths.requirements);
  for (const path of [
    fieldPath("spec.template.spec.terminationGracePeriod"),
    fieldPath("spec.replicas"),
    fieldPath("spec.limits.nodes"),
  ])
    dropField(draft, path);
  stripCompatibilityAnnotations(draft);
}

/** v1 NodeClaim to v1beta1, where expireAfter is a field of the pool only. */
export function nodeClaimToV1beta1(draft: ConversionDraft): void {
  restoreClassRef(draft, fieldPath("spec.nodeClassRef"));
  restoreKubelet(draft, fieldPath("spec.kubelet"));
  rewriteBounds(draft, fieldPath("spec.requirements"));
  draft.removeField(fieldPath("spec.expireAfter"));
  dropField(draft, fieldPath("spec.terminationGracePeriod"));
  stripCompatibilityAnnotations(draft);
}

/** The original reference if the class is unchanged; none if it had been assumed; else a new one. */
function restoreClassRef(draft: ConversionDraft, path: FieldPath): void {
  const ref = draft.sourceValue(path);
  if (!isRecord(ref)) return;
  const { group, ...rest } = ref;
  const kept = parsedJson(draft.sourceValue(annotationPath(compatibilityAnnotations.nodeClassReference)));
  if (isRecord(kept) && kept["name"] === ref["name"]) {
    draft.setField(path, kept);
    return;
  }
  if (kept === null && ref["name"] === defaultClassName && ref["kind"] === defaultClassKind) {
    draft.removeField(path);
    return;
  }
  draft.setField(path, { apiVersion: `${String(group)}/v1beta1`, ...rest });
  draft.moves.push({ from: [...path, "group"], to: [...path, "apiVersion"] });
}

function restoreKubelet(draft: ConversionDraft, path: FieldPath): void {
  const kept = parsedJson(draft.sourceValue(annotationPath(compatibilityAnnotations.kubelet)));
  if (isRecord(kept)) draft.setField(path, kept);
}

function restorePolicy(draft: ConversionDraft): void {
  const policy = draft.sourceValue(poolPaths.policy);
  if (policy !== "WhenEmptyOrUnderutilized" && policy !== "Balanced") return;
  draft.setField(poolPaths.policy, "WhenUnderutilized");
  // v1beta1 allows only Never with this policy, and Never must be kept. (01 §7.2, §9.19)
  if (draft.sourceValue(poolPaths.after) !== "Never") draft.removeField(poolPaths.after);
  if (policy !== "Balanced") return;
  draft.warn({
    code: "policy-lost",
    path: poolPaths.policy,
    message: "v1beta1 has no policy Balanced; shown as WhenUnderutilized",
    advice: "read the object as v1",
  });
}

function dropBudgetReasons(draft: ConversionDraft): void {
  const budgets = draft.resultValue(poolPaths.budgets);
  if (!Array.isArray(budgets)) return;
  budgets.forEach((budget: unknown, index) => {
    if (!isRecord(budget) || budget["reasons"] === undefined) return;
    dropField(draft, [...poolPaths.budgets, index, "reasons"]);
  });
}

/** Gte and Lte over whole numbers are Gt and Lt of the neighbour; below zero there is none. */
function rewriteBounds(draft: ConversionDraft, path: FieldPath): void {
  const items = draft.resultValue(path);
  if (!Array.isArray(items)) return;
  items.forEach((item: unknown, index) => {
    if (!isRecord(item) || (item["operator"] !== "Gte" && item["operator"] !== "Lte")) return;
    const value = Number(Array.isArray(item["values"]) ? item["values"][0] : Number.NaN);
    const neighbour = item["operator"] === "Gte" ? value - 1 : value + 1;
    const hasNeighbour = Number.isSafeInteger(neighbour) && neighbour >= 0;
    if (hasNeighbour)
      items[index] = { ...item, operator: item["operator"] === "Gte" ? "Gt" : "Lt", values: [String(neighbour)] };
    else items[index] = { ...item, operator: "Exists", values: [] };
    if (!hasNeighbour) warnDropped(draft, [...path, index, "operator"]);
  });
}

export function dropField(draft: ConversionDraft, path: FieldPath): void {
  if (draft.resultValue(path) === undefined) return;
  draft.removeField(path);
  warnDropped(draft, path);
}

function warnDropped(draft: ConversionDraft, path: FieldPath): void {
  draft.warn({
    code: "field-dropped",
    path,
    message: "v1beta1 has no such field or value",
    advice: "read the object as v1",
  });
}

export function annotationPath(name: string): FieldPath {
  return ["metadata", "annotations", name];
}

/** Removes annotations that exist only for conversion. */
export function stripCompatibilityAnnotations(draft: ConversionDraft): void {
  for (const name of [
    compatibilityAnnotations.nodeClassReference,
    compatibilityAnnotations.kubelet,
    compatibilityAnnotations.ubuntu,
    compatibilityAnnotations.storedVersionMigrated,
  ]) {
    draft.removeField(annotationPath(name));
  }
  const left = draft.resultValue(fieldPath("metadata.annotations"));
  if (isRecord(left) && Object.keys(left).length === 0) draft.removeField(fieldPath("metadata.annotations"));
}

function parsedJson(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the annotation was edited by hand: ignore it
  }
}
