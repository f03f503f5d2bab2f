import type { Taint } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import type { RefusalCause } from "../scheduling/refusal.ts";
import { untoleratedTaints } from "../tolerations.ts";
import { type CandidateChange, changePrecedences, combineChanges } from "./changes/candidate-change.ts";
import { conflictChanges } from "./changes/label-changes.ts";
import { launchOptionChanges } from "./changes/launch-option-changes.ts";
import {
  dropMinValuesChanges,
  hostPortChanges,
  minValuesChanges,
  reservedCapacityChanges,
  resourceClaimChanges,
} from "./changes/other-changes.ts";
import { lowerRequestChange } from "./changes/request-changes.ts";
import { taintChanges, tolerationChange } from "./changes/taint-changes.ts";
import { topologyChanges } from "./changes/topology-changes.ts";
import { storageClassMoves, volumeClaimRepairs } from "./changes/volume-changes.ts";
import { instanceTypeValues, isInstanceTypeLabel } from "./launch-options.ts";
import type { PlacementAnalysis, PoolAnalysis } from "./placement-analysis.ts";

/** Changes worth trying, by precedence, then fewest steps and lowest weight first. Whether they help is found out by simulation. */
export function candidateChanges(analysis: PlacementAnalysis): readonly CandidateChange[] {
  const { pod, problem, podReason, pools } = analysis;
  if (podReason?.code === "dynamic-resources") return resourceClaimChanges(pod);
  if (podReason !== undefined) return orderChanges(volumeClaimRepairs(pod, problem));
  return orderChanges([...pools.flatMap((pool) => poolChanges(analysis, pool)), ...existingNodeChanges(analysis)]);
}

export function orderChanges(changes: readonly CandidateChange[]): readonly CandidateChange[] {
  const distinct = new Map<string, CandidateChange>();
  for (const one of changes) {
    const key = JSON.stringify(one.edits);
    const known = distinct.get(key);
    if (known === undefined || one.weight < known.weight) distinct.set(key, one);
  }
  return [...distinct.values()].sort(
    (a, b) =>
      changePrecedences.indexOf(a.precedence) - changePrecedences.indexOf(b.precedence) ||
      a.steps - b.steps ||
      a.weight - b.weight ||
      (a.text < b.text ? -1 : a.text > b.text ? 1 : 0),
  );
}

/** Combinations of changes that remove every obstacle of one pool. */
function poolChanges(analysis: PlacementAnalysis, at: PoolAnalysis): readonly CandidateChange[] {
  const alternatives = changesByObstacle(analysis, at);
  if (alternatives.length === 0 || alternatives.some((one) => one.length === 0)) return [];
  const maxOptions = alternatives.length === 1 ? Number.POSITIVE_INFINITY : alternatives.length === 2 ? 6 : 2;
  let combinations: readonly (readonly CandidateChange[])[] = [[]];
  for (const options of alternatives) {
    const best = orderChanges(options).slice(0, maxOptions);
    combinations = combinations.flatMap((chosen) => best.map((one) => [...chosen, one]));
  }
  return combinations.flatMap((chosen) => combineChanges(chosen) ?? []);
}

/** For each obstacle, the changes that remove it. What another launch option would solve is one obstacle. */
function changesByObstacle(analysis: PlacementAnalysis, at: PoolAnalysis): readonly (readonly CandidateChange[])[] {
  const { pod, problem } = analysis;
  const { pool, obstacles } = at;
  const launchChanges = (): readonly CandidateChange[] => launchOptionAlternatives(analysis, at);
  if (obstacles === undefined) return [[...launchChanges(), ...dropMinValuesChanges(pool)]];
  const { causes } = obstacles;
  const taints = causes.flatMap((cause) => (cause.code === "taint" ? [cause.taint] : []));
  const conflicts = causes.flatMap((cause) =>
    cause.code === "requirements" ? cause.conflicts.filter(({ key }) => !isInstanceTypeLabel(key, pool)) : [],
  );
  const policy = problem.labelPolicy;
  return [
    ...(taints.length > 0 ? [taintChanges(taints, { pod, pool })] : []),
    ...conflicts.map((conflict) => conflictChanges(conflict, { pod, pool, policy })),
    ...(causes.some((cause) => isSolvedByLaunchOption(cause, at)) ? [launchChanges()] : []),
    ...causes.flatMap((cause) => otherChanges(cause, analysis, at)),
  ];
}

function isSolvedByLaunchOption(cause: RefusalCause, { pool }: PoolAnalysis): boolean {
  switch (cause.code) {
    case "limits":
    case "node-limit":
    case "instance-types":
    case "volume-requirements":
      return true;
    case "requirements":
      return cause.conflicts.some(({ key }) => isInstanceTypeLabel(key, pool));
    default:
      return false;
  }
}

function otherChanges(
  cause: RefusalCause,
  { problem, pod }: PlacementAnalysis,
  { pool }: PoolAnalysis,
): readonly (readonly CandidateChange[])[] {
  switch (cause.code) {
    case "topology":
      return [topologyChanges(cause, { problem, pod, pool })];
    case "min-values":
      return [[...minValuesChanges(cause.achieved, pool), ...dropMinValuesChanges(pool)]];
    case "reserved-capacity":
      return [reservedCapacityChanges(pod)];
    case "dynamic-resources":
      return [resourceClaimChanges(pod)];
    default:
      return [];
  }
}

/** Other launch options, other volumes, other ports; where topology chose the domain, relaxed topology. */
function launchOptionAlternatives(analysis: PlacementAnalysis, at: PoolAnalysis): readonly CandidateChange[] {
  const { pod, problem, unplacedSiblings, podAttempt } = analysis;
  const { pool } = at;
  const volumes =
    pod.spec.volumes === undefined
      ? []
      : storageClassMoves(pod, { index: problem.volumes, valuesOf: (key) => instanceTypeValues(pool, key) });
  const isRefusedByTypes = at.obstacles?.causes.some(({ code }) => code === "instance-types") ?? false;
  const relaxedTopology = isRefusedByTypes
    ? podAttempt.variant.domainRules.flatMap(({ group: { spec } }) =>
        topologyChanges(
          { code: "topology", kind: spec.kind, key: spec.key, counts: {}, podDomains: "", nodeDomains: "" },
          { problem, pod, pool },
        ),
      )
    : [];
  return [
    ...launchOptionChanges({
      ...{ pod, pool, unplacedSiblings },
      policy: problem.labelPolicy,
      launchOptions: at.launchOptions(),
      volumeChanges: volumes,
      largerStorage: analysis.options.largerStorage,
    }),
    ...volumes,
    ...(isRefusedByTypes ? hostPortChanges(pod) : []),
    ...relaxedTopology,
  ];
}

/** Whether a taint says that a node is not for workloads at all, or not now: nobody should be advised to tolerate it. */
function isReservedTaint({ key }: Taint): boolean {
  return /^(node-role\.kubernetes\.io|node\.kubernetes\.io|node\.cloudprovider\.kubernetes\.io|karpenter\.sh)\//.test(
    key,
  );
}

/** How many of the nearest nodes are considered. */
const maxNodes = 3;

/** Changes of the pod after which an existing node accepts it. */
function existingNodeChanges({ pod, nodes, simulation }: PlacementAnalysis): readonly CandidateChange[] {
  const { existingNodes } = simulation.pass;
  return nodes.slice(0, maxNodes).flatMap(({ node, checks }) => {
    const existingNode = existingNodes.find((one) => one.node.name === node);
    if (existingNode === undefined) return [];
    const reasons = checks.map(({ reason }) => reason);
    const codes = new Set(reasons.map(({ code }) => code));
    const canPodChange = [...codes].every((code) => code === "taint" || code === "resources" || code === "host-port");
    if (!canPodChange || existingNode.node.taints.some(isReservedTaint)) return [];
    const alternatives = [
      ...(codes.has("taint")
        ? [tolerationChange(untoleratedTaints(pod.spec.tolerations, existingNode.node.taints), pod)]
        : []),
      ...reasons.flatMap((reason) =>
        reason.code === "resources"
          ? [lowerRequestChange(pod, { resource: reason.resource, left: Quantity.parse(reason.available) })]
          : [],
      ),
      ...(codes.has("host-port") ? [hostPortChanges(pod)[0]] : []),
    ];
    const all = alternatives.some((one) => one === undefined)
      ? undefined
      : combineChanges(alternatives.filter((one) => one !== undefined));
    return all === undefined ? [] : [{ ...all, weight: all.weight + 0.5 }];
  });
}
