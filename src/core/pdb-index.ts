import type { Pod } from "../api/kubernetes/pod.ts";
import { namespaceOf } from "../api/object.ts";
import type { CompiledPdb, PdbLookup } from "./pod-predicates.ts";

/** Budgets of one namespace. */
interface NamespaceBudgets {
  /** By a label that all pods of the budget have: key, then value. */
  readonly byLabel: Map<string, Map<string, CompiledPdb[]>>;
  readonly others: CompiledPdb[];
}

const noBudgets: readonly CompiledPdb[] = [];

/** PodDisruptionBudgets by what they select: a pod is compared with few of them, however many there are. */
export class PdbIndex implements PdbLookup {
  readonly #positions: ReadonlyMap<CompiledPdb, number>;
  readonly #byNamespace = new Map<string, NamespaceBudgets>();

  constructor(budgets: readonly CompiledPdb[]) {
    this.#positions = new Map(budgets.map((budget, position) => [budget, position]));
    for (const budget of budgets) this.#add(budget);
  }

  /** The budgets that select the pod, in the order they were given. */
  matching({ metadata }: Pod): readonly CompiledPdb[] {
    const budgets = this.#byNamespace.get(namespaceOf(metadata));
    if (budgets === undefined) return noBudgets;
    let found: CompiledPdb[] | undefined;
    const keepMatching = (some: readonly CompiledPdb[]): void => {
      for (const budget of some) {
        if (!budget.selector.matches(metadata.labels)) continue;
        if (found === undefined) found = [budget];
        else found.push(budget);
      }
    };
    for (const [key, byValue] of budgets.byLabel) {
      const value = metadata.labels?.[key];
      if (value !== undefined) keepMatching(byValue.get(value) ?? noBudgets);
    }
    keepMatching(budgets.others);
    if (found === undefined) return noBudgets;
    return found.length === 1 ? found : found.sort((a, b) => this.#positionOf(a) - this.#positionOf(b));
  }

  #positionOf(budget: CompiledPdb): number {
    return this.#positions.get(budget) ?? 0;
  }

  #add(budget: CompiledPdb): void {
    const budgets: NamespaceBudgets = this.#byNamespace.get(budget.namespace) ?? { byLabel: new Map(), others: [] };
    this.#byNamespace.set(budget.namespace, budgets);
    const { indexPair } = budget.selector;
    if (indexPair === undefined) {
      budgets.others.push(budget);
      return;
    }
    const byValue = budgets.byLabel.get(indexPair.key) ?? new Map<string, CompiledPdb[]>();
    budgets.byLabel.set(indexPair.key, byValue);
    byValue.set(indexPair.value, [...(byValue.get(indexPair.value) ?? []), budget]);
  }
}
