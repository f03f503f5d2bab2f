import { namespacedName } from "../../api/object.ts";
import { Polish } from "../polish/polish.ts";
import { fitOnClaim, isInvited, type Prospect, prospectOf, type Seeker, welcome } from "./claims.ts";
import { closePass } from "./close-pass.ts";
import { commitToClaim, commitToNode, newProspect, openClaim } from "./commit.ts";
import type { Decision } from "./decision.ts";
import { openPass } from "./open-pass.ts";
import type { Attempt, Entry, Fit, NodeSeat, Pass } from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import { fitOnNode } from "./seats.ts";
import { isHopeless } from "./settle.ts";
import { variantAt } from "./variants.ts";

/** One scheduling pass. Pure: the same problem always yields the same decision. (02 §5) */
export function solve(problem: SchedulingProblem): Decision {
  const pass = openPass(problem);
  while (step(pass)) {
    // each step tries one pod, with what is left of its wishes
  }
  return closePass(pass);
}

export { closePass, openPass };

/**
 * Tries the next pod, or the same one with a preference less; false when the pass is over. A caller may stop between any
 * two steps. (02)
 */
export function step(pass: Pass): boolean {
  pass.attempt ??= nextAttempt(pass);
  const { attempt } = pass;
  if (attempt === undefined) return polishStep(pass);
  const outcome = tryOnce(pass, attempt);
  if (outcome === "again") return true;
  pass.attempt = undefined;
  if (outcome === "refused") putBack(pass, attempt.entry);
  return true;
}

function nextAttempt(pass: Pass): Attempt | undefined {
  const entry = pass.queue[pass.queueHead];
  if (entry === undefined || isEveryoneTried(pass)) return undefined;
  pass.queueHead++;
  return { entry, level: 0 };
}

/** Whether the queue is empty, or has been gone through without anybody finding a place. (02:Q-2) */
export function isEveryoneTried({ attempt, queue, queueHead }: Pass): boolean {
  if (attempt !== undefined) return false;
  const next = queue[queueHead];
  return next === undefined || next.failedAtLength === queue.length - queueHead;
}

function putBack(pass: Pass, entry: Entry): void {
  pass.queue.push(entry);
  entry.failedAtLength = pass.queue.length - pass.queueHead;
}

/** Goes over the plan for its price once it is complete. Until the last of these steps the plan is the plain one. */
function polishStep(pass: Pass): boolean {
  if (pass.problem.policy.packing !== "polished" || pass.timedOut) return false;
  pass.polish ??= Polish.polishing(pass);
  return pass.polish.next().done !== true;
}

/** Tries a pod with fewer and fewer of its preferences. (02:Q-5) */
function tryOnce(pass: Pass, attempt: Attempt): "placed" | "refused" | "again" {
  const { entry } = attempt;
  const { podClass } = entry;
  if (attempt.level === 0 && isPassedOver(pass, podClass)) return "refused";
  const variant = variantAt(podClass, attempt.level++, pass.tools);
  const outcome = variant === undefined ? "exhausted" : add(pass, { entry, variant });
  if (outcome === "placed") return "placed";
  if (outcome === "refused") return "again";
  // Out of wishes to drop; or it waits for reserved capacity rather than give up a preference. (02:Q-5)
  pass.failures.set(podClass, pass.commits);
  return "refused";
}

function isPassedOver({ problem, failures, commits }: Pass, podClass: PodClass): boolean {
  if (podClass.volumeProblem !== undefined) return true; // it sits this round out (02 §12.2-7)
  if (podClass.usesDra && problem.policy.ignoreDra) return true;
  // Nothing was placed since a pod like this one failed, so this one fails as well.
  return problem.voluntaryMoves === undefined && failures.get(podClass) === commits;
}

type Outcome = "placed" | "refused" | "reserved";

/** Machines that exist, then those being planned, then a new one. (02:Q-6) */
function add(pass: Pass, seeker: Seeker): Outcome {
  if (isHopeless(seeker.variant)) return "refused";
  if (onNode(pass, seeker) || onClaim(pass, seeker)) return "placed";
  return onNewClaim(pass, seeker);
}

function onNode(pass: Pass, seeker: Seeker): boolean {
  if (onPromisedNode(pass, seeker)) return true;
  const isVoluntary = pass.problem.voluntaryMoves?.has(namespacedName(seeker.entry.pod.metadata)) ?? false;
  const { seats } = pass;
  const { deadNodes } = seeker.variant;
  for (let at = deadNodes.nextMissing(0); at < seats.length; at = deadNodes.nextMissing(at + 1)) {
    const seat = seats[at] as NodeSeat;
    if (isVoluntary && seat.node.underConsolidateAfter === true) continue; // (02:Q-7)
    const outline = fitOnNode(pass, seeker, seat);
    if (outline === undefined) continue;
    commitToNode(pass, seeker, { seat, outline });
    return true;
  }
  return false;
}

/** Where an earlier round sent it, if that still suits it. */
function onPromisedNode(pass: Pass, seeker: Seeker): boolean {
  const { promised } = pass.problem;
  if (promised === undefined) return false;
  const seat = pass.promisedSeats.get(promised.get(namespacedName(seeker.entry.pod.metadata)) ?? "");
  const outline = seat && fitOnNode(pass, seeker, seat);
  if (seat === undefined || outline === undefined) return false;
  commitToNode(pass, seeker, { seat, outline });
  return true;
}

function onClaim(pass: Pass, seeker: Seeker): boolean {
  const { hostRules, deadClaims } = seeker.variant;
  let fit: Fit | undefined;
  const found = pass.order.find((index) => {
    const claim = pass.claims[index];
    if (claim === undefined || deadClaims.has(index)) return false;
    for (const { group, self, podDomains } of hostRules) {
      if (!group.allowsHost(claim.host, { self, pod: podDomains })) return false;
    }
    pass.attempts++;
    fit = fitOnClaim(pass, seeker, prospectOf(claim));
    if (fit === undefined && isDead(pass, seeker, prospectOf(claim))) deadClaims.add(index);
    return fit !== undefined;
  });
  const claim = pass.claims[found];
  if (claim === undefined || fit === undefined) return false;
  commitToClaim(pass, seeker, { claim, fit });
  return true;
}

/** Whether a claim refused for a reason that cannot heal: topology and reservations can. (02 §10.3-2) */
function isDead(pass: Pass, seeker: Seeker, prospect: Prospect): boolean {
  const { variant } = seeker;
  if (!isInvited(variant, prospect)) return true;
  // A label the claim lacks becomes one it has once a pod that merely excludes values has joined.
  if (welcome(variant, prospect) === undefined) {
    return prospect.shop.outlines.excludes(prospect.outline, variant.incoming);
  }
  // What topology has a hand in may heal; what is left to blame otherwise is size, which only gets worse.
  return variant.domainRules.length === 0 && !pass.refusedByReservation;
}

/** The first pool that takes it. One that would, but for reserved capacity in use, ends the search. (02:Q-22) */
function onNewClaim(pass: Pass, seeker: Seeker): Outcome {
  for (const shop of pass.shops) {
    const prospect = newProspect(pass, shop);
    if (typeof prospect === "string") continue;
    pass.attempts++;
    const fit = fitOnClaim(pass, seeker, prospect);
    if (fit !== undefined) {
      openClaim(pass, seeker, { prospect, fit });
      return "placed";
    }
    if (pass.refusedByReservation) return "reserved";
  }
  return "refused";
}
