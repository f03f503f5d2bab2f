import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import { isOwnedByDaemonSet, isTerminal } from "../provisionable.ts";
import { amount, merge, type Resources } from "../resources.ts";
import type { Entry, NodeSeat, Pass } from "../scheduling/pass-state.ts";
import type { PodClass } from "../scheduling/pod-class.ts";
import type { ExistingNode, SchedulingProblem } from "../scheduling/problem.ts";
import { lastVariant } from "../scheduling/refuse.ts";
import { withoutUncounted } from "./essentials.ts";
import type { FailedCheck } from "./explanation.ts";
import { nodeFinding } from "./node-checks.ts";
import { entries, playPass } from "./round.ts";

/** What a node holds, what comes to it, and why the other pods of the round do not. */
export interface NodeExplanation {
  readonly node: string;
  readonly pool?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** On its way out: nothing is placed on it any more. (02:S-27) */
  readonly isLeaving: boolean;
  /** One line a resource. */
  readonly resources: readonly NodeResource[];
  /** Largest first. */
  readonly running: readonly RunningPod[];
  /** Pods the round places here. */
  readonly arriving: readonly string[];
  /** Pods of the round that go elsewhere, or nowhere, though this node would take one of them now. */
  readonly wouldFit: readonly string[];
  /** Pods of the round this node refuses, alike ones together. */
  readonly refused: readonly RefusedHere[];
}

export interface NodeResource {
  readonly resource: string;
  readonly allocatable: string;
  /** By pods that run there. */
  readonly requested: string;
  /** By pods of the round and by daemons that are yet to come. */
  readonly coming: string;
  readonly left: string;
}

export interface RunningPod {
  readonly pod: string;
  readonly isDaemon: boolean;
  readonly requests: Readonly<Record<string, string>>;
}

export interface RefusedHere {
  readonly pods: readonly string[];
  /** Whether they have no place anywhere. */
  readonly isUnplaced: boolean;
  readonly checks: readonly FailedCheck[];
}

/** As far as placement goes; undefined: there is no such node. */
export function explainNode(problem: SchedulingProblem, name: string): NodeExplanation | undefined {
  const node = problem.nodes.find((one) => one.name === name);
  const running = runningOn(problem, name);
  if (node === undefined) {
    const leaving = problem.nodesByName.get(name);
    if (leaving === undefined) return undefined;
    const nothing = { resources: [], arriving: [], wouldFit: [], refused: [] };
    return { node: name, labels: leaving.labels, isLeaving: true, running: running.map(shown), ...nothing };
  }
  const pass = playPass(withoutUncounted(problem));
  const seat = pass.seats.find((one) => one.node.name === name) as NodeSeat;
  const elsewhere = verdictsHere(pass, seat);
  return {
    node: name,
    ...(node.nodePool !== undefined && { pool: node.nodePool }),
    labels: node.labels,
    isLeaving: false,
    resources: resourcesOf(pass, node, seat, merge(...running.map(({ requests }) => requests))),
    running: running.map(shown),
    arriving: seat.pods.map(({ pod }) => namespacedName(pod.metadata)),
    wouldFit: elsewhere.filter(({ checks }) => checks.length === 0).flatMap(({ pods }) => pods),
    refused: elsewhere.filter(({ checks }) => checks.length > 0),
  };
}

interface Running {
  readonly pod: Pod;
  readonly requests: Resources;
}

function runningOn({ boundPods }: SchedulingProblem, node: string): readonly Running[] {
  const reader = new QuantityReader();
  return boundPods
    .filter((pod) => pod.spec.nodeName === node && !isTerminal(pod))
    .map((pod) => ({ pod, requests: podRequests(pod, reader) }))
    .sort(
      (a, b) =>
        amount(b.requests, "cpu").cmp(amount(a.requests, "cpu")) ||
        amount(b.requests, "memory").cmp(amount(a.requests, "memory")) ||
        (namespacedName(a.pod.metadata) < namespacedName(b.pod.metadata) ? -1 : 1),
    );
}

function shown({ pod, requests }: Running): RunningPod {
  return { pod: namespacedName(pod.metadata), isDaemon: isOwnedByDaemonSet(pod), requests: texts(requests) };
}

function texts(list: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, quantity.canonical()]));
}

function resourcesOf(
  pass: Pass,
  { available }: ExistingNode,
  { remaining }: NodeSeat,
  requested: Resources,
): readonly NodeResource[] {
  const left = pass.space.toResources(remaining, () => true);
  return Object.keys(available)
    .sort()
    .map((resource) => {
      const [free, rest] = [amount(available, resource), amount(left, resource)];
      const used = amount(requested, resource);
      return {
        resource,
        allocatable: free.add(used).canonical(),
        requested: used.canonical(),
        coming: free.sub(rest).canonical(),
        left: rest.canonical(),
      };
    });
}

/** Pods that scheduling cannot tell apart are judged once. */
function verdictsHere(pass: Pass, seat: NodeSeat): readonly RefusedHere[] {
  const unplaced = new Set<Entry>(pass.queue.slice(pass.queueHead));
  const byClass = new Map<PodClass, Entry[]>();
  for (const entry of entries(pass)) {
    if (seat.pods.includes(entry)) continue;
    const known = byClass.get(entry.podClass);
    if (known === undefined) byClass.set(entry.podClass, [entry]);
    else known.push(entry);
  }
  const verdicts = [...byClass.values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    const seeker = { entry: first, variant: lastVariant(pass, first) };
    const { checks } = nodeFinding(pass, seeker, seat);
    const groups = [alike.filter((entry) => unplaced.has(entry)), alike.filter((entry) => !unplaced.has(entry))];
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
