import type { Outline, Outlines } from "./outline.ts";
import type { TopologyRule } from "./pod-class.ts";
import type { Variant } from "./variants.ts";

interface Settling<Result> {
  readonly variant: Variant;
  readonly outlines: Outlines;
  /** Judges requirements that satisfy every topology rule. */
  readonly finish: (outline: Outline) => Result | undefined;
}

/**
 * Narrows a candidate's requirements until every topology rule is content, and lets `finish` judge the result. Where a
 * rule has several equally good domains, the next is tried when the first leads nowhere. Each rule sees the domains as
 * they were before any other narrowed them. (02:X-20, 02 §12.1-3)
 */
export function settle<Result>(outline: Outline, { variant, outlines, finish }: Settling<Result>): Result | undefined {
  const rules = variant.domainRules;
  if (rules.length === 0) return finish(outline);
  const descend = (at: number, narrowed: Outline): Result | undefined => {
    const rule = rules[at];
    if (rule === undefined) return finish(narrowed);
    for (const allowed of options(rule, outline)) {
      const next = outlines.tighten(narrowed, allowed);
      const result = next === null ? undefined : descend(at + 1, next);
      if (result !== undefined) return result;
    }
    return undefined;
  };
  return descend(0, outline);
}

function options({ group, self, podDomains }: TopologyRule, outline: Outline): readonly number[] {
  return group.options(podDomains, outline.get(group.spec.key), self);
}

/** Whether some topology rule leaves no domain anywhere: then no candidate need be looked at. */
export function isHopeless({ domainRules }: Variant): boolean {
  return domainRules.some(({ group, self, podDomains }) => group.options(podDomains, undefined, self).length === 0);
}
