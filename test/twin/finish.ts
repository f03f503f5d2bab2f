import { awsLabels, kwokLabels, labels } from "../../src/api/labels.ts";
import { isCompatible } from "../../src/core/compatibility.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import { checkMinValues, describeMinValues } from "../../src/core/min-values.ts";
import { Requirement } from "../../src/core/requirement.ts";
import type { Requirements } from "../../src/core/requirements.ts";
import { mergeResources, minResources } from "../../src/core/resources.ts";
import type { PlannedNode } from "../../src/core/scheduling/decision.ts";
import { asGiven, uidOf } from "./pod-view.ts";
import type { Claim, World } from "./world.ts";

/** 02:L-2. */
const mostTypes = 600;

/** 02: the nodes to create, and the pods that lose theirs after all. */
export function finish(world: World): { newNodes: readonly PlannedNode[]; discarded: ReadonlyMap<string, string> } {
  const { labelPolicy, policy } = world.problem;
  const newNodes: PlannedNode[] = [];
  const discarded = new Map<string, string>();
  for (const claim of world.opened) {
    const requirements = finalRequirements(claim);
    const priced = claim.types
      .map((type) => ({ type, price: price(type, requirements, labelPolicy.wellKnown) }))
      .sort((a, b) => compareNumbers(a.price, b.price) || (a.type.name < b.type.name ? -1 : 1));
    const kept = priced.slice(0, mostTypes);
    const outcome = checkMinValues(
      kept.map(({ type }) => type),
      requirements,
    );
    if (outcome.kind === "unsatisfied" && policy.minValues === "Strict") {
      const because = `validating minValues, ${describeMinValues(outcome.achieved)} (NodePool=${claim.template.pool})`;
      const message = `pod didn’t schedule because NodePool couldn’t meet minValues requirements, ${because}`;
      for (const pod of claim.pods) discarded.set(uidOf(pod), message);
      continue;
    }
    newNodes.push({
      pool: claim.template.pool,
      pods: claim.pods.map((pod) => asGiven(pod, world.problem)),
      requirements,
      instanceTypes: kept.map(({ type }) => type),
      price: kept[0]?.price ?? Number.POSITIVE_INFINITY,
      requests: mergeResources(claim.requests, leastDaemons(claim)),
      minValuesRelaxed: isRelaxed(claim),
      reservations: claim.held,
    });
  }
  return { newNodes, discarded };
}

/** Without what was there only to place pods; with the reservations it holds. (02:Q-50, Y-6) */
function finalRequirements({ requirements, held, types }: Claim): Requirements {
  const own = requirements.without(labels.hostname).without(labels.registered).without(labels.initialized);
  if (held.length === 0) return own;
  const offerings = types.flatMap((type) => type.offerings);
  const keys = [awsLabels.capacityReservationId, kwokLabels.reservationId].filter((key) =>
    offerings.some((offering) => held.includes(offering.requirements.get(key).singleValue ?? "")),
  );
  return own
    .replace(Requirement.in(labels.capacityType, ["reserved"]))
    .add(...keys.map((key) => Requirement.in(key, held)));
}

/** 02:L-1. */
function price({ offerings }: InstanceType, requirements: Requirements, wellKnown: ReadonlySet<string>): number {
  const possible = offerings.filter(
    (offering) =>
      offering.available && isCompatible(requirements, offering.requirements, { allowUndefined: wellKnown }),
  );
  return Math.min(...possible.map((offering) => offering.price));
}

/** 02:G-3: the least of each resource over the groups that still have a type. */
function leastDaemons({ template, types }: Claim) {
  const groups = template.daemonGroups.filter((group) => group.types.some((type) => types.includes(type)));
  return minResources(...groups.map(({ overhead }) => overhead));
}

/** 02:Q-23. */
function isRelaxed({ template, requirements }: Claim): boolean {
  return [...template.requirements].some(
    ({ key, minValues }) => minValues !== undefined && (requirements.get(key).minValues ?? 0) < minValues,
  );
}

function compareNumbers(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
