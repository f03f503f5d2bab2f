import type { Random } from "../../../util/random.ts";
import { type FilterName, type FilterRefusal, reasonHistogram, unschedulableMessage } from "./filter-refusal.ts";
import { type PodFilters, podFilters } from "./filters.ts";
import { NodeInfo } from "./node-info.ts";
import type { PodProfile } from "./pod-profile.ts";
import { type SchedulerSnapshot, withChangedNode } from "./scheduler-snapshot.ts";
import { nodeScores, type ScoringOptions } from "./scores.ts";

export interface ScheduleOptions extends Partial<ScoringOptions> {
  /** Breaks ties; without it the first by name wins. */
  readonly random?: Random | undefined;
}

/** The chosen node, or why there is none. */
export type ScheduleResult =
  | { readonly kind: "node"; readonly node: string }
  | {
      readonly kind: "unschedulable";
      /** Without the preemption part. */
      readonly message: string;
      readonly why: string;
      /** The filters that refused: events that concern them trigger a retry. */
      readonly filters: ReadonlySet<FilterName>;
      readonly refusals: ReadonlyMap<string, FilterRefusal>;
    };

/** Chooses a node for one pod. Pure: the same pod, snapshot and random state give the same answer. (05:CP-L9) */
export function schedule(pod: PodProfile, snapshot: SchedulerSnapshot, options: ScheduleOptions = {}): ScheduleResult {
  const filters = podFilters(pod, snapshot);
  if (filters.problem !== undefined) return unschedulableOnAnyNode(filters.problem, snapshot);
  const refusalOf = (node: NodeInfo) => filters.test(node) ?? refusalWithNominatedPods(pod, node, snapshot);
  const nominated = nominatedNodeOf(pod, snapshot);
  if (nominated !== undefined && refusalOf(nominated) === undefined) return { kind: "node", node: nominated.name };
  const refusals = new Map<string, FilterRefusal>();
  const feasible: NodeInfo[] = [];
  for (const node of snapshot.nodes) {
    const refusal = refusalOf(node);
    if (refusal === undefined) feasible.push(node);
    else refusals.set(node.name, refusal);
  }
  const [first, second] = feasible;
  if (first === undefined) return noFeasibleNode(snapshot, refusals);
  if (second === undefined) return { kind: "node", node: first.name };
  return { kind: "node", node: (highestScored(pod, feasible, { snapshot, options }) ?? first).name };
}

/** The node its status names, whoever wrote it; it is tried before all others. */
function nominatedNodeOf({ pod }: PodProfile, { nodes }: SchedulerSnapshot): NodeInfo | undefined {
  const name = pod.status?.nominatedNodeName ?? "";
  return name === "" ? undefined : nodes.find((node) => node.name === name);
}

/** The refusal once pods nominated to this node, of equal or higher priority, are counted. */
function refusalWithNominatedPods(
  pod: PodProfile,
  node: NodeInfo,
  snapshot: SchedulerSnapshot,
): FilterRefusal | undefined {
  const nominated = snapshot.nominated.get(node.name)?.filter((other) => hasPrecedenceOver(other, pod)) ?? [];
  if (nominated.length === 0) return undefined;
  const withNominated = new NodeInfo(node.facts, [...node.pods.values(), ...nominated]);
  return filterRefusalOf(podFilters(pod, withChangedNode(snapshot, withNominated)), withNominated);
}

function hasPrecedenceOver(other: PodProfile, pod: PodProfile): boolean {
  return other.key !== pod.key && other.priority >= pod.priority;
}

export function filterRefusalOf(filters: PodFilters, node: NodeInfo): FilterRefusal | undefined {
  if (filters.problem === undefined) return filters.test(node);
  return { filter: "volumes", reasons: [filters.problem], isResolvable: false };
}

function highestScored(
  pod: PodProfile,
  feasible: readonly NodeInfo[],
  { snapshot, options }: { readonly snapshot: SchedulerSnapshot; readonly options: ScheduleOptions },
): NodeInfo | undefined {
  const scores = nodeScores(pod, feasible, { snapshot, packing: options.packing ?? "least-allocated" });
  const most = scores.reduce((high, score) => Math.max(high, score), Number.NEGATIVE_INFINITY);
  const tied = feasible.filter((_, at) => scores[at] === most);
  return options.random === undefined ? tied[0] : options.random.pick(tied);
}

function noFeasibleNode({ nodes }: SchedulerSnapshot, refusals: ReadonlyMap<string, FilterRefusal>): ScheduleResult {
  if (nodes.length === 0) {
    const why = "no nodes available to schedule pods";
    return { kind: "unschedulable", message: why, why: "", filters: new Set(), refusals };
  }
  const why = reasonHistogram([...refusals.values()].map(({ reasons }) => reasons));
  const filters = new Set([...refusals.values()].map(({ filter }) => filter));
  return { kind: "unschedulable", message: unschedulableMessage(nodes.length, why), why, filters, refusals };
}

function unschedulableOnAnyNode(problem: string, { nodes }: SchedulerSnapshot): ScheduleResult {
  const refusal: FilterRefusal = { filter: "volumes", reasons: [problem], isResolvable: false };
  return {
    kind: "unschedulable",
    message: unschedulableMessage(nodes.length, problem),
    why: problem,
    filters: new Set(["volumes"]),
    refusals: new Map(nodes.map(({ name }) => [name, refusal])),
  };
}
