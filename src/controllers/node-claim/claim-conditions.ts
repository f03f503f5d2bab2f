import type { Observation } from "../../api/conditions/condition.ts";
import { clear, refresh, setCondition, setTrue, withConditions } from "../../api/conditions/engine.ts";
import { type NodeClaimDependent, nodeClaimConditions } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";

type Independent = (typeof nodeClaimConditions.independents)[number];
type Type = NodeClaimDependent | Independent;

const set = nodeClaimConditions;

export function withTrue(claim: NodeClaim, type: Type, nowMs: number): NodeClaim {
  return withConditions(claim, setTrue(claim, { set, type, nowMs }));
}

export function withFinding(
  claim: NodeClaim,
  type: Type,
  { nowMs, ...finding }: Observation & { readonly nowMs: number },
): NodeClaim {
  return withConditions(claim, setCondition(claim, { set, type, nowMs, ...finding }));
}

/** What was decided stays decided, for the claim as it is now. (03:L-5) */
export function restamped(claim: NodeClaim, type: NodeClaimDependent, nowMs: number): NodeClaim {
  return withConditions(claim, refresh(claim, { set, type, nowMs }));
}

export function without(claim: NodeClaim, type: Independent): NodeClaim {
  return withConditions(claim, clear(claim, { set, type }));
}
