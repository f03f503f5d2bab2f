import type { Outline } from "../scheduling/outline.ts";
import type { Pass, Shop } from "../scheduling/pass-state.ts";
import type { RequirementId } from "../scheduling/requirement-table.ts";
import { NodeFilter } from "../scheduling/topology/node-filter.ts";

/**
 * What topologies other than hosts can see of a planned node. Pods moved between nodes of one signature change no
 * count: whatever was right about zones stays right. (02:X-40)
 */
export class Signatures {
  /** Topology keys in use, hosts aside. */
  readonly keys: readonly string[];
  readonly #filters: readonly NodeFilter[];
  readonly #known = new Map<Outline, number>();
  readonly #numbers = new Map<string, number>();

  constructor({ topology }: Pass) {
    const groups = [...topology.groups, ...topology.inverse];
    this.keys = [...new Set(groups.filter(({ isHostname }) => !isHostname).map(({ spec }) => spec.key))].sort();
    this.#filters = [...new Set(groups.map(({ spec }) => spec.filter))].filter((filter) => filter !== NodeFilter.none);
  }

  of(shop: Shop, outline: Outline): number {
    const known = this.#known.get(outline);
    if (known !== undefined) return known;
    const taints = shop.template.nodePool.spec.template.spec.taints ?? [];
    const seen = this.#filters.map((filter) =>
      filter.matches({ requirements: outline.requirements, hostname: undefined, taints }),
    );
    const text = [...this.idsOf(outline), ...seen].join();
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(outline, number);
    return number;
  }

  /** The outline's requirements on the keys, -1 where it has none. */
  idsOf(outline: Outline): readonly RequirementId[] {
    return this.keys.map((key) => outline.get(key) ?? -1);
  }
}
