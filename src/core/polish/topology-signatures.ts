import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import type { RequirementState } from "../scheduling/requirement-state.ts";
import type { RequirementId } from "../scheduling/requirement-table.ts";
import { TopologyNodeFilter } from "../scheduling/topology/topology-node-filter.ts";

/**
 * What topology groups other than by host read of a planned node. Moving pods between nodes with equal signatures changes
 * no count, so every constraint stays satisfied. (02:X-40)
 */
export class TopologySignatures {
  /** Topology keys in use, without the hostname. */
  readonly keys: readonly string[];
  readonly #filters: readonly TopologyNodeFilter[];
  readonly #known = new Map<RequirementState, number>();
  readonly #numbers = new Map<string, number>();

  constructor({ topology }: Pass) {
    const groups = [...topology.groups, ...topology.inverseGroups];
    this.keys = [...new Set(groups.filter(({ isHostname }) => !isHostname).map(({ spec }) => spec.key))].sort();
    this.#filters = [...new Set(groups.map(({ spec }) => spec.filter))].filter(
      (filter) => filter !== TopologyNodeFilter.none,
    );
  }

  of(poolTemplate: PoolTemplate, requirementState: RequirementState): number {
    const known = this.#known.get(requirementState);
    if (known !== undefined) return known;
    const { taints } = poolTemplate.nodeClaimTemplate;
    const matches = this.#filters.map((filter) =>
      filter.matches({ requirements: requirementState.requirements, hostname: undefined, taints }),
    );
    const text = [...this.idsOf(requirementState), ...matches].join();
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(requirementState, number);
    return number;
  }

  /** Requirement ids of the keys, -1 where there is none. */
  idsOf(requirementState: RequirementState): readonly RequirementId[] {
    return this.keys.map((key) => requirementState.get(key) ?? -1);
  }
}
