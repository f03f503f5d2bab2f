import type { LabelSelector } from "../../../../api/kubernetes/pod.ts";
import { compileSelector } from "../../../../core/label-selector.ts";
import { filtersFor } from "./filters.ts";
import { NodeView } from "./node-view.ts";
import type { PodProfile } from "./profile.ts";
import { refusalOf } from "./schedule.ts";
import { type Snapshot, withNode } from "./snapshot.ts";
import { histogram, type Refusal, unschedulableMessage } from "./verdict.ts";

/** A disruption budget as preemption looks at it. */
export interface Budget {
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Pods whose disruption is counted already. */
  readonly disruptedPods: ReadonlySet<string>;
}

export type Preemption =
  | { readonly kind: "victims"; readonly node: string; readonly victims: readonly PodProfile[] }
  /** `message` is what follows `preemption:`. */
  | { readonly kind: "none"; readonly message: string };

interface Candidate {
  readonly node: string;
  readonly victims: readonly PodProfile[];
  readonly violations: number;
}

interface Attempt {
  readonly snapshot: Snapshot;
  readonly refusals: ReadonlyMap<string, Refusal>;
  readonly budgets: readonly Budget[];
}

const unhelpful = "Preemption is not helpful for scheduling";
const noVictims = "No preemption victims found for incoming pod";

/** Who would have to go for the pod to fit somewhere: as few and as unimportant as possible. (05:CP-L9) */
export function preempt(pod: PodProfile, { snapshot, refusals, budgets }: Attempt): Preemption {
  if (pod.pod.spec.preemptionPolicy === "Never") {
    return { kind: "none", message: "not eligible due to preemptionPolicy=Never.." };
  }
  const candidates: Candidate[] = [];
  const failures: string[][] = [];
  for (const node of snapshot.nodes) {
    const isResolvable = refusals.get(node.name)?.isResolvable === true;
    const candidate = isResolvable ? candidateOn(pod, node, { snapshot, refusals, budgets }) : undefined;
    if (candidate === undefined) failures.push([isResolvable ? noVictims : unhelpful]);
    else candidates.push(candidate);
  }
  const [best] = candidates.sort(byHarm);
  if (best !== undefined) return { kind: "victims", node: best.node, victims: best.victims };
  return { kind: "none", message: unschedulableMessage(snapshot.nodes.length, histogram(failures)) };
}

/** Without all pods of less priority, then each given back that need not go, the most important first. */
function candidateOn(pod: PodProfile, node: NodeView, { snapshot, budgets }: Attempt): Candidate | undefined {
  const lesser = [...node.pods.values()].filter(({ priority }) => priority < pod.priority).sort(byImportance);
  if (lesser.length === 0) return undefined;
  const staying = new Map(node.pods);
  for (const { key } of lesser) staying.delete(key);
  const fits = (): boolean => {
    const view = new NodeView(node.facts, staying.values());
    return refusalOf(filtersFor(pod, withNode(snapshot, view)), view) === undefined;
  };
  if (!fits()) return undefined;
  const { violating, others } = byBudget(lesser, budgets);
  const victims: PodProfile[] = [];
  const reprieve = (candidates: readonly PodProfile[]): number => {
    const before = victims.length;
    for (const one of candidates) {
      staying.set(one.key, one);
      if (fits()) continue;
      staying.delete(one.key);
      victims.push(one);
    }
    return victims.length - before;
  };
  const violations = reprieve(violating);
  reprieve(others);
  return victims.length === 0 ? undefined : { node: node.name, victims: victims.sort(byImportance), violations };
}

/** Those whose going would break a budget, when all before them go too. */
function byBudget(
  pods: readonly PodProfile[],
  budgets: readonly Budget[],
): { readonly violating: readonly PodProfile[]; readonly others: readonly PodProfile[] } {
  const left = budgets.map(({ disruptionsAllowed }) => disruptionsAllowed);
  const selectors = budgets.map(({ selector }) => compileSelector(selector));
  const violating: PodProfile[] = [];
  const others: PodProfile[] = [];
  for (const pod of pods) {
    let violates = false;
    budgets.forEach(({ namespace, disruptedPods }, at) => {
      if (namespace !== pod.namespace || !selectors[at]?.matches(pod.labels)) return;
      if (disruptedPods.has(pod.pod.metadata.name ?? "")) return;
      left[at] = (left[at] ?? 0) - 1;
      if ((left[at] ?? 0) < 0) violates = true;
    });
    (violates ? violating : others).push(pod);
  }
  return { violating, others };
}

/** More priority first, then the longer running. */
function byImportance(a: PodProfile, b: PodProfile): number {
  return b.priority - a.priority || compareText(startOf(a), startOf(b)) || compareText(a.key, b.key);
}

/** Fewest broken budgets, least important victims, fewest of them, youngest of them, then the name. */
function byHarm(a: Candidate, b: Candidate): number {
  return (
    a.violations - b.violations ||
    highest(a) - highest(b) ||
    sumOf(a) - sumOf(b) ||
    a.victims.length - b.victims.length ||
    compareText(earliestStart(b), earliestStart(a)) ||
    compareText(a.node, b.node)
  );
}

function highest({ victims }: Candidate): number {
  return victims[0]?.priority ?? Number.NEGATIVE_INFINITY;
}

/** Shifted so that negative priorities add up too: two victims weigh more than one. */
function sumOf({ victims }: Candidate): number {
  return victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0);
}

function earliestStart({ victims }: Candidate): string {
  const top = victims.filter(({ priority }) => priority === victims[0]?.priority);
  return top.map(startOf).sort()[0] ?? "";
}

function startOf({ pod }: PodProfile): string {
  return pod.status?.startTime ?? pod.metadata.creationTimestamp ?? "";
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
