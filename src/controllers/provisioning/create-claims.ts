import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { annotations, labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OverlaidTypes } from "../../core/overlay.ts";
import { nodeClaimOf } from "../../core/round/node-claims.ts";
import type { PlannedNode } from "../../core/scheduling/decision.ts";
import { isBufferPod, isVirtualPod } from "../../core/virtual-pods.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { forEachConcurrent } from "../../util/concurrent.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import type { WorkBudget } from "../work-budget.ts";
import { exceededLimitMessage } from "./limits.ts";
import { joinedNames, logReference } from "./log-text.ts";
import { isPoolHealthy, recordPodPlaced } from "./pod-decisions.ts";
import { nominatedEvent, podEventSubject } from "./scheduling-events.ts";

/** How many claims are created or deleted at a time, wherever it is done. */
export const maxClaimsInFlight = 100;

export interface ClaimCreationOptions {
  /** As the round saw them: their hash and template go into the claims. (02:L-6) */
  readonly pools: ReadonlyMap<string, NodePool>;
  /** Label `reason` of the metric: `provisioned`, or why nodes are replaced. */
  readonly reason: string;
  /** Whether pods get Nominated events. */
  readonly recordsPodEvents: boolean;
  /** For yielding between claims. */
  readonly budget: WorkBudget;
}

/** The claims of planned nodes. */
export interface ClaimCreationResult {
  /** In the order of the planned nodes; undefined where creation failed. */
  readonly claims: readonly (NodeClaim | undefined)[];
  readonly errors: readonly Error[];
}

/** Creates the NodeClaims of planned nodes, concurrently; each can fail on its own. (02:L-10) */
export async function createClaims(
  plans: readonly PlannedNode[],
  options: ClaimCreationOptions,
  context: KarpenterContext,
): Promise<ClaimCreationResult> {
  const claims: (NodeClaim | undefined)[] = plans.map(() => undefined);
  const errors = await forEachConcurrent(plans, {
    limit: maxClaimsInFlight,
    pause: () => options.budget.mayContinue(), // the answer does not matter: every planned node is created
    run: async (plan, index) => {
      claims[index] = await createClaim(plan, options, context);
    },
  });
  const described = errors.map((cause) => new Error(`creating node claim, ${errorMessage(cause)}`, { cause }));
  return { claims, errors: described };
}

async function createClaim(plan: PlannedNode, options: ClaimCreationOptions, context: KarpenterContext) {
  assertWithinLimits(plan.pool, context);
  const wanted = buildClaim(plan, options, context);
  const claim = await context.client.create<ClaimObject>(karpenterTypes.NodeClaim, wanted);
  recordCreated(claim, { plan, ...options }, context);
  return claim;
}

type ClaimObject = KubeObject & NodeClaim;

/** Checks the pool's current limits against its current usage. (02:H-4) */
function assertWithinLimits(name: string, { view, cluster }: KarpenterContext): void {
  const pool = view<KubeObject & NodePool>(karpenterTypes.NodePool).get(name);
  if (pool === undefined) throw new Error(`getting current resource usage, nodepool ${JSON.stringify(name)} not found`);
  const breach = exceededLimitMessage(pool, cluster.poolTotals(name));
  if (breach !== undefined) throw new Error(breach);
}

const noOverlaidTypes: OverlaidTypes = { priced: new Set(), enlarged: new Set() };

function buildClaim(
  plan: PlannedNode,
  { pools }: ClaimCreationOptions,
  { cloud, random, overlaidTypes = noOverlaidTypes }: KarpenterContext,
): KubeObject {
  const pool = pools.get(plan.pool);
  if (pool === undefined) throw new Error(`planned a node for nodepool ${plan.pool}, which is not part of the round`);
  return nodeClaimOf(plan, {
    pool,
    policy: cloud.labelPolicy,
    random,
    overlaid: overlaidTypes,
    defaultGracePeriod: cloud.defaultTerminationGracePeriod,
  });
}

/** Cluster state already has the claim: our own writes show in the views at once. (02:S-13) */
function recordCreated(
  claim: ClaimObject,
  { plan, pools, reason, recordsPodEvents }: ClaimCreationOptions & { readonly plan: PlannedNode },
  context: KarpenterContext,
): void {
  const { pods, pool } = plan;
  const { name } = claim.metadata;
  const { requirements, resources } = claim.spec;
  const types = requirements.find(({ key }) => key === labels.instanceType)?.values ?? [];
  context.log.info("created nodeclaim", {
    NodePool: { name: pool },
    NodeClaim: logReference(claim.metadata),
    requests: resources?.requests ?? {},
    "instance-types": joinedNames(types),
  });
  const min_values_relaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] ?? "false";
  context.metrics.count("nodeclaims_created_total", { reason, nodepool: pool, min_values_relaxed });
  const placed = { now: context.clock.now(), isPoolHealthy: isPoolHealthy(pools.get(pool)), claim: name };
  for (const pod of pods) {
    if (isBufferPod(pod)) continue;
    recordPodPlaced(pod, placed, context);
    if (recordsPodEvents && !isVirtualPod(pod))
      context.recordEvent(podEventSubject(pod), nominatedEvent(pod, { claim: name }));
  }
}
