import type { Pod } from "../../api/kubernetes/pod.ts";
import { Bitset } from "../../util/bitset.ts";
import { runSteps } from "../../util/steps.ts";
import { openPass } from "../scheduling/open-pass.ts";
import type { Pass } from "../scheduling/pass-state.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { type BoundProfile, boundProfilesOf } from "./bound-profiles.ts";
import { type FractionalNode, fractionalNodesFor } from "./fractional-nodes.ts";
import type { LinearConstraint, LinearProgram, LinearTerm, SolveLp } from "./linear-program.ts";

/** Tolerances of LP solvers: relative to the optimum, and for each variable. */
const solverTolerance = { relative: 1e-6, each: 1e-6 };

export interface BoundOptions {
  readonly solveLp: SolveLp;
  /** Pods that must be placed; by default all of the problem. */
  readonly pods?: readonly Pod[];
}

/**
 * No plan that places these pods costs less an hour. Fractions of nodes are launched, each less its daemons; a host takes
 * only so many pods of a per-host limit. Zones, affinity, spread over other keys, ports, volumes, limits and preferences
 * are ignored: they only make plans more expensive. Existing nodes are one large free node. Infinite if some pod fits
 * nowhere.
 */
export async function lowerBound(problem: SchedulingProblem, { solveLp, pods }: BoundOptions): Promise<number> {
  const pass = runSteps(openPass(problem));
  const profiles = boundProfilesOf(pass, new Set(pods ?? problem.pods));
  if (profiles.length === 0) return 0;
  const newNodes = fractionalNodesFor(pass, profiles);
  const optimum = await solveLp(linearProgramOf(profiles, { newNodes, existing: existingCapacity(pass, profiles) }));
  if (optimum === undefined) return Number.POSITIVE_INFINITY;
  const placed = profiles.reduce((sum, { count }) => sum + count, 0);
  return Math.max(0, optimum * (1 - solverTolerance.relative) - placed * solverTolerance.each);
}

/** All existing nodes as one. */
function existingCapacity(
  { existingNodes, space }: Pass,
  profiles: readonly BoundProfile[],
): FractionalNode | undefined {
  if (existingNodes.length === 0) return undefined;
  const podResources = space.zeroRow();
  for (const { remainingResources } of existingNodes)
    for (const [i, left] of remainingResources.entries())
      podResources[i] = (podResources[i] as number) + Math.max(0, left);
  return { price: 0, podResources, allowedProfiles: Bitset.full(profiles.length), hostCount: existingNodes.length };
}

interface AvailableNodes {
  readonly newNodes: readonly FractionalNode[];
  readonly existing: FractionalNode | undefined;
}

/** Variables are how much of each node is launched, and how many pods of each profile are on it. */
function linearProgramOf(profiles: readonly BoundProfile[], { newNodes, existing }: AvailableNodes): LinearProgram {
  const costs: number[] = [];
  const rows: LinearConstraint[] = [];
  const shares = profiles.map((): LinearTerm[] => []);
  const add = (cost: number): number => costs.push(cost) - 1;
  for (const node of existing === undefined ? newNodes : [...newNodes, existing]) {
    const launched = add(node.price);
    const placed = node.allowedProfiles
      .toArray()
      .map((at) => ({ profile: profiles[at] as BoundProfile, at, variable: add(0) }));
    for (const { at, variable } of placed) shares[at]?.push({ variable, coefficient: 1 });
    rows.push(...resourceConstraints(node, { launched, placed }), ...perHostConstraints(node, { launched, placed }));
    if (node === existing)
      rows.push({ terms: [{ variable: launched, coefficient: 1 }], relation: "<=", rightHandSide: 1 });
  }
  for (const [at, { count }] of profiles.entries()) {
    rows.push({ terms: shares[at] ?? [], relation: ">=", rightHandSide: count });
  }
  return { costs, rows };
}

interface NodeVariables {
  /** The variable that says how much is launched. */
  readonly launched: number;
  readonly placed: readonly { readonly profile: BoundProfile; readonly variable: number }[];
}

/** In shares of what one node has, so that coefficients stay near one. */
function resourceConstraints(
  { podResources }: FractionalNode,
  { launched, placed }: NodeVariables,
): readonly LinearConstraint[] {
  return [...podResources.keys()].flatMap((dimension): readonly LinearConstraint[] => {
    const total = podResources[dimension] as number;
    const terms = placed
      .filter(({ profile }) => (profile.request[dimension] as number) > 0)
      .map(({ profile, variable }) => ({ variable, coefficient: (profile.request[dimension] as number) / total }));
    if (terms.length === 0 || total === 0) return [];
    return [{ terms: [...terms, { variable: launched, coefficient: -1 }], relation: "<=", rightHandSide: 0 }];
  });
}

function perHostConstraints(
  { hostCount }: FractionalNode,
  { launched, placed }: NodeVariables,
): readonly LinearConstraint[] {
  const maxPodsByLimit = new Map(
    placed.flatMap(({ profile }) => profile.perHostLimits.map((limit) => [limit.identity, limit.maxPods])),
  );
  return [...maxPodsByLimit].map(([identity, maxPods]): LinearConstraint => {
    const members = placed.filter(({ profile }) => profile.perHostLimits.some((limit) => limit.identity === identity));
    const terms = members.map(({ variable }) => ({ variable, coefficient: 1 }));
    return {
      terms: [...terms, { variable: launched, coefficient: -maxPods * hostCount }],
      relation: "<=",
      rightHandSide: 0,
    };
  });
}
