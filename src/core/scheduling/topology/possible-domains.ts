import type { Toleration } from "../../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../../api/label-policy.ts";
import { labels, type Taint } from "../../../api/labels.ts";
import type { Requirement } from "../../requirement.ts";
import { Requirements } from "../../requirements.ts";
import { firstUntoleratedTaint } from "../../tolerations.ts";
import type { Pool } from "../problem.ts";

/** The taints under which pools offer a domain, one list a pool; an untainted pool makes the others irrelevant. */
type TaintSets = readonly (readonly Taint[])[];

/**
 * Every value a topology key could have on new nodes of the pools. Computed for a key when first asked: most labels are
 * never a topology key. Whether offerings are available does not matter here. (02:X-1, §12.2-8, §12.2-11)
 */
export class PossibleDomains {
  readonly #pools: readonly { readonly base: Requirements; readonly taints: readonly Taint[]; readonly pool: Pool }[];
  readonly #byKey = new Map<string, ReadonlyMap<string, TaintSets>>();

  constructor(pools: readonly Pool[], policy: LabelPolicy) {
    this.#pools = pools
      .filter(({ instanceTypes }) => instanceTypes.length > 0)
      .map((pool) => {
        const { template } = pool.nodePool.spec;
        const base = Requirements.fromItems(template.spec.requirements, policy).add(
          ...Requirements.fromLabels(template.metadata?.labels ?? {}, policy),
        );
        return { base, taints: template.spec.taints ?? [], pool };
      });
  }

  /** Domains of a key; with tolerations, only those that a pool with tolerated taints offers. */
  domainsOf(key: string, tolerations?: readonly Toleration[]): readonly string[] {
    if (key === labels.hostname) return []; // every node is a domain of its own (02:X-2)
    const known = this.#byKey.get(key) ?? this.#collect(key);
    this.#byKey.set(key, known);
    return [...known]
      .filter(
        ([, taintSets]) =>
          tolerations === undefined || taintSets.some((taints) => !firstUntoleratedTaint(tolerations, taints)),
      )
      .map(([domain]) => domain)
      .sort();
  }

  #collect(key: string): ReadonlyMap<string, TaintSets> {
    const found = new Map<string, TaintSets>();
    for (const { base, taints, pool } of this.#pools) {
      const values = new Set<string>();
      const add = (requirement: Requirement): void => {
        if (!requirement.complement) for (const value of requirement.values) values.add(value);
      };
      if (base.has(key)) add(base.get(key));
      for (const { requirements } of pool.instanceTypes) {
        if (!requirements.has(key)) continue;
        add(base.has(key) ? requirements.get(key).intersection(base.get(key)) : requirements.get(key));
      }
      for (const value of values) found.set(value, withTaintSet(found.get(value), taints));
    }
    return found;
  }
}

function withTaintSet(known: TaintSets | undefined, taints: readonly Taint[]): TaintSets {
  if (taints.length === 0 || known?.some((set) => set.length === 0)) return [[]];
  return [...(known ?? []), taints];
}
