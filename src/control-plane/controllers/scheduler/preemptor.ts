import type { ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { PodDisruptionBudgetObject } from "../workloads/types.ts";
import type { FilterRefusal } from "./filter-refusal.ts";
import type { PodProfile } from "./pod-profile.ts";
import { type PreemptionBudget, preempt } from "./preemption.ts";
import type { SchedulerCache } from "./scheduler-cache.ts";
import type { SchedulingConditions } from "./scheduling-conditions.ts";
import type { SchedulingQueue } from "./scheduling-queue.ts";

export interface PreemptorOptions {
  readonly name: string;
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly conditions: SchedulingConditions;
}

export interface PreemptionAttempt {
  /** What follows `preemption:` in the pod's message. */
  readonly message?: string;
  /** The node that was nominated. */
  readonly node?: string;
  readonly victims: readonly PodProfile[];
}

/** Preempts pods of lower priority. */
export class Preemptor {
  readonly #context: ControllerContext;
  readonly #name: string;
  readonly #cache: SchedulerCache;
  readonly #queue: SchedulingQueue;
  readonly #conditions: SchedulingConditions;

  constructor(context: ControllerContext, { name, cache, queue, conditions }: PreemptorOptions) {
    this.#context = context;
    this.#name = name;
    this.#cache = cache;
    this.#queue = queue;
    this.#conditions = conditions;
  }

  /** Nominates a node from which pods of lower priority can be evicted to make room. */
  attempt(pod: PodProfile, refusals: ReadonlyMap<string, FilterRefusal>): PreemptionAttempt {
    const nominated = this.#cache.nominationOf(pod.key);
    const isBeingCleared = [...(this.#cache.node(nominated ?? "")?.pods.values() ?? [])].some(
      (other) => other.isTerminating && other.priority < pod.priority,
    );
    if (nominated !== undefined && isBeingCleared) {
      const message = "not eligible due to a terminating pod on the nominated node.";
      return { message, node: nominated, victims: [] };
    }
    const outcome = preempt(pod, { snapshot: this.#cache, refusals, budgets: this.#budgets() });
    if (outcome.kind === "none") {
      this.#cache.removeNomination(pod.key);
      return { message: outcome.message, victims: [] };
    }
    this.#cache.nominate(pod, outcome.node);
    return { node: outcome.node, victims: outcome.victims };
  }

  /** Deletes a victim; if that fails, the pod is tried again. */
  async evict(victim: PodProfile, { pod, node }: { readonly pod: PodProfile; readonly node: string }): Promise<void> {
    const { client, recordEvent, reportFailure } = this.#context;
    const { name = "", namespace, uid } = victim.pod.metadata;
    if (victim.isTerminating) return;
    try {
      await this.#conditions.setCondition(victim.pod, {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: `${this.#name}: preempting to accommodate a higher priority pod`,
      });
      await client.delete(builtInTypes.Pod, { name, namespace }, uid === undefined ? {} : { preconditions: { uid } });
      const message = `Preempted by pod ${pod.uid} on node ${node}`;
      recordEvent(victim.pod, { type: "Normal", reason: "Preempted", message });
    } catch (error) {
      if (!isKubeError(error, "not-found", "conflict")) {
        reportFailure({ kind: "reconcile-failed", controller: this.#name, key: victim.key, error });
        if (this.#queue.has(pod.key)) this.#queue.retryAfterBackOff(pod);
      }
    }
  }

  #budgets(): readonly PreemptionBudget[] {
    return this.#context
      .view<PodDisruptionBudgetObject>(builtInTypes.PodDisruptionBudget)
      .all()
      .map(({ metadata, spec, status }) => ({
        namespace: metadata.namespace ?? "",
        selector: spec.selector,
        disruptionsAllowed: status?.disruptionsAllowed ?? 0,
        disruptedPods: new Set(Object.keys(status?.disruptedPods ?? {})),
      }));
  }
}
