import { namespacedName } from "../../api/object.ts";
import { runSteps, type Steps } from "../../util/steps.ts";
import type { OpenSearchBudget } from "../devices/device-allocator.ts";
import { PlanPolisher } from "../polish/plan-polisher.ts";
import { closePass } from "./close-pass.ts";
import { countPlacedPods } from "./commit.ts";
import type { Decision } from "./decision.ts";
import { hasUnsatisfiableTopology } from "./narrow-by-topology.ts";
import { openPass } from "./open-pass.ts";
import type { Pass, QueuedPod } from "./pass-state.ts";
import { placePod, tryNominatedNode } from "./place-pod.ts";
import type { SchedulingProblem } from "./problem.ts";
import { variantAt } from "./variants.ts";

/** Lets the caller end a pass early, and look at it once it is open. */
export interface PassControl {
  isStopRequested?: boolean;
  /** A pass before this one: what it knows of instance types is used again, if they are the same. */
  readonly earlier?: Pass | undefined;
  /** How long one search for the devices of a pod may take. (02:D-9) */
  readonly openSearchBudget?: OpenSearchBudget | undefined;
  /** Called before any pod is tried; what it returns is run in steps. */
  readonly onPassOpened?: (pass: Pass) => Steps<void> | undefined;
}

/** One scheduling pass. Pure: the same problem always yields the same decision. (02 §5) */
export function solve(problem: SchedulingProblem): Decision {
  return runSteps(solveInSteps(problem));
}

/**
 * One scheduling pass in short steps, for callers that have other work to do in between. When a stop is requested, what
 * is placed stays placed, the other pods are not reported as refused, and the steps that close the pass still have to
 * be taken. At least one pod is always tried, so that repeated passes make progress. (02:Q-9, docs/designs/engine.md)
 */
export function* solveInSteps(problem: SchedulingProblem, control: PassControl = {}): Steps<Decision> {
  const pass = yield* openPass(problem, {
    earlier: control.earlier,
    openSearchBudget: control.openSearchBudget,
  });
  yield* control.onPassOpened?.(pass) ?? [];
  yield* placePods(pass, control);
  if (problem.policy.packing === "polished" && !pass.timedOut) yield* polishPlan(pass, problem.pods.length, control);
  pass.phase = "closing";
  return yield* closePass(pass);
}

/** Each step tries one pod with one of its variants. (02) */
export function* placePods(pass: Pass, control: PassControl): Steps<void> {
  yield* placeNominatedPods(pass, control);
  while (!isQueueExhausted(pass)) {
    const queuedPod = pass.queue[pass.queueHead++] as QueuedPod;
    let outcome: AttemptOutcome = "relax";
    for (let level = 0; outcome === "relax"; level++) {
      outcome = tryVariant(pass, queuedPod, level);
      if (outcome === "refused") requeue(pass, queuedPod);
      yield;
      if (!control.isStopRequested) continue;
      pass.timedOut = outcome === "relax" || !isQueueExhausted(pass);
      return;
    }
  }
}

/**
 * Pods that keep the node an earlier round planned for them are placed before any other is tried: one that has lost its place
 * must not take that of another. Those that have lost theirs come next. (02:Q-1a)
 */
function* placeNominatedPods(pass: Pass, control: PassControl): Steps<void> {
  const { queue, nominatedExistingNodes } = pass;
  if (nominatedExistingNodes.size === 0) return;
  const displaced: QueuedPod[] = [];
  while (hasNominatedNode(pass, queue[pass.queueHead]) && !control.isStopRequested) {
    const queuedPod = queue[pass.queueHead++] as QueuedPod;
    if (!tryWithPreferences(pass, queuedPod)) displaced.push(queuedPod);
    yield;
  }
  pass.queueHead -= displaced.length;
  for (const [index, queuedPod] of displaced.entries()) queue[pass.queueHead + index] = queuedPod;
}

function hasNominatedNode({ problem }: Pass, queuedPod: QueuedPod | undefined): boolean {
  return queuedPod !== undefined && (problem.nominatedNodes?.has(namespacedName(queuedPod.pod.metadata)) ?? false);
}

/** On its nominated node alone. */
function tryWithPreferences(pass: Pass, queuedPod: QueuedPod): boolean {
  const { podClass } = queuedPod;
  const variant = isSkipped(pass, queuedPod) ? undefined : variantAt(podClass, 0, pass.variantContext);
  if (variant === undefined || hasUnsatisfiableTopology(variant)) return false;
  countPlacedPods(pass);
  return tryNominatedNode(pass, { queuedPod, variant });
}

/** Whether the queue is empty, or every pod left in it has been tried since the last placement. (02:Q-2) */
function isQueueExhausted({ queue, queueHead }: Pass): boolean {
  const next = queue[queueHead];
  return next === undefined || next.queueLengthAtFailure === queue.length - queueHead;
}

function requeue(pass: Pass, queuedPod: QueuedPod): void {
  pass.queue.push(queuedPod);
  queuedPod.queueLengthAtFailure = pass.queue.length - pass.queueHead;
}

/** Makes the plan cheaper. The pass keeps the plain plan until the last of these steps. */
export function* polishPlan(pass: Pass, podCount: number, control: PassControl): Steps<void> {
  pass.phase = "polishing";
  for (const _step of PlanPolisher.polishInSteps(pass, podCount)) {
    yield;
    if (control.isStopRequested) return;
  }
}

/** `relax`: the pod is tried again with one preference less. */
type AttemptOutcome = "placed" | "refused" | "relax";

function tryVariant(pass: Pass, queuedPod: QueuedPod, level: number): AttemptOutcome {
  const { podClass } = queuedPod;
  if (level === 0 && isSkipped(pass, queuedPod)) return "refused";
  const variant = variantAt(podClass, level, pass.variantContext);
  countPlacedPods(pass);
  const outcome = variant === undefined ? "exhausted" : placePod(pass, { queuedPod, variant });
  if (outcome === "placed") return "placed";
  if (outcome === "refused") return "relax";
  // No preference is left to drop, or the pod waits for reserved capacity instead of dropping one. (02:Q-5)
  pass.placementCountAtFailure.set(podClass, pass.placementCount);
  return "refused";
}

function isSkipped(pass: Pass, queuedPod: QueuedPod): boolean {
  const { problem, placementCountAtFailure, placementCount, devices } = pass;
  const { podClass } = queuedPod;
  if (podClass.volumeError !== undefined) return true; // it is left out of this round (02 §12.2-7)
  if (podClass.usesDra && (devices === undefined || "reason" in devices.claimsOf(queuedPod))) return true;
  // Nothing was placed since a pod of this class failed, so this one fails as well.
  return problem.voluntaryMoves === undefined && placementCountAtFailure.get(podClass) === placementCount;
}
