import { compatibilityAnnotations } from "../labels.ts";
import { isRecord } from "../object.ts";
import { aliasOf, resolvedAmiFamily } from "../validation/ami-family.ts";
import { at, type Draft } from "./draft.ts";
import { annotation, lose, stripAnnotations } from "./pool-to-v1beta1.ts";

const paths = {
  family: at("spec.amiFamily"),
  terms: at("spec.amiSelectorTerms"),
  devices: at("spec.blockDeviceMappings"),
} as const;

/** Fields that came after v1beta1. (01 §7.2) */
const newer = [
  "kubelet",
  "capacityReservationSelectorTerms",
  "placementGroupSelector",
  "ipPrefixCount",
  "networkInterfaces",
  "connectionTracking",
  "cpuOptions",
].map((field) => ["spec", field]);

/** v1 EC2NodeClass to v1beta1. (01 §7.5, read backwards) */
export function classToBeta(draft: Draft): void {
  const ubuntu = draft.said(annotation(compatibilityAnnotations.ubuntu));
  aliasBack(draft);
  if (typeof ubuntu === "string") {
    draft.put(paths.family, "Ubuntu");
    if (ubuntu.split(",").includes("blockDeviceMappings")) draft.omit(paths.devices);
  }
  for (const path of newer) lose(draft, path);
  stripAnnotations(draft);
}

function hasPlainAlias(term: unknown): boolean {
  return isRecord(term) && (term["alias"] === undefined || typeof term["alias"] === "string");
}

/** Beta names a family; a pinned version waits in an annotation for the way forth. */
function aliasBack(draft: Draft): void {
  const terms = draft.said(paths.terms);
  if (!Array.isArray(terms) || !terms.every(hasPlainAlias)) return;
  const alias = aliasOf({ amiSelectorTerms: terms });
  if (alias === undefined) return;
  draft.omit(paths.terms);
  const family = draft.said(paths.family);
  if (typeof family !== "string") draft.put(paths.family, resolvedAmiFamily({ amiSelectorTerms: terms }), paths.terms);
  if (alias.version === "latest") draft.omit(annotation(compatibilityAnnotations.aliasVersion));
  else draft.put(annotation(compatibilityAnnotations.aliasVersion), alias.version);
}
