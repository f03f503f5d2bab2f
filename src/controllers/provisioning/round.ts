import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import type { ClusterSnapshot } from "../../state/cluster.ts";
import { formatDurationMs } from "../../util/duration.ts";
import { reportBuffers } from "./buffer-status.ts";
import { createClaims } from "./create-claims.ts";
import { type Demand, demandOf } from "./demand.ts";
import { type Desk, provisioner } from "./parts.ts";
import { PassMetrics } from "./pass-metrics.ts";
import { recordRefused } from "./pod-decisions.ts";
import { poolsOnSale } from "./pools-on-sale.ts";
import { problemOver } from "./problem.ts";
import { isReal, recordDecision } from "./record.ts";
import { inSlices } from "./slices.ts";
import { solveWithin } from "./solve-within.ts";
import { podNames } from "./words.ts";

const reason = "provisioned";

/** How long a round may think. */
export interface Patience {
  /** In budgets. */
  readonly grants: number;
}

/**
 * One round: from the cluster as it is to the machines it lacks. The machines are looked at before the pods, so that a
 * pod that is bound in between makes the round buy too little, which the next one heals, and never too much. (02:P-30)
 */
export async function provision(desk: Desk, patience: Patience): Promise<{ readonly isUnfinished: boolean }> {
  const { parts, world } = desk;
  const snapshot = parts.cluster.snapshot();
  const demand = await demandOf(desk, snapshot);
  const pools = await poolsFor(desk, demand);
  const decision = pools.length === 0 ? nothing : await decide(desk, { demand, snapshot, pools, ...patience });
  const ruling = { decision, snapshot, pools: byName(pools), budget: parts.budgets() };
  await recordDecision(desk, ruling);
  if (parts.settings.gates.CapacityBuffer) await reportBuffers(desk, decision, snapshot);
  const { errors } = await createClaims(decision.newNodes, { parts, world, ...ruling, reason, tellsPods: true });
  if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join("; "));
  return { isUnfinished: decision.figures.timedOut };
}

const nothing: Decision = {
  placements: [],
  newNodes: [],
  refusals: [],
  emptyPools: [],
  figures: { pods: 0, classes: 0, attempts: 0, timedOut: false },
};

/** None where there is nobody to place; where there is no pool, nobody is placed, and pods are not told. (02:P-32) */
async function poolsFor({ parts, world }: Desk, { pending, moving }: Demand): Promise<readonly Pool[]> {
  const pods = [...pending, ...moving];
  if (pods.length === 0) return [];
  parts.log.debug("computing scheduling decision for provisionable pod(s)", {
    "pending-pods": pending.length,
    "deleting-pods": moving.length,
  });
  const pools = await poolsOnSale(parts, world);
  if (pools.length > 0) return pools;
  parts.log.info("no dynamic nodepools found");
  const now = world.clock.now();
  await inSlices(pods.filter(isReal), { budget: parts.budgets(), look: (pod) => recordRefused(parts, pod, now) });
  return [];
}

interface Question extends Patience {
  readonly demand: Demand;
  readonly snapshot: ClusterSnapshot;
  readonly pools: readonly Pool[];
}

async function decide(desk: Desk, { demand, snapshot, pools, grants }: Question): Promise<Decision> {
  const { parts, world } = desk;
  const { metrics, budgets, log } = parts;
  const pods = [...demand.pending, ...demand.moving];
  const problem = await problemOver({ pods, pools, snapshot, seed: world.random.int(2 ** 32) }, parts, world);
  const id = world.random.uuid();
  const figures = new PassMetrics({ metrics, clock: world.clock, controller: provisioner, id });
  const decision = await solveWithin(problem, { budgets, grants, figures });
  const duration = formatDurationMs(figures.tookMs);
  if (decision.figures.timedOut) log.debug("scheduling simulation timed out", { duration, "scheduling-id": id });
  if (decision.newNodes.length > 0) log.info("found provisionable pod(s)", { Pods: podNames(pods), duration });
  return decision;
}

function byName(pools: readonly Pool[]): ReadonlyMap<string, NodePool> {
  return new Map(pools.map(({ nodePool }) => [nodePool.metadata.name ?? "", nodePool]));
}
