import type { ConversionOptions } from "./conversion.ts";
import { type ConversionDraft, fieldPath } from "./conversion-draft.ts";
import { fillNodeClassGaps, warnDoubleBootstrap } from "./node-class-gaps.ts";
import { convertImages } from "./node-class-images.ts";

const base = fieldPath("spec");
const source = { family: fieldPath("spec.amiFamily"), terms: fieldPath("spec.amiSelectorTerms") };

/** v1beta1 EC2NodeClass to v1; most fields keep their path. (01 §7.5) */
export function ec2NodeClassFromV1beta1(draft: ConversionDraft, options: ConversionOptions): void {
  if (!draft.checkIsObject(base)) return;
  const family = draft.sourceValue(source.family);
  convertImages(draft, { source, family });
  fillNodeClassGaps(draft, { base, options });
  warnDoubleBootstrap(draft, { base, family });
}
