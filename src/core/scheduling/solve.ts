import { namespacedName } from "../../api/object.ts";
import { Polish } from "../polish/polish.ts";
import { fitOnClaim, isInvited, type Prospect, prospectOf, type Seeker, welcome } from "./claims.ts";
import { closePass } from "./close-pass.ts";
import { commitToClaim, commitToNode, newProspect, openClaim } from "./commit.ts";
import type { Decision } from "./decision.ts";
import { openPass } from "./open-pass.ts";
import type { Entry, Fit, Pass } from "./pass-state.ts";
import type { SchedulingProblem } from "./problem.ts";
import { fitOnNode } from "./seats.ts";
import { isHopeless } from "./settle.ts";
import { variantAt } from "./variants.ts";

/** One scheduling pass. Pure: the same problem always yields the same decision. (02 §5) */
export function solve(problem: SchedulingProblem): Decision {
  const pass = openPass(problem);
  while (step(pass)) {
    // each step places one pod or puts it back
  }
  return closePass(pass);
}

export { closePass, openPass };

/** Tries the next pod; false when the pass is over. A caller may stop between any two steps. (02) */
export function step(pass: Pass): boolean {
  const { queue } = pass;
  const entry = queue[pass.queueHead];
  const length = queue.length - pass.queueHead;
  if (entry === undefined || entry.failedAtLength === length) return polishStep(pass);
  pass.queueHead++;
  if (!place(pass, entry)) {
    queue.push(entry);
    entry.failedAtLength = queue.length - pass.queueHead;
  }
  return true;
}

/** Goes over the plan for its price once it is complete. Until the last of these steps the plan is the plain one. */
function polishStep(pass: Pass): boolean {
  if (pass.problem.policy.packing !== "polished" || pass.timedOut) return false;
  if (pass.polish !== undefined) return pass.polish.step();
  pass.polish = new Polish(pass);
  return true;
}

/** Tries a pod with fewer and fewer of its preferences. (02:Q-5) */
function place(pass: Pass, entry: Entry): boolean {
  const { podClass } = entry;
  if (podClass.volumeProblem !== undefined) return false; // it sits this round out (02 §12.2-7)
  if (podClass.usesDra && pass.problem.policy.ignoreDra) return false;
  // Nothing was placed since a pod like this one failed, so this one fails as well.
  if (pass.problem.voluntaryMoves === undefined && pass.failures.get(podClass) === pass.commits) return false;
  for (let level = 0; ; level++) {
    const variant = variantAt(podClass, level, pass.tools);
    if (variant === undefined) break;
    const outcome = add(pass, { entry, variant });
    if (outcome === "placed") return true;
    if (outcome === "reserved") break; // wait for reserved capacity rather than give up a preference (02:Q-5)
  }
  pass.failures.set(podClass, pass.commits);
  return false;
}

type Outcome = "placed" | "refused" | "reserved";

/** Machines that exist, then those being planned, then a new one. (02:Q-6) */
function add(pass: Pass, seeker: Seeker): Outcome {
  if (isHopeless(seeker.variant)) return "refused";
  if (onNode(pass, seeker) || onClaim(pass, seeker)) return "placed";
  return onNewClaim(pass, seeker);
}

function onNode(pass: Pass, seeker: Seeker): boolean {
  const isVoluntary = pass.problem.voluntaryMoves?.has(namespacedName(seeker.entry.pod.metadata)) ?? false;
  for (const seat of pass.seats) {
    if (isVoluntary && seat.node.underConsolidateAfter === true) continue; // (02:Q-7)
    const outline = fitOnNode(pass, seeker, seat);
    if (outline === undefined) continue;
    commitToNode(pass, seeker, { seat, outline });
    return true;
  }
  return false;
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
  if (!isInvited(seeker.variant, prospect)) return true;
  // A label the claim lacks becomes one it has once a pod that merely excludes values has joined.
  if (welcome(seeker.variant, prospect) === undefined) return false;
  // What topology has a hand in may heal; what is left to blame otherwise is size, which only gets worse.
  return seeker.variant.domainRules.length === 0 && !pass.refusedByReservation;
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
