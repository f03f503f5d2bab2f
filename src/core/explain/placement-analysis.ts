import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Quantity } from "../../util/quantity.ts";
import type { InstanceType } from "../instance-type.ts";
import type { EmptyPool } from "../scheduling/decision.ts";
import { lastTriedVariant } from "../scheduling/find-refusal.ts";
import type { PodAttempt } from "../scheduling/fit-on-planned-node.ts";
import type { Pool, SchedulingProblem } from "../scheduling/problem.ts";
import { areFromSameTemplate, type EditedObject } from "./edit.ts";
import type { NodeFinding, PoolFinding, RefusalReason } from "./explanation.ts";
import type { PatchOperation } from "./json-patch.ts";
import { type LaunchOption, type LaunchOptionQuery, launchOptionsFor } from "./launch-options.ts";
import { findNodeFailures } from "./node-checks.ts";
import { type PoolObstacles, poolObstacles } from "./pool-obstacles.ts";
import { poolReasons } from "./reasons.ts";
import { nodesByDistance } from "./refusal-distance.ts";
import { type Simulation, unplacedPods } from "./simulation.ts";

/** A pod that is not placed, and everything known about why. */
export interface PlacementAnalysis {
  readonly problem: SchedulingProblem;
  readonly simulation: Simulation;
  readonly pod: Pod;
  readonly podAttempt: PodAttempt;
  readonly pools: readonly PoolAnalysis[];
  /** A reason that holds for every pool and node. */
  readonly podReason: RefusalReason | undefined;
  /** All existing nodes, nearest first. */
  readonly nodes: readonly NodeFinding[];
  /** How many pods of the same template are not placed, itself included. */
  readonly unplacedSiblings: number;
  readonly options: AnalysisOptions;
}

/** What a node class would be like whose nodes have more ephemeral storage. */
export interface LargerStorage {
  /** An instruction. */
  readonly text: string;
  readonly nodeClass: EditedObject;
  readonly operations: readonly PatchOperation[];
  /** What its pools would launch. */
  readonly instanceTypes: readonly InstanceType[];
}

export interface AnalysisOptions {
  /** What would give the nodes of a pool so much ephemeral storage for pods; undefined where nothing does. */
  readonly largerStorage?: (nodePool: NodePool, needed: Quantity) => LargerStorage | undefined;
}

export interface PoolAnalysis {
  readonly pool: Pool;
  readonly obstacles: PoolObstacles | undefined;
  /** Set where the pool's own requirements leave no instance type. (02:T-6) */
  readonly empty: EmptyPool | undefined;
  /** Computed when first called. */
  readonly launchOptions: () => readonly LaunchOption[];
  readonly finding: PoolFinding;
}

export function analyzePlacement(
  problem: SchedulingProblem,
  simulation: Simulation,
  { largerStorage }: AnalysisOptions = {},
): PlacementAnalysis {
  const { pass, queuedPod } = simulation;
  const podAttempt: PodAttempt = { queuedPod, variant: lastTriedVariant(pass, queuedPod) };
  const unplacedSiblings = unplacedPods(pass).filter(({ pod }) => areFromSameTemplate(pod, queuedPod.pod)).length;
  const ordered = [
    ...pass.poolTemplates.map(({ nodeClaimTemplate }) => nodeClaimTemplate.pool),
    ...pass.emptyPools.map(({ pool }) => pool),
  ];
  const pools = ordered.flatMap((name) => {
    const pool = problem.pools.find(({ nodePool }) => nodePool.metadata.name === name);
    return pool === undefined ? [] : [analyzePool(simulation, podAttempt, { pool, pod: queuedPod.pod })];
  });
  const nodes = nodesByDistance(
    pass.existingNodes.map((existingNode) => findNodeFailures(pass, podAttempt, existingNode)),
  );
  return {
    problem,
    simulation,
    pod: queuedPod.pod,
    podAttempt,
    pools,
    nodes,
    podReason: findPodReason(simulation),
    unplacedSiblings,
    options: largerStorage === undefined ? {} : { largerStorage },
  };
}

function findPodReason({ queuedPod, pass, problem }: Simulation): RefusalReason | undefined {
  const { podClass } = queuedPod;
  if (podClass.usesDra && problem.policy.ignoreDra) return { code: "dynamic-resources" };
  const claims = podClass.usesDra ? pass.devices?.claimsOf(queuedPod) : undefined;
  if (claims !== undefined && "reason" in claims) return { code: "dynamic-resources", devices: claims };
  if (podClass.volumeError !== undefined) return { code: "volume-unknown", text: podClass.volumeError };
  return undefined;
}

/** `pod`: as its requirements are read, which may be with a preference for a requirement. */
export function analyzePool(
  { pass, queuedPod }: Simulation,
  podAttempt: PodAttempt,
  { pool, pod }: { readonly pool: Pool; readonly pod: Pod },
): PoolAnalysis {
  const { name } = pool.nodePool.metadata;
  const poolTemplate = pass.poolTemplates.find(({ nodeClaimTemplate }) => nodeClaimTemplate.pool === name);
  const empty = pass.emptyPools.find((one) => one.pool === name);
  const query: LaunchOptionQuery = {
    pass,
    pod,
    requests: queuedPod.podClass.requests,
    volumeAlternatives: queuedPod.podClass.volumeAlternatives.map(({ requirements }) => requirements),
    pool,
    poolTemplate,
  };
  let knownOptions: readonly LaunchOption[] | undefined;
  const launchOptions = (): readonly LaunchOption[] => {
    knownOptions ??= launchOptionsFor(query);
    return knownOptions;
  };
  const obstacles = poolTemplate && poolObstacles(pass, podAttempt, poolTemplate);
  const reasons: readonly RefusalReason[] =
    obstacles === undefined
      ? [{ code: "no-templates", becauseOfMinValues: empty?.becauseOfMinValues ?? false }]
      : obstacles.causes.flatMap((cause) => poolReasons(cause, query, launchOptions));
  return { pool, obstacles, empty, launchOptions, finding: { pool: name ?? "", reasons } };
}
