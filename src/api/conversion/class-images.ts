import { compatibilityAnnotations } from "../labels.ts";
import { closest } from "../manifest/closest.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { at, type Draft, shown } from "./draft.ts";

/** Families whose images v1 finds by alias. */
const aliasFamilies = ["AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022"] as const;

const paths = {
  family: at("spec.amiFamily"),
  terms: at("spec.amiSelectorTerms"),
  devices: at("spec.blockDeviceMappings"),
  annotations: at("metadata.annotations"),
} as const;

/** Where the source wrote its family and its image selector. */
export interface ImageSource {
  readonly family: Path;
  readonly terms: Path;
}

/** v1 names an image by alias or by terms; before, a family alone was enough. The draft already holds the terms. (01 §7.5) */
export function images(draft: Draft, { source, family }: { source: ImageSource; family: unknown }): void {
  const terms = draft.says(paths.terms);
  const hasTerms = Array.isArray(terms) ? terms.length > 0 : terms !== undefined;
  const known = aliasFamilies.find((one) => one === family);
  if (known !== undefined) eksFamily(draft, { source, hasTerms, family: known });
  else if (family === "Ubuntu") ubuntu(draft, { source, hasTerms });
  else if (family === undefined || family === "" || family === "Custom") custom(draft, { source, hasTerms });
  else unknownFamily(draft, { source, family });
}

/** Terms are kept beside the family; without any, the alias says both and the family goes. */
function eksFamily(
  draft: Draft,
  { source, hasTerms, family }: { source: ImageSource; hasTerms: boolean; family: (typeof aliasFamilies)[number] },
): void {
  if (family === "AL2") retiring(draft, source);
  if (hasTerms) {
    draft.put(paths.family, family, source.family);
    return;
  }
  draft.omit(paths.family);
  const version = draft.said([...paths.annotations, compatibilityAnnotations.aliasVersion]) ?? "latest";
  draft.put(paths.terms, [{ alias: `${family.toLowerCase()}@${shown(version)}` }], source.family);
}

/** Its images are found by terms alone; the rest of it is AL2's. (01 §7.5) */
function ubuntu(draft: Draft, { source, hasTerms }: { source: ImageSource; hasTerms: boolean }): void {
  if (!hasTerms) {
    draft.refuse({
      code: "not-convertible",
      rule: "01 §7.5",
      path: source.family,
      message: "v1 finds no Ubuntu images by itself: there is no alias for them",
      expected: "spec.amiSelectorTerms naming the images",
    });
    return;
  }
  const addsDisk = draft.says(paths.devices) === undefined;
  draft.put(paths.family, "AL2", source.family);
  if (addsDisk) draft.put(paths.devices, [ubuntuRoot]);
  const changed = addsDisk ? "amiFamily,blockDeviceMappings" : "amiFamily";
  const held = draft.says(paths.annotations);
  draft.put(paths.annotations, { ...(isRecord(held) ? held : {}), [compatibilityAnnotations.ubuntu]: changed });
  draft.note({
    code: "ubuntu-as-al2",
    path: source.family,
    message: `v1 has no family Ubuntu; its user data is AL2's, so amiFamily became AL2${addsDisk ? " and its root disk was written out" : ""}`,
    advice: "check that the images still boot, or use amiFamily: Custom with user data of your own",
  });
}

const ubuntuRoot = {
  deviceName: "/dev/sda1",
  rootVolume: true,
  ebs: { encrypted: true, volumeType: "gp3", volumeSize: "20Gi" },
} as const;

function custom(draft: Draft, { source, hasTerms }: { source: ImageSource; hasTerms: boolean }): void {
  draft.put(paths.family, "Custom", source.family);
  if (hasTerms) return;
  draft.refuse({
    code: "required",
    rule: "01 §7.5",
    path: source.terms,
    message: "amiFamily Custom finds no images by itself",
    expected: "at least one term naming the images",
  });
}

function unknownFamily(draft: Draft, { source, family }: { source: ImageSource; family: unknown }): void {
  const near = closest(shown(family), [...aliasFamilies, "Ubuntu", "Custom"]);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  draft.refuse({
    code: "enum",
    rule: "01 §7.5",
    path: source.family,
    message: `unknown amiFamily ${shown(family)}${hint}`,
    expected: [...aliasFamilies, "Custom"].join(", "),
  });
}

function retiring(draft: Draft, source: ImageSource): void {
  draft.note({
    code: "al2-retired",
    path: draft.said(source.family) === undefined ? source.family.slice(0, -1) : source.family,
    message: "AL2 images are not made for Kubernetes 1.33 and later: there the class never becomes ready",
    advice: "move to al2023@latest; its user data has another format",
  });
}
