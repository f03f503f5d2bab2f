import { compatibilityAnnotations } from "../labels.ts";
import { didYouMean } from "../manifest/closest-match.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { type ConversionDraft, fieldPath, valueText } from "./conversion-draft.ts";

/** Families of v1beta1 that v1 has an alias for; Windows2025 came later. */
const aliasFamilies = ["AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022"] as const;

const paths = {
  family: fieldPath("spec.amiFamily"),
  terms: fieldPath("spec.amiSelectorTerms"),
  devices: fieldPath("spec.blockDeviceMappings"),
  annotations: fieldPath("metadata.annotations"),
} as const;

/** The paths of family and image selector in the source. */
export interface ImageSource {
  readonly family: FieldPath;
  readonly terms: FieldPath;
}

/** v1 names an image by alias or by terms; before, a family alone was enough. The draft already holds the terms. (01 §7.5) */
export function convertImages(
  draft: ConversionDraft,
  { source, family }: { source: ImageSource; family: unknown },
): void {
  const terms = draft.resultValue(paths.terms);
  const hasTerms = Array.isArray(terms) ? terms.length > 0 : terms !== undefined;
  const known = aliasFamilies.find((one) => one === family);
  if (known !== undefined) convertEksFamily(draft, { source, hasTerms, family: known });
  else if (family === "Ubuntu") convertUbuntu(draft, { source, hasTerms });
  else if (family === undefined || family === "" || family === "Custom") convertCustom(draft, { source, hasTerms });
  else refuseUnknownFamily(draft, { source, family });
}

/** With terms, the family is kept; without any, an alias replaces it. */
function convertEksFamily(
  draft: ConversionDraft,
  { source, hasTerms, family }: { source: ImageSource; hasTerms: boolean; family: (typeof aliasFamilies)[number] },
): void {
  if (family === "AL2") warnAl2Retired(draft, source);
  if (hasTerms) {
    draft.setField(paths.family, family, source.family);
    return;
  }
  draft.removeField(paths.family);
  const version = draft.sourceValue([...paths.annotations, compatibilityAnnotations.aliasVersion]) ?? "latest";
  draft.setField(paths.terms, [{ alias: `${family.toLowerCase()}@${valueText(version)}` }], source.family);
}

/** Ubuntu images are selected by terms; everything else is like AL2. (01 §7.5) */
function convertUbuntu(draft: ConversionDraft, { source, hasTerms }: { source: ImageSource; hasTerms: boolean }): void {
  if (!hasTerms) {
    draft.addProblem({
      code: "not-convertible",
      rule: "01 §7.5",
      path: source.family,
      message: "v1 has no alias for Ubuntu images",
      expected: "spec.amiSelectorTerms naming the images",
    });
    return;
  }
  const addsDisk = draft.resultValue(paths.devices) === undefined;
  draft.setField(paths.family, "AL2", source.family);
  if (addsDisk) draft.setField(paths.devices, [ubuntuRootDevice]);
  const changed = addsDisk ? "amiFamily,blockDeviceMappings" : "amiFamily";
  const held = draft.resultValue(paths.annotations);
  draft.setField(paths.annotations, { ...(isRecord(held) ? held : {}), [compatibilityAnnotations.ubuntu]: changed });
  draft.warn({
    code: "ubuntu-as-al2",
    path: source.family,
    message: `v1 has no family Ubuntu; its user data is AL2's, so amiFamily became AL2${addsDisk ? " and its root disk was written out" : ""}`,
    advice: "check that the images still boot, or use amiFamily: Custom with user data of your own",
  });
}

const ubuntuRootDevice = {
  deviceName: "/dev/sda1",
  rootVolume: true,
  ebs: { encrypted: true, volumeType: "gp3", volumeSize: "20Gi" },
} as const;

function convertCustom(draft: ConversionDraft, { source, hasTerms }: { source: ImageSource; hasTerms: boolean }): void {
  draft.setField(paths.family, "Custom", source.family);
  if (hasTerms) return;
  draft.addProblem({
    code: "required",
    rule: "01 §7.5",
    path: source.terms,
    message: "amiFamily Custom has no default images",
    expected: "at least one term naming the images",
  });
}

function refuseUnknownFamily(
  draft: ConversionDraft,
  { source, family }: { source: ImageSource; family: unknown },
): void {
  const hint = didYouMean(valueText(family), [...aliasFamilies, "Ubuntu", "Custom"]);
  draft.addProblem({
    code: "enum",
    rule: "01 §7.5",
    path: source.family,
    message: `unknown amiFamily ${valueText(family)}${hint}`,
    expected: [...aliasFamilies, "Custom"].join(", "),
  });
}

function warnAl2Retired(draft: ConversionDraft, source: ImageSource): void {
  draft.warn({
    code: "al2-retired",
    path: draft.sourceValue(source.family) === undefined ? source.family.slice(0, -1) : source.family,
    message: "there are no AL2 images for Kubernetes 1.33 and later; on such a cluster the class never becomes ready",
    advice: "move to al2023@latest; its user data has another format",
  });
}
