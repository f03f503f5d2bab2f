import { labels } from "../../api/labels.ts";
import { each, finish, type Steps } from "../../util/steps.ts";
import { reservationIdLabels } from "../instance-type.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import { merge, min, type Resources } from "../resources.ts";
import type { PricedType } from "./catalogue.ts";
import type { Decision, Placement, PlannedNode } from "./decision.ts";
import type { Outline } from "./outline.ts";
import type { Claim, Entry, Pass } from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { Refusal } from "./refusal.ts";
import { type Reason, reasonFor } from "./refuse.ts";
import { simulationKeys } from "./template.ts";

/** As many types as one claim may name. (02:L-2) */
export const mostTypes = 600;

/** Turns what the pass has found into a decision. (02 §5.13) */
export function closePass(pass: Pass): Decision {
  return finish(closing(pass));
}

/** The same in steps: a node to buy or a pod to refuse each. */
export function* closing(pass: Pass): Steps<Decision> {
  const { problem, seats, emptyPools, requests, attempts, timedOut } = pass;
  const refusals = new Refusals(pass);
  const newNodes: PlannedNode[] = [];
  const known = new Map<Outline, Finished>();
  for (const claim of pass.claims) {
    if (claim.pods.length === 0) continue; // polishing found places for all of them
    const outcome = plannedNode(pass, claim, known);
    if ("achieved" in outcome)
      for (const entry of claim.pods) refusals.add(entry, tooFewValues(claim, outcome.achieved));
    else newNodes.push(outcome);
    yield;
  }
  for (let at = timedOut ? pass.queue.length : pass.queueHead; at < pass.queue.length; at++) {
    refusals.addLeftOver(pass.queue[at] as Entry);
    yield;
  }
  const placements: Placement[] = [];
  yield* each(seats, ({ node, pods }) => {
    if (pods.length > 0) placements.push({ node: node.name, pods: pods.map(({ pod }) => pod) });
  });
  return {
    placements,
    newNodes,
    refusals: refusals.inOrder(),
    emptyPools,
    figures: { pods: problem.pods.length, classes: requests.size, attempts, timedOut },
  };
}

/** Why pods go nowhere. Pods of one class go nowhere for one reason, which they share. */
class Refusals {
  readonly #pass: Pass;
  readonly #byClass = new Map<PodClass, Reason>();
  /** By place in the problem. */
  readonly #found: (Refusal | undefined)[];
  #count = 0;

  constructor(pass: Pass) {
    this.#pass = pass;
    this.#found = new Array<Refusal | undefined>(pass.problem.pods.length);
  }

  add({ pod, position }: Entry, reason: Reason): void {
    this.#found[position] = { pod, ...reason };
    this.#count++;
  }

  addLeftOver(entry: Entry): void {
    const { podClass } = entry;
    const reason = this.#byClass.get(podClass) ?? reasonFor(this.#pass, entry);
    this.#byClass.set(podClass, reason);
    this.add(entry, reason);
  }

  inOrder(): readonly Refusal[] {
    return this.#count === 0 ? [] : this.#found.filter((one) => one !== undefined);
  }
}

/** What claims of one outline have in common in the end. */
interface Finished {
  readonly requirements: Requirements;
  readonly priced: readonly PricedType[];
}

function finished(claim: Claim, reservations: readonly string[]): Finished {
  const requirements = finalRequirements(claim, reservations);
  return { requirements, priced: claim.shop.catalogue.byPrice(claim.shop.outlines.of(requirements)) };
}

function plannedNode(
  pass: Pass,
  claim: Claim,
  known: Map<Outline, Finished>,
): PlannedNode | { readonly achieved: ReadonlyMap<string, number> } {
  const reservations = [...pass.reservations.heldBy(claim.host)].sort();
  const shared = reservations.length === 0 ? known.get(claim.outline) : undefined;
  const end = shared ?? finished(claim, reservations);
  if (reservations.length === 0) known.set(claim.outline, end);
  const { requirements } = end;
  const priced = byPrice(claim, end);
  const instanceTypes = priced.slice(0, mostTypes).map(({ type }) => type);
  const flexible = checkMinValues(instanceTypes, requirements);
  if (flexible.kind === "unsatisfied" && pass.problem.policy.minValues === "Strict") {
    return { achieved: flexible.achieved };
  }
  return {
    pool: claim.shop.template.pool,
    pods: claim.pods.map(({ pod }) => pod),
    requirements,
    instanceTypes,
    price: priced[0]?.price ?? Number.POSITIVE_INFINITY,
    requests: merge(...claim.pods.map(({ podClass }) => podClass.requests), leastDaemons(claim)),
    minValuesRelaxed: claim.minValuesRelaxed,
    reservations,
  };
}

/** Without what was there for the simulation; reserved capacity is named. (02:Q-50, Y-6) */
function finalRequirements({ outline, shop }: Claim, reservations: readonly string[]): Requirements {
  let { requirements } = outline;
  for (const key of simulationKeys) requirements = requirements.without(key);
  if (reservations.length === 0) return requirements;
  const named = reservationIdLabels
    .filter((key) => shop.catalogue.offersBy(key))
    .map((key) => Requirement.in(key, reservations));
  return requirements.replace(Requirement.in(labels.capacityType, ["reserved"])).add(...named);
}

/** The claim's types by the cheapest offering that still suits, then by name. (02:L-1, 02 §12.1-5) */
function byPrice({ shop, columns }: Claim, { priced }: Finished): readonly PricedType[] {
  return priced.filter(({ typeIndex }) => shop.catalogue.hasType(columns, typeIndex));
}

/** The least any daemon group with a type left asks for. (02:G-3) */
function leastDaemons({ shop, columns }: Claim): Resources {
  const groups = shop.daemons.filter((group) => group.columns.intersects(columns));
  return min(...groups.map(({ overhead }) => overhead));
}

/** 02:Q-52, with upstream's typographic apostrophes. */
function tooFewValues({ shop }: Claim, achieved: ReadonlyMap<string, number>): Reason {
  const { pool } = shop.template;
  const message = `pod didn’t schedule because NodePool couldn’t meet minValues requirements, validating minValues, ${describeMinValues(achieved)} (NodePool=${pool})`;
  const requirements = shop.start.requirements;
  return { code: "min-values", message, pools: [{ pool, cause: { code: "min-values", achieved, requirements } }] };
}
