import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import type { RequirementState } from "../scheduling/requirement-state.ts";
import type { RequirementId } from "../scheduling/requirement-table.ts";
import { TopologyNodeFilter } from "../scheduling/topology/topology-node-filter.ts";

/**
 * What topologies other than hosts can see of a planned node. Pods moved between nodes of one signature change no
 * count: whatever was right about zones stays right. (02:X-40)
 */
export class TopologySignatures {
  /** Topology keys in use, hosts aside. */
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
    const seen = this.#filters.map((filter) =>
      filter.matches({ requirements: requirementState.requirements, hostname: undefined, taints }),
    );
    const text = [...this.idsOf(requirementState), ...seen].join();
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(requirementState, number);
    return number;
  }

  /** The outline's requirements on the keys, -1 where it has none. */
  idsOf(requirementState: RequirementState): readonly RequirementId[] {
    return this.keys.map((key) => requirementState.get(key) ?? -1);
  }
}
