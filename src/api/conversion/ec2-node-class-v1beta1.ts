import { bootstrapTwice, fillGaps } from "./class-gaps.ts";
import { images } from "./class-images.ts";
import { at, type Draft } from "./draft.ts";
import type { ConversionOptions } from "./outcome.ts";

const base = at("spec");
const source = { family: at("spec.amiFamily"), terms: at("spec.amiSelectorTerms") };

/** v1beta1 EC2NodeClass to v1; most fields stay where they are. (01 §7.5) */
export function ec2NodeClassFromBeta(draft: Draft, options: ConversionOptions): void {
  if (!draft.isObject(base)) return;
  const family = draft.said(source.family);
  images(draft, { source, family });
  fillGaps(draft, { base, options });
  bootstrapTwice(draft, { base, family });
}
