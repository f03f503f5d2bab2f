import type { ConditionObservation } from "../../api/conditions/condition.ts";
import { type NodeClaimDependent, nodeClaimConditions } from "../../api/conditions/node-claim.ts";
import {
  clearCondition,
  refreshCondition,
  setCondition,
  setConditionTrue,
  withConditions,
} from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";

type IndependentConditionType = (typeof nodeClaimConditions.independents)[number];
type ClaimConditionType = NodeClaimDependent | IndependentConditionType;

const conditionSet = nodeClaimConditions;

export function withClaimConditionTrue(claim: NodeClaim, type: ClaimConditionType, nowMs: number): NodeClaim {
  return withConditions(claim, setConditionTrue(claim, { set: conditionSet, type, nowMs }));
}

export function withClaimCondition(
  claim: NodeClaim,
  type: ClaimConditionType,
  { nowMs, ...finding }: ConditionObservation & { readonly nowMs: number },
): NodeClaim {
  return withConditions(claim, setCondition(claim, { set: conditionSet, type, nowMs, ...finding }));
}

/** Keeps the condition and marks it as observed for the current generation. (03:L-5) */
export function withClaimConditionRefreshed(claim: NodeClaim, type: NodeClaimDependent, nowMs: number): NodeClaim {
  return withConditions(claim, refreshCondition(claim, { set: conditionSet, type, nowMs }));
}

export function withoutClaimCondition(claim: NodeClaim, type: IndependentConditionType): NodeClaim {
  return withConditions(claim, clearCondition(claim, { conditionSet, type }));
}
