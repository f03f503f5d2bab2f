import { nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { ResourceList } from "../../api/kubernetes/pod.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";
import { Quantity } from "../../util/quantity.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { contextOfClaim, type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { scaledConcurrency } from "../settings.ts";
import { requeueOnConflict } from "../writes.ts";
import { withClaimCondition, withClaimConditionTrue } from "./claim-conditions.ts";
import {
  claimNamesForNode,
  indexClaimsAndNodes,
  isManagedClaim,
  type NodeKubeObject,
  nodeClaimView,
  nodeForClaim,
} from "./claim-lookups.ts";
import { writeClaim } from "./claim-steps.ts";
import { ownName } from "./triggers.ts";

const checkPeriodMs = 10 * 60_000;
const minShare = 0.9;

/** Compares the node's capacity with what was launched; it only reports. (03 §1.8) */
export function consistencyController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodeclaim.consistency",
    triggers: [
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownName),
      triggerOn<NodeKubeObject>(builtInTypes.Node, claimNamesForNode),
    ],
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    start: (context) => {
      indexClaimsAndNodes(context);
      return new ExpiringMap<number>(context.clock);
    },
    reconcile: requeueOnConflict(
      async (name: string, context: KarpenterContext, lastCheckedAt: ExpiringMap<number>) => {
        const claim = nodeClaimView(context).get(name);
        const node = claim && isManagedClaim(claim, context.cloud) ? nodeForClaim(claim, context) : undefined;
        if (claim === undefined || node === undefined) return undefined;
        return checkConsistency(claim, { node, lastCheckedAt }, contextOfClaim(claim, context));
      },
    ),
  });
}

interface ConsistencyCheck {
  readonly node: NodeKubeObject;
  /** When each claim was last checked, by uid. */
  readonly lastCheckedAt: ExpiringMap<number>;
}

async function checkConsistency(
  claim: NodeClaim,
  { node, lastCheckedAt }: ConsistencyCheck,
  context: KarpenterContext,
): Promise<RequeueAfter> {
  const now = context.clock.now();
  const { uid = "" } = claim.metadata;
  const last = lastCheckedAt.get(uid);
  if (last !== undefined) return { afterMs: last + checkPeriodMs - now };
  const issues = needsNodeShapeCheck(claim) ? nodeShapeIssues(node, claim) : [];
  await writeClaim(context.client, { before: claim, after: withConsistencyCondition(claim, issues, now) });
  lastCheckedAt.set(uid, context.clock.now(), checkPeriodMs); // after the write: when it expires we are due again
  for (const issue of issues) recordFailedCheck(claim, issue, context);
  return { afterMs: checkPeriodMs };
}

function withConsistencyCondition(claim: NodeClaim, issues: readonly string[], now: number): NodeClaim {
  if (issues.length === 0) return withClaimConditionTrue(claim, "ConsistentStateFound", now);
  const { consistencyCheckFailed: reason } = nodeClaimReasons;
  const finding = { status: "False", reason, message: "the node has less capacity than the instance type" } as const;
  return withClaimCondition(claim, "ConsistentStateFound", { ...finding, nowMs: now });
}

function needsNodeShapeCheck(claim: NodeClaim): boolean {
  return isStatusConditionTrue(claim, "Initialized") && claim.metadata.deletionTimestamp === undefined;
}

/** Requested resources of which the node has less than 90 % of what the claim's status promises. (03:C-2) */
function nodeShapeIssues({ status }: NodeKubeObject, claim: NodeClaim): readonly string[] {
  const names = Object.keys(claim.spec.resources?.requests ?? {}).sort();
  return names.flatMap((name) => {
    const [asked, expected, found] = [
      quantityOf(claim.spec.resources?.requests, name),
      quantityOf(claim.status?.capacity, name),
      quantityOf(status?.capacity, name),
    ];
    const share = found.toNumber() / expected.toNumber();
    if (asked.isZero() || expected.isZero() || share >= minShare) return [];
    const percent = (share * 100).toFixed(1);
    return [`expected ${expected} of resource ${name}, but found ${found} (${percent}% of expected)`];
  });
}

function quantityOf(list: ResourceList | undefined, name: string): Quantity {
  return Quantity.tryParse(list?.[name] ?? 0) ?? Quantity.zero;
}

function recordFailedCheck(claim: NodeClaim, issue: string, { log, recordEvent }: KarpenterContext): void {
  log.info("failed consistency check", { issue });
  recordEvent(claim, {
    type: "Warning",
    reason: "FailedConsistencyCheck",
    message: issue,
    dedupe: { values: [claim.metadata.uid ?? "", issue] },
  });
}
