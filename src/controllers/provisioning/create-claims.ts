import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { annotations, labels } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OverlaidTypes } from "../../core/overlay.ts";
import { nodeClaimOf } from "../../core/scenario/node-claims.ts";
import type { PlannedNode } from "../../core/scheduling/decision.ts";
import { isVirtual } from "../../core/virtual-pods.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Budget } from "../budget.ts";
import type { Parts } from "../parts.ts";
import { nominated, subjectOf } from "./events.ts";
import { limitBreach } from "./limits.ts";
import type { ProvisioningParts } from "./parts.ts";
import { isPoolHealthy, recordPlaced } from "./pod-decisions.ts";
import { listing, referred } from "./words.ts";

/** Requests under way at a time: a thousand at once would only wait for each other. */
const mostAtOnce = 100;

export interface Creation {
  readonly parts: Parts & Pick<ProvisioningParts, "overlaid">;
  readonly world: LoopWorld;
  /** As the round saw them: hash and template are those. (02:L-6) */
  readonly pools: ReadonlyMap<string, NodePool>;
  /** What metrics call the occasion: `provisioned`, or why nodes are replaced. */
  readonly reason: string;
  /** Whether pods are told where they will go. */
  readonly tellsPods: boolean;
  /** For letting others work in between. */
  readonly budget: Budget;
}

/** What came of plans. */
export interface Created {
  /** One a plan, in their order; undefined where it failed. */
  readonly claims: readonly (NodeClaim | undefined)[];
  readonly errors: readonly Error[];
}

/** Asks for machines, all at once and each on its own. (02:L-10) */
export async function createClaims(plans: readonly PlannedNode[], creation: Creation): Promise<Created> {
  const claims: (NodeClaim | undefined)[] = plans.map(() => undefined);
  const errors: Error[] = [];
  const carryOut = async (plan: PlannedNode, index: number): Promise<void> => {
    try {
      claims[index] = await createClaim(plan, creation);
    } catch (error) {
      errors.push(new Error(`creating node claim, ${messageOf(error)}`, { cause: error }));
    }
  };
  const underWay = new Set<Promise<void>>();
  for (const [index, plan] of plans.entries()) {
    await creation.budget.goesOn(); // whatever it answers: a plan that was made is carried out
    if (underWay.size >= mostAtOnce) await Promise.race(underWay);
    const creating: Promise<void> = carryOut(plan, index).finally(() => underWay.delete(creating));
    underWay.add(creating);
  }
  await Promise.all(underWay);
  return { claims, errors };
}

async function createClaim(plan: PlannedNode, creation: Creation): Promise<NodeClaim> {
  const { world } = creation;
  checkLimits(plan.pool, creation);
  const claim = await world.client.create<Claim>(custom.NodeClaim, claimFor(plan, creation));
  announce(claim, plan, creation);
  return claim;
}

type Claim = KubeObject & NodeClaim;

/** The pool as it is by now, and what it has by now. (02:H-4) */
function checkLimits(name: string, { parts, world }: Creation): void {
  const pool = world.view<KubeObject & NodePool>(custom.NodePool).get(name);
  if (pool === undefined) throw new Error(`getting current resource usage, nodepool ${JSON.stringify(name)} not found`);
  const breach = limitBreach(pool, parts.cluster.poolTotals(name));
  if (breach !== undefined) throw new Error(breach);
}

const none: OverlaidTypes = { priced: new Set(), enlarged: new Set() };

function claimFor(plan: PlannedNode, { parts, world, pools }: Creation): KubeObject {
  const { cloud, overlaid = none } = parts;
  const pool = pools.get(plan.pool);
  if (pool === undefined) throw new Error(`a node was planned for the pool ${plan.pool}, which the round did not see`);
  return nodeClaimOf(plan, {
    pool,
    policy: cloud.labelPolicy,
    random: world.random,
    overlaid,
    defaultGracePeriod: cloud.defaultTerminationGracePeriod,
  });
}

/** The state knows already: what we write, it sees at once. (02:S-13) */
function announce(
  claim: Claim,
  { pods, pool }: PlannedNode,
  { parts, world, pools, reason, tellsPods }: Creation,
): void {
  const { name } = claim.metadata;
  const { requirements, resources } = claim.spec;
  const types = requirements.find(({ key }) => key === labels.instanceType)?.values ?? [];
  parts.log.info("created nodeclaim", {
    NodePool: { name: pool },
    NodeClaim: referred(claim.metadata),
    requests: resources?.requests ?? {},
    "instance-types": listing(types),
  });
  const min_values_relaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] ?? "false";
  parts.metrics.count("nodeclaims_created_total", { reason, nodepool: pool, min_values_relaxed });
  const placed = { now: world.clock.now(), isPoolHealthy: isPoolHealthy(pools.get(pool)), claim: name };
  for (const pod of pods) {
    if (isVirtual(pod)) continue;
    recordPlaced(parts, pod, placed);
    if (tellsPods) world.tell(subjectOf(pod), nominated(pod, { claim: name }));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
