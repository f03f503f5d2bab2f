import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { annotations, labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OverlaidTypes } from "../../core/overlay.ts";
import { nodeClaimOf } from "../../core/round/node-claims.ts";
import type { PlannedNode } from "../../core/scheduling/decision.ts";
import { isVirtualPod } from "../../core/virtual-pods.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import type { WorkBudget } from "../work-budget.ts";
import { exceededLimitMessage } from "./limits.ts";
import { joinedNames, logReference } from "./log-text.ts";
import { isPoolHealthy, recordPodPlaced } from "./pod-decisions.ts";
import type { ProvisioningDependencies } from "./provisioning-context.ts";
import { nominatedEvent, podEventSubject } from "./scheduling-events.ts";

/** Requests under way at a time: a thousand at once would only wait for each other. */
const maxInFlight = 100;

export interface ClaimCreationContext {
  readonly dependencies: ControllerDependencies & Pick<ProvisioningDependencies, "overlaidTypes">;
  readonly context: ControllerContext;
  /** As the round saw them: hash and template are those. (02:L-6) */
  readonly pools: ReadonlyMap<string, NodePool>;
  /** What metrics call the occasion: `provisioned`, or why nodes are replaced. */
  readonly reason: string;
  /** Whether pods are told where they will go. */
  readonly recordsPodEvents: boolean;
  /** For letting others work in between. */
  readonly budget: WorkBudget;
}

/** What came of plans. */
export interface ClaimCreationResult {
  /** One a plan, in their order; undefined where it failed. */
  readonly claims: readonly (NodeClaim | undefined)[];
  readonly errors: readonly Error[];
}

/** Asks for machines, all at once and each on its own. (02:L-10) */
export async function createClaims(
  plans: readonly PlannedNode[],
  creationContext: ClaimCreationContext,
): Promise<ClaimCreationResult> {
  const claims: (NodeClaim | undefined)[] = plans.map(() => undefined);
  const errors: Error[] = [];
  const createPlanned = async (plan: PlannedNode, index: number): Promise<void> => {
    try {
      claims[index] = await createClaim(plan, creationContext);
    } catch (error) {
      errors.push(new Error(`creating node claim, ${errorMessage(error)}`, { cause: error }));
    }
  };
  const inFlight = new Set<Promise<void>>();
  for (const [index, plan] of plans.entries()) {
    await creationContext.budget.mayContinue(); // whatever it answers: a plan that was made is carried out
    if (inFlight.size >= maxInFlight) await Promise.race(inFlight);
    const creating: Promise<void> = createPlanned(plan, index).finally(() => inFlight.delete(creating));
    inFlight.add(creating);
  }
  await Promise.all(inFlight);
  return { claims, errors };
}

async function createClaim(plan: PlannedNode, creationContext: ClaimCreationContext): Promise<NodeClaim> {
  const { context } = creationContext;
  assertWithinLimits(plan.pool, creationContext);
  const claim = await context.client.create<ClaimObject>(karpenterTypes.NodeClaim, buildClaim(plan, creationContext));
  recordCreated(claim, plan, creationContext);
  return claim;
}

type ClaimObject = KubeObject & NodeClaim;

/** The pool as it is by now, and what it has by now. (02:H-4) */
function assertWithinLimits(name: string, { dependencies, context }: ClaimCreationContext): void {
  const pool = context.view<KubeObject & NodePool>(karpenterTypes.NodePool).get(name);
  if (pool === undefined) throw new Error(`getting current resource usage, nodepool ${JSON.stringify(name)} not found`);
  const breach = exceededLimitMessage(pool, dependencies.cluster.poolTotals(name));
  if (breach !== undefined) throw new Error(breach);
}

const noOverlaidTypes: OverlaidTypes = { priced: new Set(), enlarged: new Set() };

function buildClaim(plan: PlannedNode, { dependencies, context, pools }: ClaimCreationContext): KubeObject {
  const { cloud, overlaidTypes = noOverlaidTypes } = dependencies;
  const pool = pools.get(plan.pool);
  if (pool === undefined) throw new Error(`a node was planned for the pool ${plan.pool}, which the round did not see`);
  return nodeClaimOf(plan, {
    pool,
    policy: cloud.labelPolicy,
    random: context.random,
    overlaid: overlaidTypes,
    defaultGracePeriod: cloud.defaultTerminationGracePeriod,
  });
}

/** The state knows already: what we write, it sees at once. (02:S-13) */
function recordCreated(
  claim: ClaimObject,
  { pods, pool }: PlannedNode,
  { dependencies, context, pools, reason, recordsPodEvents }: ClaimCreationContext,
): void {
  const { name } = claim.metadata;
  const { requirements, resources } = claim.spec;
  const types = requirements.find(({ key }) => key === labels.instanceType)?.values ?? [];
  dependencies.log.info("created nodeclaim", {
    NodePool: { name: pool },
    NodeClaim: logReference(claim.metadata),
    requests: resources?.requests ?? {},
    "instance-types": joinedNames(types),
  });
  const min_values_relaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] ?? "false";
  dependencies.metrics.count("nodeclaims_created_total", { reason, nodepool: pool, min_values_relaxed });
  const placed = { now: context.clock.now(), isPoolHealthy: isPoolHealthy(pools.get(pool)), claim: name };
  for (const pod of pods) {
    if (isVirtualPod(pod)) continue;
    recordPodPlaced(dependencies, pod, placed);
    if (recordsPodEvents) context.recordEvent(podEventSubject(pod), nominatedEvent(pod, { claim: name }));
  }
}
