import { labels, resources } from "../../src/api/labels.ts";
import { describeRequirementConflicts, requirementConflicts } from "../../src/core/compatibility.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import { Requirement } from "../../src/core/requirement.ts";
import type { Requirements } from "../../src/core/requirements.ts";
import {
  amountOf,
  maxResources,
  mergeResources,
  noResources,
  type Resources,
  subtractResources,
} from "../../src/core/resources.ts";
import { describeUntoleratedTaints, untoleratedTaints } from "../../src/core/tolerations.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { filterTypes } from "./filter.ts";
import type { PodView } from "./pod-view.ts";
import { hold, reservationsFor } from "./reservations.ts";
import { mergeWay, tighten } from "./tighten.ts";
import { record, registerHostname } from "./topology.ts";
import { type Claim, type Refused, refused, type Template, type World } from "./world.ts";

/** A planned node with the pod on it, not yet decided on. */
export interface Acceptance {
  readonly kind: "accepted";
  readonly claim: Claim;
  readonly requirements: Requirements;
  readonly types: readonly InstanceType[];
  readonly reservations: readonly string[];
}

/** A new node without pods, with the types that limits leave. (02:Q-21, H-2) */
export function candidate(world: World, template: Template): Claim | Refused {
  const limit = world.remaining.get(template.pool) ?? noResources;
  if (Object.hasOwn(limit, resources.nodes) && amountOf(limit, resources.nodes).isZero()) {
    return refused(`node limits have been exhausted for nodepool (NodePool=${template.pool})`);
  }
  const types = template.types.filter(({ capacity }) =>
    Object.keys(limit).every((name) => amountOf(capacity, name).cmp(amountOf(limit, name)) <= 0),
  );
  if (types.length === 0) {
    return refused(`all available instance types exceed limits for nodepool (NodePool=${template.pool})`);
  }
  world.placeholders += 1;
  const hostname = `hostname-placeholder-${String(world.placeholders).padStart(4, "0")}`;
  return {
    template,
    hostname,
    requirements: template.requirements.add(Requirement.in(labels.hostname, [hostname])),
    types,
    requests: noResources,
    ports: template.daemonGroups.map(({ ports }) => ports),
    held: [],
    pods: [],
  };
}

export interface AcceptOptions {
  /** BestEffort, and the node is new. (02 §5.5) */
  readonly relaxMinValues: boolean;
}

/** 02:N-1 to N-3: the first volume alternative that works, else what the last one met with. */
export function acceptOnClaim(world: World, claim: Claim, view: PodView, options: AcceptOptions): Acceptance | Refused {
  const { labelPolicy } = world.problem;
  const untolerated = untoleratedTaints(view.pod.spec.tolerations, claim.template.taints);
  if (untolerated.length > 0) return refused(describeUntoleratedTaints(untolerated)); // N-1
  const found = requirementConflicts(claim.requirements, view.requirements, { allowUndefined: labelPolicy.wellKnown });
  if (found.length > 0) return refused(`incompatible requirements, ${describeRequirementConflicts(found)}`); // N-2
  const wanted = claim.requirements.add(...view.requirements);

  let last: Refused | undefined;
  for (const alternative of view.alternatives) {
    const outcome = acceptAlternative(world, { claim, view, wanted, alternative, ...options });
    if (outcome.kind === "accepted") return outcome;
    last = outcome;
  }
  return last ?? refused("");
}

interface Alternative extends AcceptOptions {
  readonly claim: Claim;
  readonly view: PodView;
  readonly wanted: Requirements;
  readonly alternative: Requirements;
}

/**
 * 02:N-3a, N-3c. Equally good domains are tried in turn until one works. If none does, the first says why, as it would
 * have upstream, where it is the only one drawn; but if some domain only has to wait for reserved capacity, the pod
 * waits. (02 §12.1-3, Y-5)
 */
function acceptAlternative(world: World, { alternative, wanted, ...attempt }: Alternative): Acceptance | Refused {
  const options = { allowUndefined: world.problem.labelPolicy.wellKnown };
  const found = requirementConflicts(wanted, alternative, options);
  if (found.length > 0) return refused(`incompatible volume requirements, ${describeRequirementConflicts(found)}`);
  const merged = wanted.add(...alternative);

  const tightened = tighten(world.topology, attempt.view, merged);
  if (tightened.kind === "refused") return tightened;
  const refusals: Refused[] = [];
  for (const way of tightened.ways) {
    const outcome = mergeWay(merged, way, options);
    const accepted = outcome.kind === "refused" ? outcome : acceptSettled(world, outcome.requirements, attempt);
    if (accepted.kind === "accepted") return accepted;
    refusals.push(accepted);
  }
  return refusals.find(({ defers }) => defers) ?? refusals[0] ?? refused("");
}

type Attempt = Omit<Alternative, "alternative" | "wanted">;

/** 02:N-3d, N-3f: every requirement is known now; types and reservations decide. */
function acceptSettled(
  world: World,
  requirements: Requirements,
  { claim, view, relaxMinValues }: Attempt,
): Acceptance | Refused {
  const filtered = filterTypes({
    types: claim.types,
    requirements,
    wellKnown: world.problem.labelPolicy.wellKnown,
    podRequests: view.requests,
    podPorts: view.ports,
    totalRequests: mergeResources(claim.requests, view.requests),
    daemonGroups: claim.template.daemonGroups,
    groupPorts: claim.ports,
    relaxMinValues,
  });
  if (filtered.kind === "refused") return filtered;
  let lowered = requirements;
  for (const [key, achieved] of filtered.lowered) {
    lowered = lowered.replace(lowered.get(key).withMinValues(achieved)); // F-2
  }
  const accepted = { claim, types: filtered.types, requirements: lowered };
  const reservations = reservationsFor(accepted, world.ledger, world.problem);
  if (reservations.kind === "refused") return reservations;
  return { ...accepted, kind: "accepted", reservations: reservations.ids };
}

/** 02 §5.5, commit. */
export function commitToClaim(world: World, view: PodView, { claim, ...accepted }: Acceptance): void {
  claim.pods.push(view.pod);
  claim.requirements = accepted.requirements;
  claim.types = accepted.types;
  claim.requests = mergeResources(claim.requests, view.requests);
  claim.ports = claim.ports.map((ports) => [...ports, ...view.ports]);
  registerHostname(world.topology, claim.hostname);
  record(world.topology, view.pod, { requirements: claim.requirements, taints: claim.template.taints });
  hold(claim, accepted.reservations, world.ledger);
}

/** The largest amount of every resource the node could have, and one node. (02:H-3, 02 §12.2-2) */
export function chargeLimits(world: World, { template, types }: Claim): void {
  const limit = world.remaining.get(template.pool);
  if (limit === undefined) return;
  const largest: Resources = {
    ...maxResources(...types.map(({ capacity }) => capacity)),
    [resources.nodes]: Quantity.of(1),
  };
  world.remaining.set(template.pool, subtractResources(limit, largest));
}
