import type { Requirement } from "./requirement.ts";
import type { Requirements } from "./requirements.ts";

/** Why a node, or a node to be, cannot be what is asked for. */
export type RequirementConflict = UndefinedKey | NoIntersection;

/** The label is asked for and the node side does not know it. (02:R-26) */
export interface UndefinedKey {
  readonly code: "undefined-key";
  readonly key: string;
  readonly incoming: Requirement;
  /** A known key that looks much like it. (02:R-28) */
  readonly similarKey?: string;
}

/** Both sides speak of the label and no value suits both. (02:R-25) */
export interface NoIntersection {
  readonly code: "no-intersection";
  readonly key: string;
  readonly incoming: Requirement;
  readonly existing: Requirement;
}

export interface CompatibilityOptions {
  /** Keys the node side may leave undefined: the well-known ones where a node is yet to be chosen. (02:R-27) */
  readonly allowUndefined?: ReadonlySet<string>;
}

const noKeys: ReadonlySet<string> = new Set();

/**
 * What stands between a node (or template, or offering's taker) and what is asked of it; empty when nothing does.
 * Not symmetric: a demand for an unknown label fails, a label nobody asked for does not. (02:R-26)
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

/** Whether every label both speak of has a value that suits both. (02:R-25) */
export function intersects(a: Requirements, b: Requirements): boolean {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  for (const requirement of few) {
    if (many.has(requirement.key) && areDisjoint(many.get(requirement.key), requirement)) return false;
  }
  return true;
}

/** Every label on which the two cannot agree, by key. (02:R-25) */
export function noIntersections(existing: Requirements, incoming: Requirements): readonly NoIntersection[] {
  const found: NoIntersection[] = [];
  for (const key of existing.sortedKeys()) {
    if (!incoming.has(key) || !areDisjoint(existing.get(key), incoming.get(key))) continue;
    found.push({ code: "no-intersection", key, incoming: incoming.get(key), existing: existing.get(key) });
  }
  return found;
}

/** The text upstream's users know. */
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

/** Two negatives never conflict: a node without the label pleases both. (02:R-25) */
function areDisjoint(a: Requirement, b: Requirement): boolean {
  return !a.hasIntersection(b) && !(a.isNegative && b.isNegative);
}

function isUndefined(node: Requirements, incoming: Requirement, allowed: ReadonlySet<string>): boolean {
  return !allowed.has(incoming.key) && !node.has(incoming.key) && !incoming.isNegative;
}

/** Only the first is told. */
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
