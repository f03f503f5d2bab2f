import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";

/** The number of a requirement. Equal requirements have the same number, so they compare as integers. */
export type RequirementId = number;

/** Several requirements, at most one for a key. */
export interface RequirementSet {
  readonly id: number;
  readonly members: readonly RequirementId[];
  readonly requirements: Requirements;
}

/**
 * Every distinct requirement of a pass, and the intersections of any two, computed once: thousands of pods compare the
 * same few requirements. (02 §10.3-6)
 */
export class RequirementTable {
  readonly #idByIdentity = new Map<string, RequirementId>();
  readonly #requirements: Requirement[] = [];
  readonly #intersections: Map<RequirementId, RequirementId>[] = [];
  readonly #disjoint: Map<RequirementId, boolean>[] = [];
  readonly #sets = new Map<string, RequirementSet>();
  /** By the list itself: lists of tied domains are long and are asked for again and again. */
  readonly #unions = new WeakMap<readonly RequirementId[], RequirementId>();

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
    if (requirement === undefined) throw new Error(`unknown requirement id ${id}`);
    return requirement;
  }

  keyOf(id: RequirementId): string {
    return this.get(id).key;
  }

  /** `Requirement.intersection`: the added requirement with the existing one. */
  intersection(added: RequirementId, existing: RequirementId): RequirementId {
    const row = this.#intersections[added] ?? new Map<RequirementId, RequirementId>();
    const known = row.get(existing);
    if (known !== undefined) return known;
    const result = this.idOf(this.get(added).intersection(this.get(existing)));
    row.set(existing, result);
    return result;
  }

  /** Whether no value satisfies both; two negative requirements never conflict. (02:R-25) */
  areDisjoint(a: RequirementId, b: RequirementId): boolean {
    const row = this.#disjoint[a] ?? new Map<RequirementId, boolean>();
    const known = row.get(b);
    if (known !== undefined) return known;
    const [left, right] = [this.get(a), this.get(b)];
    const result = !left.hasIntersection(right) && !(left.isNegative && right.isNegative);
    row.set(b, result);
    return result;
  }

  /** What any of several finite requirements on one key allows. */
  anyOf(ids: readonly RequirementId[]): RequirementId {
    const [first] = ids;
    if (first === undefined || ids.length === 1) return first ?? -1;
    const known = this.#unions.get(ids);
    if (known !== undefined) return known;
    const values = new Set(ids.flatMap((id) => [...this.get(id).values]));
    const result = this.idOf(Requirement.in(this.keyOf(first), [...values]));
    this.#unions.set(ids, result);
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
