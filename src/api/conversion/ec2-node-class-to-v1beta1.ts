import { compatibilityAnnotations } from "../labels.ts";
import { isRecord } from "../object.ts";
import { amiAliasOf, resolvedAmiFamily } from "../validation/ami-family.ts";
import { type ConversionDraft, fieldPath } from "./conversion-draft.ts";
import { annotationPath, dropField, stripCompatibilityAnnotations } from "./node-pool-to-v1beta1.ts";

const paths = {
  family: fieldPath("spec.amiFamily"),
  terms: fieldPath("spec.amiSelectorTerms"),
  devices: fieldPath("spec.blockDeviceMappings"),
} as const;

/** Fields that came after v1beta1. (01 §7.2) */
const fieldsAfterV1beta1 = [
  "kubelet",
  "capacityReservationSelectorTerms",
  "placementGroupSelector",
  "ipPrefixCount",
  "networkInterfaces",
  "connectionTracking",
  "cpuOptions",
].map((field) => ["spec", field]);

/** v1 EC2NodeClass to v1beta1. (01 §7.5) */
export function ec2NodeClassToV1beta1(draft: ConversionDraft): void {
  const ubuntu = draft.sourceValue(annotationPath(compatibilityAnnotations.ubuntu));
  restoreFamilyFromAlias(draft);
  if (typeof ubuntu === "string") {
    draft.setField(paths.family, "Ubuntu");
    if (ubuntu.split(",").includes("blockDeviceMappings")) draft.removeField(paths.devices);
  }
  for (const path of fieldsAfterV1beta1) dropField(draft, path);
  stripCompatibilityAnnotations(draft);
}

function hasPlainAlias(term: unknown): boolean {
  return isRecord(term) && (term["alias"] === undefined || typeof term["alias"] === "string");
}

/** v1beta1 has the family only; a pinned version is kept in an annotation for converting back to v1. */
function restoreFamilyFromAlias(draft: ConversionDraft): void {
  const terms = draft.sourceValue(paths.terms);
  if (!Array.isArray(terms) || !terms.every(hasPlainAlias)) return;
  const alias = amiAliasOf({ amiSelectorTerms: terms });
  if (alias === undefined) return;
  draft.removeField(paths.terms);
  const family = draft.sourceValue(paths.family);
  if (typeof family !== "string")
    draft.setField(paths.family, resolvedAmiFamily({ amiSelectorTerms: terms }), paths.terms);
  if (alias.version === "latest") draft.removeField(annotationPath(compatibilityAnnotations.aliasVersion));
  else draft.setField(annotationPath(compatibilityAnnotations.aliasVersion), alias.version);
}
