import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { isOwnedByDaemonSet, isTerminalPod } from "../pod-predicates.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import { amountOf, mergeResources, type Resources } from "../resources.ts";
import { lastTriedVariant } from "../scheduling/find-refusal.ts";
import type { PodAttempt } from "../scheduling/fit-on-planned-node.ts";
import type { ExistingNodeState, Pass, QueuedPod } from "../scheduling/pass-state.ts";
import type { PodClass } from "../scheduling/pod-class.ts";
import type { ExistingNode, SchedulingProblem } from "../scheduling/problem.ts";
import type { FailedCheck } from "./explanation.ts";
import { findNodeFailures } from "./node-checks.ts";
import { withoutUncountedPods } from "./reduce-problem.ts";
import { allQueuedPods, simulatePass, unplacedPods } from "./simulation.ts";

/** What runs on a node, what the pass adds, and why the other pods are refused. */
export interface NodeExplanation {
  readonly node: string;
  readonly pool?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** It is being deleted: nothing is placed on it any more. (02:S-27) */
  readonly isLeaving: boolean;
  readonly resources: readonly NodeResource[];
  /** Largest first. */
  readonly running: readonly RunningPod[];
  /** Pods the pass places here. */
  readonly arriving: readonly string[];
  /** Pods that are placed elsewhere or not at all, although this node would accept one of them now. */
  readonly wouldFit: readonly string[];
  /** Pods this node refuses, grouped by pod class. */
  readonly refused: readonly RefusedPods[];
}

export interface NodeResource {
  readonly resource: string;
  readonly allocatable: string;
  /** By pods that run there. */
  readonly requested: string;
  /** By pods the pass adds and by DaemonSet pods the node still lacks. */
  readonly coming: string;
  readonly left: string;
}

export interface RunningPod {
  readonly pod: string;
  readonly isDaemon: boolean;
  readonly requests: Readonly<Record<string, string>>;
}

export interface RefusedPods {
  readonly pods: readonly string[];
  /** Whether they are not placed anywhere. */
  readonly isUnplaced: boolean;
  readonly checks: readonly FailedCheck[];
}

/** Undefined: there is no such node. */
export function explainNode(problem: SchedulingProblem, name: string): NodeExplanation | undefined {
  const node = problem.nodes.find((one) => one.name === name);
  const running = runningOn(problem, name);
  if (node === undefined) {
    const leaving = problem.nodesByName.get(name);
    if (leaving === undefined) return undefined;
    const nothing = { resources: [], arriving: [], wouldFit: [], refused: [] };
    return { node: name, labels: leaving.labels, isLeaving: true, running: running.map(runningPodOf), ...nothing };
  }
  const { pass } = simulatePass(withoutUncountedPods(problem));
  const existingNode = pass.existingNodes.find((one) => one.node.name === name);
  if (existingNode === undefined) return undefined;
  const elsewhere = refusedPodsOf(pass, existingNode);
  return {
    node: name,
    ...(node.nodePool !== undefined && { pool: node.nodePool }),
    labels: node.labels,
    isLeaving: false,
    resources: resourcesOf(pass, node, existingNode, mergeResources(...running.map(({ requests }) => requests))),
    running: running.map(runningPodOf),
    arriving: existingNode.pods.map(({ pod }) => namespacedName(pod.metadata)),
    wouldFit: elsewhere.filter(({ checks }) => checks.length === 0).flatMap(({ pods }) => pods),
    refused: elsewhere.filter(({ checks }) => checks.length > 0),
  };
}

interface RunningPodRequests {
  readonly pod: Pod;
  readonly requests: Resources;
}

function runningOn({ boundPods }: SchedulingProblem, node: string): readonly RunningPodRequests[] {
  const reader = new QuantityReader();
  return boundPods
    .filter((pod) => pod.spec.nodeName === node && !isTerminalPod(pod))
    .map((pod) => ({ pod, requests: podRequests(pod, reader) }))
    .sort(
      (a, b) =>
        amountOf(b.requests, "cpu").cmp(amountOf(a.requests, "cpu")) ||
        amountOf(b.requests, "memory").cmp(amountOf(a.requests, "memory")) ||
        (namespacedName(a.pod.metadata) < namespacedName(b.pod.metadata) ? -1 : 1),
    );
}

function runningPodOf({ pod, requests }: RunningPodRequests): RunningPod {
  return { pod: namespacedName(pod.metadata), isDaemon: isOwnedByDaemonSet(pod), requests: resourceTexts(requests) };
}

function resourceTexts(list: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, quantity.canonical()]));
}

function resourcesOf(
  pass: Pass,
  { available }: ExistingNode,
  { remainingResources }: ExistingNodeState,
  requested: Resources,
): readonly NodeResource[] {
  const left = pass.space.toResources(remainingResources, () => true);
  return Object.keys(available)
    .sort()
    .map((resource) => {
      const [free, rest] = [amountOf(available, resource), amountOf(left, resource)];
      const used = amountOf(requested, resource);
      return {
        resource,
        allocatable: free.add(used).canonical(),
        requested: used.canonical(),
        coming: free.sub(rest).canonical(),
        left: rest.canonical(),
      };
    });
}

/** Pods of one class are checked once. */
function refusedPodsOf(pass: Pass, existingNode: ExistingNodeState): readonly RefusedPods[] {
  const unplaced = new Set(unplacedPods(pass));
  const byClass = new Map<PodClass, QueuedPod[]>();
  for (const queuedPod of allQueuedPods(pass)) {
    if (existingNode.pods.includes(queuedPod)) continue;
    const known = byClass.get(queuedPod.podClass);
    if (known === undefined) byClass.set(queuedPod.podClass, [queuedPod]);
    else known.push(queuedPod);
  }
  const verdicts = [...byClass.values()].flatMap((podsOfClass) => {
    const [first] = podsOfClass;
    if (first === undefined) return [];
    const podAttempt: PodAttempt = { queuedPod: first, variant: lastTriedVariant(pass, first) };
    const { checks } = findNodeFailures(pass, podAttempt, existingNode);
    const groups = [
      podsOfClass.filter((queuedPod) => unplaced.has(queuedPod)),
      podsOfClass.filter((queuedPod) => !unplaced.has(queuedPod)),
    ];
    return groups.flatMap((pods, index) =>
      pods.length === 0
        ? []
        : [{ pods: pods.map(({ pod }) => namespacedName(pod.metadata)).sort(), isUnplaced: index === 0, checks }],
    );
  });
  return verdicts.sort(
    (a, b) => Number(b.isUnplaced) - Number(a.isUnplaced) || ((a.pods[0] ?? "") < (b.pods[0] ?? "") ? -1 : 1),
  );
}
