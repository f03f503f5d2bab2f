import type { RequirementState, RequirementStates } from "./requirement-state.ts";
import type { Variant } from "./variants.ts";

interface TopologyNarrowing<Result> {
  readonly variant: Variant;
  readonly requirementStates: RequirementStates;
  /** Checks requirements that satisfy every topology rule. */
  readonly accept: (requirementState: RequirementState) => Result | undefined;
}

/**
 * Narrows a candidate's requirements until every topology rule is satisfied, and passes them to `accept`. If a rule has
 * several equally good domains, the next is tried when `accept` refuses the first. Every rule sees the domains from
 * before any narrowing. (02:X-20, 02 §12.1-3)
 */
export function narrowByTopology<Result>(
  requirementState: RequirementState,
  { variant, requirementStates, accept }: TopologyNarrowing<Result>,
): Result | undefined {
  const rules = variant.domainRules;
  if (rules.length === 0) return accept(requirementState);
  const descend = (at: number, narrowed: RequirementState): Result | undefined => {
    const rule = rules[at];
    if (rule === undefined) return accept(narrowed);
    for (const allowed of rule.group.domainOptions(rule, requirementState.get(rule.group.spec.key))) {
      const next = requirementStates.narrow(narrowed, allowed);
      const result = next === null ? undefined : descend(at + 1, next);
      if (result !== undefined) return result;
    }
    return undefined;
  };
  return descend(0, requirementState);
}

/** Whether some topology rule allows no domain at all, so that no candidate need be tried. */
export function hasUnsatisfiableTopology({ domainRules }: Variant): boolean {
  return domainRules.some((rule) => rule.group.domainOptions(rule, undefined).length === 0);
}
