import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { compileSelector } from "../../src/core/label-selector.ts";
import type { PodDisruptionBudget } from "../../src/core/pod-predicates.ts";
import { type StoredObjects, storages } from "../world/stored-objects.ts";

export type StoredPod = KubeObject & Pod;
export type Budget = KubeObject & PodDisruptionBudget & { readonly status?: BudgetStatus };

interface BudgetStatus {
  readonly desiredHealthy?: number;
  readonly disruptionsAllowed?: number;
}

/** Whether evictions leave as many healthy pods as their budgets ask for. */
export class BudgetChecks {
  readonly #record: StoredObjects;
  readonly #complain: (what: string) => void;
  /** Uids of evicted pods. */
  readonly #evicted = new Set<string>();

  constructor(record: StoredObjects, complain: (what: string) => void) {
    this.#record = record;
    this.#complain = complain;
  }

  /** Called before a pod is evicted. Returns what to call once the eviction has passed. */
  evicting(pod: StoredPod): () => void {
    const budgets = isHealthy(pod) ? this.#budgetsOf(pod) : []; // as they are when the server decides
    return () => {
      this.#evicted.add(pod.metadata.uid ?? "");
      for (const budget of budgets) this.#check(budget, pod);
    };
  }

  #budgetsOf(pod: StoredPod): readonly Budget[] {
    return this.#record.all<Budget>(storages.budgets).filter((budget) => covers(budget, pod));
  }

  /**
   * Pods that a rollout or a user deleted since the budget last counted count as left: no budget guards against that, and no
   * eviction can know of it.
   */
  #check(budget: Budget, { metadata }: StoredPod): void {
    const pods = this.#record.all<StoredPod>(storages.pods).filter((pod) => covers(budget, pod));
    const isLeft = (pod: StoredPod) => isHealthy(pod) || (this.#isDeletedByOthers(pod) && isNewer(pod, budget));
    const left = pods.filter(isLeft).length;
    const desired = budget.status?.desiredHealthy ?? 0;
    if (left >= desired) return;
    const key = `${metadata.namespace}/${metadata.name}`;
    this.#complain(`evicted ${key}: budget ${budget.metadata.name} wants ${desired}, has ${left}`);
  }

  #isDeletedByOthers(pod: StoredPod): boolean {
    return pod.metadata.deletionTimestamp !== undefined && isReady(pod) && !this.#evicted.has(pod.metadata.uid ?? "");
  }
}

export function covers(budget: Budget, { metadata }: StoredPod): boolean {
  if (budget.metadata.namespace !== metadata.namespace) return false;
  return compileSelector(budget.spec?.selector).matches(metadata.labels);
}

function isHealthy(pod: StoredPod): boolean {
  return pod.metadata.deletionTimestamp === undefined && isReady(pod);
}

function isReady({ status }: StoredPod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

function isNewer(one: KubeObject, other: KubeObject): boolean {
  return Number(one.metadata.resourceVersion) > Number(other.metadata.resourceVersion);
}
