import type { Condition, Conditioned } from "../../api/conditions/condition.ts";
import { getCondition, isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels } from "../../api/labels.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import type { KubeObject } from "../../api/object.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { consolidationReadiness } from "../disruption/consolidation-window.ts";
import { isDueForInstanceTypeCheck, isInstanceTypeNotFound, poolDriftReason } from "../disruption/drift-reason.ts";
import type { InstanceType } from "../instance-type.ts";

export interface DisruptionConditionContext {
  readonly typesFor: (nodeClass: NodeClassRef) => readonly InstanceType[];
  readonly labelPolicy: LabelPolicy;
  readonly nowMs: number;
}

/**
 * Claims with the conditions Consolidatable and Drifted as the controller would set them at this time; conditions that
 * are given are kept. What only the cloud knows of drift is not known here. (03:M-4 to M-7)
 */
export function withDisruptionConditions(
  objects: readonly KubeObject[],
  context: DisruptionConditionContext,
): readonly KubeObject[] {
  const pools = new Map(
    objects.filter(({ kind }) => kind === "NodePool").map((pool) => [pool.metadata.name ?? "", pool]),
  );
  return objects.map((object) => {
    const pool = object.kind === "NodeClaim" ? pools.get(object.metadata.labels?.[labels.nodePool] ?? "") : undefined;
    if (pool === undefined || object.metadata.deletionTimestamp !== undefined) return object;
    const claim = object as unknown as NodeClaim;
    const found = missingConditions(claim, pool as unknown as NodePool, context);
    if (found.length === 0) return object;
    return { ...object, status: { ...claim.status, conditions: [...(claim.status?.conditions ?? []), ...found] } };
  });
}

function missingConditions(
  claim: NodeClaim,
  pool: NodePool,
  context: DisruptionConditionContext,
): readonly Condition[] {
  const { nowMs } = context;
  const isGiven = (type: string): boolean => getCondition(claim as Conditioned, type) !== undefined;
  const readiness = consolidationReadiness(claim, pool);
  const isConsolidatable = readiness.isPossible && nowMs >= readiness.fromMs;
  const drift = isGiven("Drifted") ? undefined : driftReasonOf(claim, pool, context);
  const condition = (type: string, reason: string): Condition => ({
    type,
    status: "True",
    reason,
    message: "",
    lastTransitionTime: rfc3339(nowMs),
  });
  return [
    ...(isConsolidatable && !isGiven("Consolidatable") ? [condition("Consolidatable", "Consolidatable")] : []),
    ...(drift === undefined ? [] : [condition("Drifted", drift)]),
  ];
}

function driftReasonOf(
  claim: NodeClaim,
  pool: NodePool,
  { labelPolicy, typesFor, nowMs }: DisruptionConditionContext,
): string | undefined {
  if (!isStatusConditionTrue(claim as Conditioned, "Launched")) return undefined;
  const reason = poolDriftReason(claim, pool, labelPolicy);
  if (reason !== undefined || !isDueForInstanceTypeCheck(claim, nowMs)) return reason;
  const types = typesFor(pool.spec.template.spec.nodeClassRef);
  return isInstanceTypeNotFound(claim, types, labelPolicy) ? "InstanceTypeNotFound" : undefined;
}
