import type { Bitset } from "../../util/bitset.ts";
import type { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";
import type { RequirementId, RequirementSet, RequirementTable } from "./requirement-table.ts";

/** The instance types left for a set of requirements. Always empty for existing nodes: their type is settled. */
export interface InstanceTypeOptions {
  /** Columns that match and have an available offering. */
  readonly columns: Bitset;
}

/** Finds the instance types left, from requirement ids by key. */
type FindInstanceTypeOptions = (byKey: ReadonlyMap<string, RequirementId>) => InstanceTypeOptions;

/**
 * The requirements of a node, without the hostname, and the instance types left for them. States are shared: equal
 * requirements are the same state, and the result of merging a requirement set is cached on it. (02 §10.3-4, §10.3-6)
 */
export class RequirementState {
  readonly id: number;
  readonly byKey: ReadonlyMap<string, RequirementId>;
  readonly instanceTypeOptions: InstanceTypeOptions;
  /** Results of merging, by id of the requirement set; null where it conflicts. */
  readonly merged = new Map<number, RequirementState | null>();
  /** The same for single requirements, which topology adds. */
  readonly narrowed = new Map<RequirementId, RequirementState | null>();
  #requirements: Requirements | undefined;
  #hasMinValues: boolean | undefined;
  readonly #table: RequirementTable;

  constructor(parts: {
    id: number;
    byKey: ReadonlyMap<string, RequirementId>;
    instanceTypeOptions: InstanceTypeOptions;
    table: RequirementTable;
  }) {
    this.id = parts.id;
    this.byKey = parts.byKey;
    this.instanceTypeOptions = parts.instanceTypeOptions;
    this.#table = parts.table;
  }

  get(key: string): RequirementId | undefined {
    return this.byKey.get(key);
  }

  /** Whether some requirement has minValues. */
  get hasMinValues(): boolean {
    this.#hasMinValues ??= this.requirements.hasMinValues;
    return this.#hasMinValues;
  }

  get requirements(): Requirements {
    this.#requirements ??= Requirements.of(...[...this.byKey.values()].map((id): Requirement => this.#table.get(id)));
    return this.#requirements;
  }
}

interface RequirementStatesOptions {
  readonly table: RequirementTable;
  /** Keys a node may leave undefined although a pod has a requirement on them. (02:R-27) */
  readonly allowUndefined: ReadonlySet<string>;
  readonly optionsFor: FindInstanceTypeOptions;
}

/** The requirement states of one pool template, or of the existing nodes. */
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

  /** The state after adding the requirements of a pod or volume; null where they conflict. (02:R-26) */
  merge(requirementState: RequirementState, incoming: RequirementSet): RequirementState | null {
    const known = requirementState.merged.get(incoming.id);
    if (known !== undefined) return known;
    const result = this.#join(requirementState, incoming.members);
    requirementState.merged.set(incoming.id, result);
    return result;
  }

  /** `merge` for one requirement. */
  narrow(requirementState: RequirementState, requirement: RequirementId): RequirementState | null {
    const known = requirementState.narrowed.get(requirement);
    if (known !== undefined) return known;
    const result = this.#join(requirementState, [requirement]);
    requirementState.narrowed.set(requirement, result);
    return result;
  }

  /** `narrow` to what any of several finite requirements on one key allows. */
  narrowToAny(requirementState: RequirementState, requirements: readonly RequirementId[]): RequirementState | null {
    return this.narrow(requirementState, this.#options.table.anyOf(requirements));
  }

  /** Whether a set conflicts for good: requirements only narrow, so disjoint ones stay disjoint. */
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
      instanceTypeOptions: optionsFor(byKey),
      table,
    });
    this.#byRequirementIds.set(text, requirementState);
    return requirementState;
  }
}
