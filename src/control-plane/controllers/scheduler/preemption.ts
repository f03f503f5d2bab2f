import type { LabelSelector } from "../../../api/kubernetes/pod.ts";
import { compileSelector } from "../../../core/label-selector.ts";
import { type FilterRefusal, reasonHistogram, unschedulableMessage } from "./filter-refusal.ts";
import { podFilters } from "./filters.ts";
import { NodeInfo } from "./node-info.ts";
import type { PodProfile } from "./pod-profile.ts";
import { filterRefusalOf } from "./schedule.ts";
import { type SchedulerSnapshot, withChangedNode } from "./scheduler-snapshot.ts";

/** What preemption needs to know about a PodDisruptionBudget. */
export interface PreemptionBudget {
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Names of pods whose disruption is already counted. */
  readonly disruptedPods: ReadonlySet<string>;
}

export type Preemption =
  | { readonly kind: "victims"; readonly node: string; readonly victims: readonly PodProfile[] }
  /** `message` is what follows `preemption:`. */
  | { readonly kind: "none"; readonly message: string };

interface PreemptionCandidate {
  readonly node: string;
  readonly victims: readonly PodProfile[];
  readonly violations: number;
}

interface PreemptionInput {
  readonly snapshot: SchedulerSnapshot;
  readonly refusals: ReadonlyMap<string, FilterRefusal>;
  readonly budgets: readonly PreemptionBudget[];
}

const unhelpful = "Preemption is not helpful for scheduling";
const noVictims = "No preemption victims found for incoming pod";

/** Which pods to evict so that this one fits: as few and as unimportant as possible. (05:CP-L9) */
export function preempt(pod: PodProfile, { snapshot, refusals, budgets }: PreemptionInput): Preemption {
  if (pod.pod.spec.preemptionPolicy === "Never") {
    return { kind: "none", message: "not eligible due to preemptionPolicy=Never.." };
  }
  const candidates: PreemptionCandidate[] = [];
  const failures: string[][] = [];
  for (const node of snapshot.nodes) {
    const isResolvable = refusals.get(node.name)?.isResolvable === true;
    const candidate = isResolvable ? preemptionCandidate(pod, node, { snapshot, refusals, budgets }) : undefined;
    if (candidate === undefined) failures.push([isResolvable ? noVictims : unhelpful]);
    else candidates.push(candidate);
  }
  const [best] = candidates.sort(byPreemptionCost);
  if (best !== undefined) return { kind: "victims", node: best.node, victims: best.victims };
  return { kind: "none", message: unschedulableMessage(snapshot.nodes.length, reasonHistogram(failures)) };
}

/** Removes all pods of lower priority, then reprieves as many as possible, most important first. */
function preemptionCandidate(
  pod: PodProfile,
  node: NodeInfo,
  { snapshot, budgets }: PreemptionInput,
): PreemptionCandidate | undefined {
  const lowerPriority = [...node.pods.values()].filter(({ priority }) => priority < pod.priority).sort(byImportance);
  if (lowerPriority.length === 0) return undefined;
  const remaining = new Map(node.pods);
  for (const { key } of lowerPriority) remaining.delete(key);
  const fits = (): boolean => {
    const view = new NodeInfo(node.facts, remaining.values());
    return filterRefusalOf(podFilters(pod, withChangedNode(snapshot, view)), view) === undefined;
  };
  if (!fits()) return undefined;
  const { violating, others } = splitByBudget(lowerPriority, budgets);
  const victims: PodProfile[] = [];
  const reprieve = (candidates: readonly PodProfile[]): number => {
    const before = victims.length;
    for (const one of candidates) {
      remaining.set(one.key, one);
      if (fits()) continue;
      remaining.delete(one.key);
      victims.push(one);
    }
    return victims.length - before;
  };
  const violations = reprieve(violating);
  reprieve(others);
  return victims.length === 0 ? undefined : { node: node.name, victims: victims.sort(byImportance), violations };
}

/** Splits off the pods whose eviction would violate a budget, given that all before them are evicted. */
function splitByBudget(
  pods: readonly PodProfile[],
  budgets: readonly PreemptionBudget[],
): { readonly violating: readonly PodProfile[]; readonly others: readonly PodProfile[] } {
  const remainingDisruptions = budgets.map(({ disruptionsAllowed }) => disruptionsAllowed);
  const selectors = budgets.map(({ selector }) => compileSelector(selector));
  const violating: PodProfile[] = [];
  const others: PodProfile[] = [];
  for (const pod of pods) {
    let violates = false;
    budgets.forEach(({ namespace, disruptedPods }, at) => {
      if (namespace !== pod.namespace || !selectors[at]?.matches(pod.labels)) return;
      if (disruptedPods.has(pod.pod.metadata.name ?? "")) return;
      remainingDisruptions[at] = (remainingDisruptions[at] ?? 0) - 1;
      if ((remainingDisruptions[at] ?? 0) < 0) violates = true;
    });
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}

/** Highest priority first, then the longest running. */
function byImportance(a: PodProfile, b: PodProfile): number {
  return b.priority - a.priority || compareText(startTimeOf(a), startTimeOf(b)) || compareText(a.key, b.key);
}

/** Fewest violated budgets, least important victims, fewest victims, youngest victims, then node name. */
function byPreemptionCost(a: PreemptionCandidate, b: PreemptionCandidate): number {
  return (
    a.violations - b.violations ||
    highestPriority(a) - highestPriority(b) ||
    sumOfPriorities(a) - sumOfPriorities(b) ||
    a.victims.length - b.victims.length ||
    compareText(earliestStart(b), earliestStart(a)) ||
    compareText(a.node, b.node)
  );
}

function highestPriority({ victims }: PreemptionCandidate): number {
  return victims[0]?.priority ?? Number.NEGATIVE_INFINITY;
}

/** Shifted so that negative priorities add up too: two victims count more than one. */
function sumOfPriorities({ victims }: PreemptionCandidate): number {
  return victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0);
}

function earliestStart({ victims }: PreemptionCandidate): string {
  const top = victims.filter(({ priority }) => priority === victims[0]?.priority);
  return top.map(startTimeOf).sort()[0] ?? "";
}

function startTimeOf({ pod }: PodProfile): string {
  return pod.status?.startTime ?? pod.metadata.creationTimestamp ?? "";
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
