import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import type { Decision } from "../scheduling/decision.ts";
import type { Claim, Entry, NodeSeat, Pass } from "../scheduling/pass-state.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { closePass, openPass, step } from "../scheduling/solve.ts";

/** A scheduling pass that has ended, looked at for one pod. */
export interface Round {
  readonly problem: SchedulingProblem;
  readonly pass: Pass;
  readonly entry: Entry;
  readonly spot: Spot | undefined;
}

/** Where a pod ended up. */
export type Spot =
  | { readonly kind: "node"; readonly seat: NodeSeat }
  | { readonly kind: "claim"; readonly claim: Claim };

/** Plans the whole problem; undefined where nothing is planned at all or the pod is not in it. (02:P-32) */
export function playRound(problem: SchedulingProblem, podKey: string): Round | undefined {
  if (problem.pools.length === 0) return undefined;
  const pass = playPass(problem);
  const entry = entries(pass).find(({ pod }) => namespacedName(pod.metadata) === podKey);
  return entry && { problem, pass, entry, spot: spotOf(pass, entry) };
}

/** Places everybody else first, so that it can be asked what would then become of the pod. */
export function playWithout(problem: SchedulingProblem, podKey: string): Round | undefined {
  const pass = openPass(problem);
  const index = pass.queue.findIndex(({ pod }) => namespacedName(pod.metadata) === podKey);
  const [entry] = index < 0 ? [] : pass.queue.splice(index, 1);
  return entry && { problem, pass: toTheEnd(pass), entry, spot: undefined };
}

/** Runs a pass to its end. */
export function playPass(problem: SchedulingProblem): Pass {
  return toTheEnd(openPass(problem));
}

function toTheEnd(pass: Pass): Pass {
  while (step(pass)) {
    // until the queue is empty or nothing moves any more
  }
  return pass;
}

function* allPods(pass: Pass): Iterable<Entry> {
  for (const { pods } of pass.seats) yield* pods;
  for (const { pods } of pass.claims) yield* pods;
  yield* leftOver(pass);
}

/** Every pod of the round, wherever it ended up. */
export function entries(pass: Pass): readonly Entry[] {
  return [...allPods(pass)];
}

/** Entries that found no place. */
export function leftOver({ queue, queueHead }: Pass): readonly Entry[] {
  return queue.slice(queueHead);
}

function spotOf(pass: Pass, entry: Entry): Spot | undefined {
  const seat = pass.seats.find(({ pods }) => pods.includes(entry));
  if (seat !== undefined) return { kind: "node", seat };
  const claim = pass.claims.find(({ pods }) => pods.includes(entry));
  return claim === undefined || isDropped(pass, claim) ? undefined : { kind: "claim", claim };
}

/** A claim may be given up in the end for too little flexibility. (02:Q-52) */
function isDropped(pass: Pass, claim: Claim): boolean {
  if (!claim.outline.hasMinValues) return false;
  const [first] = claim.pods;
  return closePass(pass).refusals.some(({ pod }) => pod === first?.pod);
}

/** Keys of the pods without a place. */
export function unplacedKeys(pass: Pass): ReadonlySet<string> {
  const dropped = pass.claims.filter((claim) => isDropped(pass, claim)).flatMap(({ pods }) => pods);
  return new Set([...leftOver(pass), ...dropped].map(({ pod }) => namespacedName(pod.metadata)));
}

/** The pod's place in a decision, if it has one. */
export function placeIn(decision: Decision, pod: Pod) {
  const key = namespacedName(pod.metadata);
  const isHere = ({ pods }: { readonly pods: readonly Pod[] }): boolean =>
    pods.some(({ metadata }) => namespacedName(metadata) === key);
  const placement = decision.placements.find(isHere);
  if (placement !== undefined) return { kind: "node", placement } as const;
  const planned = decision.newNodes.find(isHere);
  return planned && ({ kind: "new", planned } as const);
}
