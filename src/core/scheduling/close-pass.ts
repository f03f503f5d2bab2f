import { labels } from "../../api/labels.ts";
import { reservationIdLabels } from "../instance-type.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import { merge, min, type Resources } from "../resources.ts";
import type { PricedType } from "./catalogue.ts";
import type { Decision, PlannedNode } from "./decision.ts";
import type { Outline } from "./outline.ts";
import type { Claim, Entry, Pass } from "./pass-state.ts";
import type { Refusal } from "./refusal.ts";
import { refusalOf } from "./refuse.ts";
import { simulationKeys } from "./template.ts";

/** As many types as one claim may name. (02:L-2) */
export const mostTypes = 600;

/** Turns what the pass has found into a decision. (02 §5.13) */
export function closePass(pass: Pass): Decision {
  const newNodes: PlannedNode[] = [];
  const refusals: Refusal[] = [];
  const known = new Map<Outline, Finished>();
  for (const claim of pass.claims) {
    if (claim.pods.length === 0) continue; // polishing found places for all of them
    const outcome = plannedNode(pass, claim, known);
    if ("refused" in outcome) refusals.push(...outcome.refused);
    else newNodes.push(outcome);
  }
  const unplaced = pass.timedOut ? [] : pass.queue.slice(pass.queueHead);
  refusals.push(...unplaced.map((entry) => refusalOf(pass, entry)));
  const position = new Map(pass.problem.pods.map((pod, index) => [pod, index]));
  return {
    placements: pass.seats
      .filter(({ pods }) => pods.length > 0)
      .map(({ node, pods }) => ({ node: node.name, pods: pods.map(({ pod }) => pod) })),
    newNodes,
    refusals: refusals.sort((a, b) => (position.get(a.pod) ?? 0) - (position.get(b.pod) ?? 0)),
    emptyPools: pass.emptyPools,
    figures: {
      pods: pass.problem.pods.length,
      classes: pass.requests.size,
      attempts: pass.attempts,
      timedOut: pass.timedOut,
    },
  };
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
): PlannedNode | { readonly refused: readonly Refusal[] } {
  const reservations = [...pass.reservations.heldBy(claim.host)].sort();
  const shared = reservations.length === 0 ? known.get(claim.outline) : undefined;
  const end = shared ?? finished(claim, reservations);
  if (reservations.length === 0) known.set(claim.outline, end);
  const { requirements } = end;
  const priced = byPrice(claim, end);
  const instanceTypes = priced.slice(0, mostTypes).map(({ type }) => type);
  const flexible = checkMinValues(instanceTypes, requirements);
  if (flexible.kind === "unsatisfied" && pass.problem.policy.minValues === "Strict") {
    return { refused: claim.pods.map((entry) => tooFewValues(entry, claim, flexible.achieved)) };
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
function tooFewValues({ pod }: Entry, { shop }: Claim, achieved: ReadonlyMap<string, number>): Refusal {
  const { pool } = shop.template;
  const message = `pod didn’t schedule because NodePool couldn’t meet minValues requirements, validating minValues, ${describeMinValues(achieved)} (NodePool=${pool})`;
  const requirements = shop.start.requirements;
  return { pod, code: "min-values", message, pools: [{ pool, cause: { code: "min-values", achieved, requirements } }] };
}
