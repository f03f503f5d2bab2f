import type { Bitset } from "../../util/bitset.ts";
import type { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";
import type { RequirementId, RequirementSet, RequirementTable } from "./requirement-table.ts";

/** Which machines are left for a set of requirements. Existing nodes have none to choose from. */
export interface InstanceTypeOptions {
  /** Instance types (or groups of their offerings) that match and can be bought. */
  readonly columns: Bitset;
}

/** Works out the machines left for requirements, from their numbers by key. */
export type FindInstanceTypeOptions = (byKey: ReadonlyMap<string, RequirementId>) => InstanceTypeOptions;

/**
 * What a node must be: its requirements, hostname aside, and the machines left for them. Outlines are shared: equal
 * requirements are the same outline, and what a pod's wishes make of one is remembered on it. (02 §10.3-4, §10.3-6)
 */
export class RequirementState {
  readonly id: number;
  readonly byKey: ReadonlyMap<string, RequirementId>;
  readonly instanceTypeOptions: InstanceTypeOptions;
  /** By number of the incoming set: the outline it leads to, or null where it conflicts. */
  readonly merged = new Map<number, RequirementState | null>();
  /** The same by number of a single requirement, as topology adds them. */
  readonly narrowed = new Map<RequirementId, RequirementState | null>();
  #requirements: Requirements | undefined;
  #hasMinValues: boolean | undefined;
  readonly #table: RequirementTable;

  constructor(parts: {
    id: number;
    byKey: ReadonlyMap<string, RequirementId>;
    choice: InstanceTypeOptions;
    table: RequirementTable;
  }) {
    this.id = parts.id;
    this.byKey = parts.byKey;
    this.instanceTypeOptions = parts.choice;
    this.#table = parts.table;
  }

  get(key: string): RequirementId | undefined {
    return this.byKey.get(key);
  }

  /** Whether flexibility is asked for on some key. */
  get hasMinValues(): boolean {
    this.#hasMinValues ??= this.requirements.hasMinValues;
    return this.#hasMinValues;
  }

  get requirements(): Requirements {
    this.#requirements ??= Requirements.of(...[...this.byKey.values()].map((id): Requirement => this.#table.get(id)));
    return this.#requirements;
  }
}

export interface RequirementStatesOptions {
  readonly table: RequirementTable;
  /** Keys a node may leave undefined though a pod asks for them. (02:R-27) */
  readonly allowUndefined: ReadonlySet<string>;
  readonly optionsFor: FindInstanceTypeOptions;
}

/** The outlines of one template, or of the existing nodes. */
export class RequirementStates {
  readonly #byRequirementIds = new Map<string, RequirementState>();
  readonly #options: RequirementStatesOptions;

  constructor(options: RequirementStatesOptions) {
    this.#options = options;
  }

  of(requirements: Requirements): RequirementState {
    const { table } = this.#options;
    return this.#intern(new Map([...requirements].map((requirement) => [requirement.key, table.idOf(requirement)])));
  }

  /** What is left after a pod's (or volume's) requirements join in; null where they cannot. (02:R-26) */
  merge(requirementState: RequirementState, incoming: RequirementSet): RequirementState | null {
    const known = requirementState.merged.get(incoming.id);
    if (known !== undefined) return known;
    const result = this.#join(requirementState, incoming.members);
    requirementState.merged.set(incoming.id, result);
    return result;
  }

  /** The same for one requirement. */
  narrow(requirementState: RequirementState, requirement: RequirementId): RequirementState | null {
    const known = requirementState.narrowed.get(requirement);
    if (known !== undefined) return known;
    const result = this.#join(requirementState, [requirement]);
    requirementState.narrowed.set(requirement, result);
    return result;
  }

  /** Whether a set is refused for good: what a node must be only narrows, so that two that exclude each other always do. */
  excludes(requirementState: RequirementState, { members }: RequirementSet): boolean {
    const { table } = this.#options;
    return members.some((id) => {
      const existing = requirementState.get(table.keyOf(id));
      return existing !== undefined && table.areDisjoint(existing, id);
    });
  }

  #join(requirementState: RequirementState, incoming: readonly RequirementId[]): RequirementState | null {
    const { table, allowUndefined } = this.#options;
    let addsNothing = true;
    for (const id of incoming) {
      const existing = requirementState.get(table.keyOf(id));
      if (existing !== undefined) {
        if (table.areDisjoint(existing, id)) return null;
        addsNothing &&= table.intersection(id, existing) === existing;
      } else if (!allowUndefined.has(table.keyOf(id)) && !table.get(id).isNegative) {
        return null;
      } else {
        addsNothing = false;
      }
    }
    return addsNothing ? requirementState : this.#intern(this.#joined(requirementState, incoming));
  }

  #joined(requirementState: RequirementState, incoming: readonly RequirementId[]): ReadonlyMap<string, RequirementId> {
    const { table } = this.#options;
    const byKey = new Map(requirementState.byKey);
    for (const id of incoming) {
      const key = table.keyOf(id);
      const existing = byKey.get(key);
      byKey.set(key, existing === undefined ? id : table.intersection(id, existing));
    }
    return byKey;
  }

  #intern(byKey: ReadonlyMap<string, RequirementId>): RequirementState {
    const text = [...byKey.values()].sort((a, b) => a - b).join();
    const known = this.#byRequirementIds.get(text);
    if (known !== undefined) return known;
    const { table, optionsFor } = this.#options;
    const requirementState = new RequirementState({
      id: this.#byRequirementIds.size,
      byKey,
      choice: optionsFor(byKey),
      table,
    });
    this.#byRequirementIds.set(text, requirementState);
    return requirementState;
  }
}
