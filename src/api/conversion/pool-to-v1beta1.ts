import { compatibilityAnnotations } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { at, type Draft } from "./draft.ts";
import { defaultClassKind, defaultClassName } from "./node-class-ref.ts";

const pool = {
  ref: at("spec.template.spec.nodeClassRef"),
  kubelet: at("spec.template.spec.kubelet"),
  requirements: at("spec.template.spec.requirements"),
  expiry: at("spec.template.spec.expireAfter"),
  oldExpiry: at("spec.disruption.expireAfter"),
  policy: at("spec.disruption.consolidationPolicy"),
  after: at("spec.disruption.consolidateAfter"),
  budgets: at("spec.disruption.budgets"),
} as const;

/** v1 NodePool to v1beta1. (01 §7.3, way back) */
export function poolToBeta(draft: Draft): void {
  classRefBack(draft, pool.ref);
  kubeletBack(draft, pool.kubelet);
  draft.move(pool.expiry, pool.oldExpiry);
  policyBack(draft);
  reasonsLost(draft);
  boundsLost(draft, pool.requirements);
  for (const path of [at("spec.template.spec.terminationGracePeriod"), at("spec.replicas"), at("spec.limits.nodes")])
    lose(draft, path);
  stripAnnotations(draft);
}

/** v1 NodeClaim to v1beta1: its expiry is its pool's there. */
export function claimToBeta(draft: Draft): void {
  classRefBack(draft, at("spec.nodeClassRef"));
  kubeletBack(draft, at("spec.kubelet"));
  boundsLost(draft, at("spec.requirements"));
  draft.omit(at("spec.expireAfter"));
  lose(draft, at("spec.terminationGracePeriod"));
  stripAnnotations(draft);
}

/** The reference as it was once written, if its class is still the same one; none if it was assumed; else rebuilt. */
function classRefBack(draft: Draft, path: Path): void {
  const ref = draft.said(path);
  if (!isRecord(ref)) return;
  const { group, ...rest } = ref;
  const kept = parsed(draft.said(annotation(compatibilityAnnotations.nodeClassReference)));
  if (isRecord(kept) && kept["name"] === ref["name"]) {
    draft.put(path, kept);
    return;
  }
  if (kept === null && ref["name"] === defaultClassName && ref["kind"] === defaultClassKind) {
    draft.omit(path);
    return;
  }
  draft.put(path, { apiVersion: `${String(group)}/v1beta1`, ...rest });
  draft.moves.push({ from: [...path, "group"], to: [...path, "apiVersion"] });
}

function kubeletBack(draft: Draft, path: Path): void {
  const kept = parsed(draft.said(annotation(compatibilityAnnotations.kubelet)));
  if (isRecord(kept)) draft.put(path, kept);
}

function policyBack(draft: Draft): void {
  const policy = draft.said(pool.policy);
  if (policy !== "WhenEmptyOrUnderutilized" && policy !== "Balanced") return;
  draft.put(pool.policy, "WhenUnderutilized");
  // Beta allows only Never beside this policy, and Never must not get lost. (01 §7.2, trap 19)
  if (draft.said(pool.after) !== "Never") draft.omit(pool.after);
  if (policy !== "Balanced") return;
  draft.note({
    code: "policy-lost",
    path: pool.policy,
    message: "v1beta1 has no policy Balanced; shown as WhenUnderutilized",
    advice: "read the object as v1",
  });
}

function reasonsLost(draft: Draft): void {
  const budgets = draft.says(pool.budgets);
  if (!Array.isArray(budgets)) return;
  budgets.forEach((budget: unknown, index) => {
    if (!isRecord(budget) || budget["reasons"] === undefined) return;
    lose(draft, [...pool.budgets, index, "reasons"]);
  });
}

/** Gte and Lte over whole numbers are Gt and Lt of the neighbour; below zero there is none. */
function boundsLost(draft: Draft, path: Path): void {
  const items = draft.says(path);
  if (!Array.isArray(items)) return;
  items.forEach((item: unknown, index) => {
    if (!isRecord(item) || (item["operator"] !== "Gte" && item["operator"] !== "Lte")) return;
    const value = Number(Array.isArray(item["values"]) ? item["values"][0] : Number.NaN);
    const neighbour = item["operator"] === "Gte" ? value - 1 : value + 1;
    const says = Number.isSafeInteger(neighbour) && neighbour >= 0;
    if (says)
      items[index] = { ...item, operator: item["operator"] === "Gte" ? "Gt" : "Lt", values: [String(neighbour)] };
    else items[index] = { ...item, operator: "Exists", values: [] };
    if (!says) lost(draft, [...path, index, "operator"]);
  });
}

export function lose(draft: Draft, path: Path): void {
  if (draft.says(path) === undefined) return;
  draft.omit(path);
  lost(draft, path);
}

function lost(draft: Draft, path: Path): void {
  draft.note({ code: "field-dropped", path, message: "v1beta1 cannot say this", advice: "read the object as v1" });
}

export function annotation(name: string): Path {
  return ["metadata", "annotations", name];
}

/** What only served the conversion does not belong into the converted. */
export function stripAnnotations(draft: Draft): void {
  for (const name of [
    compatibilityAnnotations.nodeClassReference,
    compatibilityAnnotations.kubelet,
    compatibilityAnnotations.ubuntu,
    compatibilityAnnotations.storedVersionMigrated,
  ]) {
    draft.omit(annotation(name));
  }
  const left = draft.says(at("metadata.annotations"));
  if (isRecord(left) && Object.keys(left).length === 0) draft.omit(at("metadata.annotations"));
}

function parsed(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // someone edited the annotation by hand: as good as none
  }
}
