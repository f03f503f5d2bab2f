import type { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";

/** A requirement by number. Equal requirements have equal numbers, so comparing is comparing integers. */
export type RequirementId = number;

/** Several requirements at once, one a key, by number. */
export interface RequirementSet {
  readonly id: number;
  readonly members: readonly RequirementId[];
  readonly requirements: Requirements;
}

/**
 * Every requirement of a pass, kept once, and what any two of them amount to, worked out once. Pods of a workload ask
 * the same questions thousands of times; here the answers are table look-ups. (02 §10.3-6)
 */
export class RequirementTable {
  readonly #idByIdentity = new Map<string, RequirementId>();
  readonly #requirements: Requirement[] = [];
  readonly #intersections: Map<RequirementId, RequirementId>[] = [];
  readonly #disjoint: Map<RequirementId, boolean>[] = [];
  readonly #sets = new Map<string, RequirementSet>();

  idOf(requirement: Requirement): RequirementId {
    const text = requirement.identity;
    const known = this.#idByIdentity.get(text);
    if (known !== undefined) return known;
    const id = this.#requirements.length;
    this.#idByIdentity.set(text, id);
    this.#requirements.push(requirement);
    this.#intersections.push(new Map());
    this.#disjoint.push(new Map());
    return id;
  }

  get(id: RequirementId): Requirement {
    const requirement = this.#requirements[id];
    if (requirement === undefined) throw new Error(`no requirement has number ${id}`);
    return requirement;
  }

  keyOf(id: RequirementId): string {
    return this.get(id).key;
  }

  /** As `Requirement.intersection`, the first being what is added. */
  intersection(added: RequirementId, existing: RequirementId): RequirementId {
    const row = this.#intersections[added] ?? new Map<RequirementId, RequirementId>();
    const known = row.get(existing);
    if (known !== undefined) return known;
    const result = this.idOf(this.get(added).intersection(this.get(existing)));
    row.set(existing, result);
    return result;
  }

  /** Whether no value suits both; two negatives never conflict. (02:R-25) */
  areDisjoint(a: RequirementId, b: RequirementId): boolean {
    const row = this.#disjoint[a] ?? new Map<RequirementId, boolean>();
    const known = row.get(b);
    if (known !== undefined) return known;
    const [left, right] = [this.get(a), this.get(b)];
    const result = !left.hasIntersection(right) && !(left.isNegative && right.isNegative);
    row.set(b, result);
    return result;
  }

  setOf(requirements: Requirements): RequirementSet {
    const members = requirements.sortedKeys().map((key) => this.idOf(requirements.get(key)));
    const text = members.join();
    const known = this.#sets.get(text);
    if (known !== undefined) return known;
    const set = { id: this.#sets.size, members, requirements };
    this.#sets.set(text, set);
    return set;
  }
}
