import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { resources } from "../../src/api/labels.ts";
import { namespacedName } from "../../src/api/object.ts";
import { selectorOwnerIndex, withDefaultConstraints } from "../../src/core/default-constraints.ts";
import { podRequests } from "../../src/core/pod-requests.ts";
import { amountOf, type Resources, subtractResources } from "../../src/core/resources.ts";
import type { EmptyPool, ExistingNodePlacement, PlannedNode } from "../../src/core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { volumeRequirementAlternatives } from "../../src/core/volumes.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { acceptOnClaim, candidate, chargeLimits, commitToClaim } from "./claim.ts";
import { acceptOnNode, commitToNode, openNodes } from "./existing.ts";
import { finish } from "./finish.ts";
import { asGiven, type PodView, uidOf, usesDynamicResources, viewPod } from "./pod-view.ts";
import { relax } from "./relaxation.ts";
import { openLedger } from "./reservations.ts";
import { nameOf, openTemplates, type Templates } from "./templates.ts";
import { openTopology, register } from "./topology.ts";
import { type Refused, refused, type World } from "./world.ts";

/** What the twin decides: a `Decision`, with the text of each refusal alone. */
export interface SlowDecision {
  readonly placements: readonly ExistingNodePlacement[];
  readonly newNodes: readonly PlannedNode[];
  readonly refusals: readonly { readonly pod: Pod; readonly message: string }[];
  readonly emptyPools: readonly EmptyPool[];
}

/**
 * The scheduling pass, slow and obvious: every rule a loop, nothing remembered that could be worked out again. What the
 * real solver is held against.
 */
export function solveSlowly(problem: SchedulingProblem): SlowDecision {
  const errors = new Map<string, string>();
  const decided = (world?: World, emptyPools: readonly EmptyPool[] = []): SlowDecision => {
    const { newNodes, discarded } = world === undefined ? noNodes : finish(world);
    for (const [uid, message] of discarded) errors.set(uid, message);
    const refusals = problem.pods.flatMap((pod) => {
      const message = errors.get(uidOf(pod));
      return message === undefined ? [] : [{ pod, message }];
    });
    return { placements: world === undefined ? [] : placements(world), newNodes, refusals, emptyPools };
  };
  if (problem.pools.length === 0) {
    for (const pod of problem.pods) errors.set(uidOf(pod), "no dynamic nodepools found"); // P-32
    return decided();
  }

  // A pod whose volumes cannot be looked up waits for the next round. (12.2-7)
  const queue: Pod[] = [];
  for (const pod of inOrder(problem.pods.map((one) => withDefaults(one, problem)))) {
    const { problem: unknown } = volumeRequirementAlternatives(pod, problem.volumes, problem.labelPolicy);
    if (unknown === undefined) queue.push(pod);
    else if (isUnsupported(pod, problem))
      errors.set(uidOf(pod), unsupported); // which no later round will change
    else errors.set(uidOf(pod), `failed getting volume topology requirements, ${unknown}`);
  }

  const templates = openTemplates(problem);
  const world = openWorld(problem, queue, templates);
  const lengthWhenPushed = new Map<string, number>();
  for (let pod = queue[0]; pod !== undefined; pod = queue[0]) {
    if (lengthWhenPushed.get(uidOf(pod)) === queue.length) break; // a lap without progress
    queue.shift();
    const refusal = tryAdd(world, pod);
    if (refusal === undefined) {
      errors.delete(uidOf(pod));
      continue;
    }
    errors.set(uidOf(pod), refusal.message);
    register(world.topology, pod); // with its full preferences again
    queue.push(pod);
    lengthWhenPushed.set(uidOf(pod), queue.length);
  }
  return decided(world, templates.emptyPools);
}

function placements({ nodes, problem }: World): readonly ExistingNodePlacement[] {
  const taken = nodes.filter(({ pods }) => pods.length > 0);
  return taken.map(({ node, pods }) => ({ node: node.name, pods: pods.map((pod) => asGiven(pod, problem)) }));
}

const noNodes = { newNodes: [], discarded: new Map<string, string>() };

function openWorld(problem: SchedulingProblem, queue: readonly Pod[], { templates }: Templates): World {
  const topology = openTopology(problem, queue);
  return {
    problem,
    topology,
    templates,
    nodes: openNodes(problem, topology),
    opened: [],
    inFlight: [],
    remaining: remainingLimits(problem),
    ledger: openLedger(problem),
    toleratePreferNoSchedule: problem.pools.some(({ nodePool }) =>
      nodePool.spec.template.spec.taints?.some(({ effect }) => effect === "PreferNoSchedule"),
    ),
    placeholders: 0,
  };
}

/** 02:T-4, X-51. */
function withDefaults(pod: Pod, { policy, selectorOwners = [] }: SchedulingProblem): Pod {
  return withDefaultConstraints(pod, {
    constraints: policy.defaultConstraints ?? [],
    owners: selectorOwnerIndex(selectorOwners),
  });
}

/** 02:Q-1: large before small, old before young. */
function inOrder(pods: readonly Pod[]): readonly Pod[] {
  const asked = (pod: Pod, name: string): Quantity => amountOf(podRequests(pod), name);
  const born = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? "1970-01-01T00:00:00Z");
  return [...pods].sort(
    (a, b) =>
      asked(b, resources.cpu).cmp(asked(a, resources.cpu)) ||
      asked(b, resources.memory).cmp(asked(a, resources.memory)) ||
      born(a) - born(b) ||
      (uidOf(a) < uidOf(b) ? -1 : 1),
  );
}

/** 02:H-1. */
function remainingLimits({ pools, nodes }: SchedulingProblem): Map<string, Resources> {
  const remaining = new Map<string, Resources>();
  for (const pool of pools) {
    const { limits } = pool.nodePool.spec;
    if (limits === undefined) continue;
    const written = Object.entries(limits).map(([name, value]) => [name, Quantity.parse(String(value))] as const);
    const own = nodes.filter(({ nodePool }) => nodePool === nameOf(pool));
    const left = own.reduce(
      (rest, { capacity }) => subtractResources(rest, capacity),
      Object.fromEntries(written) as Resources,
    );
    remaining.set(nameOf(pool), left);
  }
  return remaining;
}

/** With every preference, then with one less at a time. (02:Q-5) */
function tryAdd(world: World, original: Pod): Refused | undefined {
  for (let pod = original; ; ) {
    const refusal = add(world, viewPod(pod, world.problem));
    if (refusal === undefined || refusal.defers) return refusal;
    const relaxed = relax(pod, world);
    if (relaxed === undefined) return refusal;
    pod = relaxed;
    register(world.topology, pod);
  }
}

/** Existing nodes, then planned nodes, then a new node. (02:Q-6) */
function add(world: World, view: PodView): Refused | undefined {
  if (isUnsupported(view.pod, world.problem)) return refused(unsupported, { defers: true });
  if (addToNode(world, view) || addToInFlight(world, view)) return undefined;
  return addToNew(world, view);
}

/** 02:D-1. */
const unsupported = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";

function isUnsupported(pod: Pod, { policy }: SchedulingProblem): boolean {
  return policy.ignoreDra && usesDynamicResources(pod);
}

function addToNode(world: World, view: PodView): boolean {
  const { topology } = world;
  const isVoluntary = world.problem.voluntaryMoves?.has(namespacedName(view.pod.metadata)) ?? false;
  for (const entry of world.nodes) {
    if (isVoluntary && entry.node.underConsolidateAfter) continue;
    const requirements = acceptOnNode(entry, view, topology);
    if (requirements === undefined) continue;
    commitToNode(entry, view, { requirements, topology });
    return true;
  }
  return false;
}

function addToInFlight(world: World, view: PodView): boolean {
  // Stable, and kept: claims with equally many pods stay in the order they have. (Q-20, 12.1-2)
  world.inFlight = [...world.inFlight].sort((a, b) => a.pods.length - b.pods.length);
  for (const claim of world.inFlight) {
    const accepted = acceptOnClaim(world, claim, view, { relaxMinValues: false });
    if (accepted.kind === "refused") continue;
    commitToClaim(world, view, accepted);
    return true;
  }
  return false;
}

/** 02:Q-22: the first template that takes the pod, or for which the pod must wait. */
function addToNew(world: World, view: PodView): Refused | undefined {
  const relaxMinValues = world.problem.policy.minValues === "BestEffort";
  const messages: string[] = [];
  for (const template of world.templates) {
    const claim = candidate(world, template);
    const outcome = "kind" in claim ? claim : acceptOnClaim(world, claim, view, { relaxMinValues });
    if (outcome.kind === "accepted") {
      commitToClaim(world, view, outcome);
      chargeLimits(world, outcome.claim);
      world.opened.push(outcome.claim);
      world.topology.hosts.push({ taints: template.taints, host: outcome.claim });
      world.inFlight.push(outcome.claim);
      return undefined;
    }
    messages.push(outcome.message);
    if (outcome.defers) return refused(messages.join("; "), { defers: true });
  }
  if (messages.length === 0) return refused("nodepool requirements filtered out all available instance types");
  return refused(messages.join("; "));
}
