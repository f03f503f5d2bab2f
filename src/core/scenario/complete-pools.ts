import type { Condition, Conditioned } from "../../api/conditions/condition.ts";
import { nodePoolConditions } from "../../api/conditions/node-pool.ts";
import { setConditionTrue } from "../../api/conditions/set-condition.ts";
import type { KubeObject } from "../../api/object.ts";
import { defaultBudgetNodes, defaultExpireAfter } from "../../api/vocabulary.ts";

/** Fills in the API's defaults and the conditions of a healthy pool. */
export function completePool(pool: KubeObject): KubeObject {
  const spec = pool.spec as IncompletePool;
  const { template, disruption } = spec;
  const budgets = disruption?.budgets ?? [{}];
  const completed = {
    ...spec,
    template: { ...template, spec: { expireAfter: defaultExpireAfter, ...template?.spec } },
    disruption: {
      consolidateAfter: "0s",
      consolidationPolicy: "WhenEmptyOrUnderutilized",
      ...disruption,
      budgets: budgets.map((budget) => ({ ...budget, nodes: budget.nodes || defaultBudgetNodes })),
    },
  };
  return { ...pool, spec: completed, status: { ...(pool.status ?? {}), conditions: completeConditions(pool) } };
}

/** A pool that may lack defaults. */
interface IncompletePool {
  readonly template?: { readonly spec?: Readonly<Record<string, unknown>> };
  readonly disruption?: { readonly budgets?: readonly { readonly nodes?: string }[] };
}

/** Each condition that is not given is True; Ready follows from them. */
function completeConditions(pool: KubeObject): readonly Condition[] {
  const since = pool.metadata.creationTimestamp ?? "";
  const given = (pool as unknown as Conditioned).status?.conditions ?? [];
  const missing = [...nodePoolConditions.dependents, ...nodePoolConditions.independents].filter((type) =>
    given.every((condition) => condition.type !== type),
  );
  let conditions: readonly Condition[] = given;
  for (const type of missing) {
    const object: Conditioned = { metadata: pool.metadata, status: { conditions } };
    conditions = setConditionTrue(object, { set: nodePoolConditions, type, nowMs: Date.parse(since) || 0 });
  }
  return conditions.map((condition) => ({
    message: "",
    ...condition,
    reason: condition.reason || condition.type,
    lastTransitionTime: condition.lastTransitionTime || since,
  }));
}
