import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Seeker } from "../scheduling/claims.ts";
import type { EmptyPool } from "../scheduling/decision.ts";
import type { Pool, SchedulingProblem } from "../scheduling/problem.ts";
import { lastVariant } from "../scheduling/refuse.ts";
import { areOfOneTemplate } from "./edit.ts";
import type { NodeFinding, PoolFinding, Reason } from "./explanation.ts";
import { type Machine, type MachineQuestion, machinesFor } from "./machines.ts";
import { nodesByNearness } from "./nearness.ts";
import { nodeFinding } from "./node-checks.ts";
import { type Obstacles, obstaclesAt } from "./obstacles.ts";
import { poolReasons } from "./reasons.ts";
import { leftOver, type Round } from "./round.ts";

/** A pod without a place, and everything that is known of why. */
export interface Situation {
  readonly problem: SchedulingProblem;
  readonly round: Round;
  readonly pod: Pod;
  readonly seeker: Seeker;
  readonly pools: readonly PoolSituation[];
  /** What keeps it from everything, whatever pools and nodes are like. */
  readonly whole: Reason | undefined;
  /** Of all nodes, nearest first. */
  readonly nodes: readonly NodeFinding[];
  /** Pods like it that have no place either, itself included. */
  readonly waiting: number;
}

export interface PoolSituation {
  readonly pool: Pool;
  readonly obstacles: Obstacles | undefined;
  /** Set where the pool's own requirements leave nothing to buy. (02:T-6) */
  readonly empty: EmptyPool | undefined;
  /** Worked out when first asked for. */
  readonly machines: () => readonly Machine[];
  readonly finding: PoolFinding;
}

export function situationOf(problem: SchedulingProblem, round: Round): Situation {
  const { pass, entry } = round;
  const seeker: Seeker = { entry, variant: lastVariant(pass, entry) };
  const waiting = leftOver(pass).filter(({ pod }) => areOfOneTemplate(pod, entry.pod)).length;
  const ordered = [...pass.shops.map(({ template }) => template.pool), ...pass.emptyPools.map(({ pool }) => pool)];
  const pools = ordered.flatMap((name) => {
    const pool = problem.pools.find(({ nodePool }) => nodePool.metadata.name === name);
    return pool === undefined ? [] : [poolSituation(round, seeker, pool)];
  });
  const nodes = nodesByNearness(pass.seats.map((seat) => nodeFinding(pass, seeker, seat)));
  return { problem, round, pod: entry.pod, seeker, pools, nodes, whole: wholeReason(round), waiting };
}

function wholeReason({ entry: { podClass }, problem }: Round): Reason | undefined {
  if (podClass.usesDra && problem.policy.ignoreDra) return { code: "dynamic-resources" };
  if (podClass.volumeProblem !== undefined) return { code: "volume-unknown", text: podClass.volumeProblem };
  return undefined;
}

function poolSituation({ pass, entry }: Round, seeker: Seeker, pool: Pool): PoolSituation {
  const { name } = pool.nodePool.metadata;
  const shop = pass.shops.find(({ template }) => template.pool === name);
  const empty = pass.emptyPools.find((one) => one.pool === name);
  const question: MachineQuestion = {
    pass,
    pod: entry.pod,
    requests: entry.podClass.requests,
    volumeAlternatives: entry.podClass.volumeAlternatives.map(({ requirements }) => requirements),
    pool,
    shop,
  };
  let known: readonly Machine[] | undefined;
  const machines = (): readonly Machine[] => {
    known ??= machinesFor(question);
    return known;
  };
  const obstacles = shop && obstaclesAt(pass, seeker, shop);
  const reasons: readonly Reason[] =
    obstacles === undefined
      ? [{ code: "no-templates", becauseOfMinValues: empty?.becauseOfMinValues ?? false }]
      : obstacles.causes.flatMap((cause) => poolReasons(cause, question, machines));
  return { pool, obstacles, empty, machines, finding: { pool: name ?? "", reasons } };
}
