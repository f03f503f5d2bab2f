import type { RequirementState, RequirementStates } from "./requirement-state.ts";
import type { RequirementId } from "./requirement-table.ts";
import type { Variant } from "./variants.ts";

interface TopologyNarrowing<Result> {
  readonly variant: Variant;
  readonly requirementStates: RequirementStates;
  /** Checks requirements that satisfy every topology rule. */
  readonly accept: (requirementState: RequirementState) => Result | undefined;
  /** Whether `accept` could accept these requirements once they are narrower; it never does if this is false. */
  readonly couldAccept: (requirementState: RequirementState) => boolean;
}

/** For each rule the domains it allows, all of them equally good. */
type Choices = readonly (readonly RequirementId[])[];

/**
 * Narrows a candidate's requirements until every topology rule is satisfied, and passes them to `accept`. If a rule has
 * several equally good domains, the next is tried when `accept` refuses the first. Every rule sees the domains from
 * before any narrowing. (02:X-20, 02 §12.1-3)
 */
export function narrowByTopology<Result>(
  requirementState: RequirementState,
  narrowing: TopologyNarrowing<Result>,
): Result | undefined {
  const { variant, requirementStates, accept } = narrowing;
  if (variant.domainRules.length === 0) return accept(requirementState);
  const choices: (readonly RequirementId[])[] = [];
  let hasTies = false;
  let narrowed: RequirementState | null = requirementState;
  for (const rule of variant.domainRules) {
    if (rule.group.isDormant) continue;
    const options = rule.group.domainOptions(rule, requirementState.get(rule.group.spec.key));
    const [first] = options;
    if (first === undefined) return undefined;
    choices.push(options);
    hasTies ||= options.length > 1;
    narrowed &&= requirementStates.narrow(narrowed, first);
  }
  const result = narrowed === null ? undefined : accept(narrowed);
  return result !== undefined || !hasTies ? result : searchTiedDomains(requirementState, choices, narrowing);
}

/** Combinations of tied domains that are tried beyond one attempt for each domain. */
const maxTiedCombinations = 256;

/**
 * Tries combinations of tied domains, the last rule's next domain first. Their number is the product of all ties, so a
 * choice that no instance type can meet together with any domain of the other rules is dropped at once, and attempts are
 * limited: what is left can only fail for minValues or reserved capacity.
 */
function searchTiedDomains<Result>(
  requirementState: RequirementState,
  choices: Choices,
  { requirementStates, accept, couldAccept }: TopologyNarrowing<Result>,
): Result | undefined {
  let attempts = maxTiedCombinations;
  let anyChoice: RequirementState | null = requirementState;
  for (const options of choices) {
    attempts += options.length;
    anyChoice &&= requirementStates.narrowToAny(anyChoice, options);
  }
  const descend = (at: number, narrowed: RequirementState): Result | undefined => {
    const options = choices[at];
    if (options === undefined) return accept(narrowed);
    const isLast = at === choices.length - 1;
    for (const option of options) {
      if (attempts-- <= 0) return undefined;
      const next = requirementStates.narrow(narrowed, option);
      if (next === null || !(isLast || next === narrowed || couldAccept(next))) continue;
      const result = descend(at + 1, next);
      if (result !== undefined) return result;
    }
    return undefined;
  };
  return anyChoice !== null && couldAccept(anyChoice) ? descend(0, anyChoice) : undefined;
}

/** Whether some topology rule allows no domain at all, so that no candidate need be tried. */
export function hasUnsatisfiableTopology({ domainRules }: Variant): boolean {
  return domainRules.some((rule) => !rule.group.isDormant && rule.group.domainOptions(rule, undefined).length === 0);
}
