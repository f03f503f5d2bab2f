import type { Requirement } from "./requirement.ts";
import type { Requirements } from "./requirements.ts";

/** Why a node or a planned node cannot satisfy requirements. */
export type RequirementConflict = UndefinedKey | NoIntersection;

/** The label is required and the node side does not define it. (02:R-26) */
export interface UndefinedKey {
  readonly code: "undefined-key";
  readonly key: string;
  readonly incoming: Requirement;
  /** A known key that looks similar. (02:R-28) */
  readonly similarKey?: string;
}

/** Both sides define the label and no value satisfies both. (02:R-25) */
export interface NoIntersection {
  readonly code: "no-intersection";
  readonly key: string;
  readonly incoming: Requirement;
  readonly existing: Requirement;
}

export interface CompatibilityOptions {
  /** Keys the node side may leave undefined: the well-known ones for nodes that are not chosen yet. (02:R-27) */
  readonly allowUndefined?: ReadonlySet<string>;
}

const noKeys: ReadonlySet<string> = new Set();

/**
 * Why a node (or a template, or a claim that takes an offering) does not satisfy requirements; empty if it does. Not
 * symmetric: requiring an undefined label fails, an extra label does not. (02:R-26)
 */
export function requirementConflicts(
  node: Requirements,
  incoming: Requirements,
  options: CompatibilityOptions = {},
): readonly RequirementConflict[] {
  const undefinedKey = firstUndefinedKey(node, incoming, options.allowUndefined ?? noKeys);
  return undefinedKey === undefined ? noIntersections(node, incoming) : [undefinedKey];
}

export function isCompatible(node: Requirements, incoming: Requirements, options: CompatibilityOptions = {}): boolean {
  const allowed = options.allowUndefined ?? noKeys;
  for (const requirement of incoming) if (isUndefined(node, requirement, allowed)) return false;
  return intersects(node, incoming);
}

/** Whether every label that both define has a value that satisfies both. (02:R-25) */
export function intersects(a: Requirements, b: Requirements): boolean {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  for (const requirement of few) {
    if (many.has(requirement.key) && areDisjoint(many.get(requirement.key), requirement)) return false;
  }
  return true;
}

/** Labels for which no value satisfies both, by key. (02:R-25) */
export function noIntersections(existing: Requirements, incoming: Requirements): readonly NoIntersection[] {
  const found: NoIntersection[] = [];
  for (const key of existing.sortedKeys()) {
    if (!incoming.has(key) || !areDisjoint(existing.get(key), incoming.get(key))) continue;
    found.push({ code: "no-intersection", key, incoming: incoming.get(key), existing: existing.get(key) });
  }
  return found;
}

/** In upstream's words. */
export function describeRequirementConflicts(found: readonly RequirementConflict[]): string {
  return found.map(describeConflict).join("; ");
}

function describeConflict(conflict: RequirementConflict): string {
  if (conflict.code === "no-intersection") {
    return `key ${conflict.key}, ${conflict.incoming} not in ${conflict.existing}`;
  }
  const hint = conflict.similarKey === undefined ? "" : ` (typo of ${JSON.stringify(conflict.similarKey)}?)`;
  return `label ${JSON.stringify(conflict.key)} does not have known values${hint}`;
}

/** Two negatives never conflict: a node without the label satisfies both. (02:R-25) */
function areDisjoint(a: Requirement, b: Requirement): boolean {
  return !a.hasIntersection(b) && !(a.isNegative && b.isNegative);
}

function isUndefined(node: Requirements, incoming: Requirement, allowed: ReadonlySet<string>): boolean {
  return !allowed.has(incoming.key) && !node.has(incoming.key) && !incoming.isNegative;
}

/** Only the first is reported. */
function firstUndefinedKey(
  node: Requirements,
  incoming: Requirements,
  allowed: ReadonlySet<string>,
): UndefinedKey | undefined {
  const key = incoming.sortedKeys().find((one) => isUndefined(node, incoming.get(one), allowed));
  if (key === undefined) return undefined;
  const similarKey = [...[...allowed].sort(), ...node.sortedKeys()].find((known) => isSimilarKey(known, key));
  const failure = { code: "undefined-key", key, incoming: incoming.get(key) } as const;
  return similarKey === undefined ? failure : { ...failure, similarKey };
}

/** Contains the key, or ends as the key does after its domain. (02:R-28) */
function isSimilarKey(known: string, key: string): boolean {
  const slash = key.indexOf("/");
  return known.includes(key) || known.endsWith(key.slice(slash + 1));
}
