import type { KubeObject } from "../../api/object.ts";
import { type NextCommands, nextCommands } from "../../core/disruption/next-commands.ts";
import { type DisruptionProposal, proposeDisruption } from "../../core/disruption/propose.ts";
import { sharedSimulator } from "../../core/disruption/shared-simulator.ts";
import type { SearchBudget } from "../../core/disruption/simulator.ts";
import type { DisruptionMode, DisruptionSearch, DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import { cheaperSearch, mayBeCheaper } from "../../core/repack/cheaper-search.ts";
import { withDisruptionConditions } from "../../core/scenario/complete-disruption-conditions.ts";
import { DisruptionProjection } from "../../state/disruption-projection.ts";
import {
  type DisruptionScenarioOptions,
  disruptionScenarioInSteps,
  disruptionSourcesOf,
} from "../../state/scenario.ts";
import { runSteps, type Steps } from "../../util/steps.ts";
import type { Io } from "../io.ts";
import { type PlanOutcome, type PlanRequest, type PreparedPlan, preparePlan } from "./make-plan.ts";

/** How disruption is to be judged. */
interface DisruptionPlanChoices {
  readonly mode: DisruptionMode;
  readonly allowsSpotToSpot: boolean;
  readonly allowsMultiReplacement?: boolean;
  /** Names of nodes that a recent round placed pods on. */
  readonly nominated: readonly string[];
}

export interface DisruptionPlanRequest extends PlanRequest, DisruptionPlanChoices {}

/** What each disruption method would do, and what that was decided on. */
export interface DisruptionPlan {
  readonly snapshot: DisruptionSnapshot;
  readonly proposal: DisruptionProposal;
  /** What a running controller would do now. */
  readonly next: NextCommands | undefined;
}

export type DisruptionPlanOutcome =
  | { readonly kind: "planned"; readonly plan: DisruptionPlan; readonly findings: PlanOutcome["findings"] }
  | Exclude<PlanOutcome, { readonly kind: "planned" }>;

/** How long to search; nodes that were not reached by then are named. */
const searchMs = 60_000;

/** Reads files or a live cluster and asks each disruption method about it. */
export async function makeDisruptionPlan(request: DisruptionPlanRequest, io: Io): Promise<DisruptionPlanOutcome> {
  // In mode upstream objects are taken as they are, as in a single round: only what is written binds a claim to its volume.
  const input = request.mode === "upstream" ? { ...request, rounds: 1 } : request;
  const outcome = await preparePlan(input, io, "disruption");
  if (outcome.kind !== "prepared") return outcome;
  return { kind: "planned", findings: outcome.findings, plan: disruptionPlanOf(outcome.prepared, request) };
}

/** Asks each disruption method about what was read. */
export function disruptionPlanOf(prepared: PreparedPlan, choices: DisruptionPlanChoices): DisruptionPlan {
  return runSteps(disruptionPlanInSteps(prepared, choices));
}

/** The same in short steps, for whoever has other things to do meanwhile. */
export function* disruptionPlanInSteps(
  { objects, options, catalogue }: PreparedPlan,
  { mode, allowsSpotToSpot, allowsMultiReplacement = false, nominated }: DisruptionPlanChoices,
): Steps<DisruptionPlan> {
  const { nowMs } = options;
  const completed = withDisruptionConditions(objects, { ...catalogue, nowMs });
  const scenario = { ...options, mode, allowsSpotToSpot, allowsMultiReplacement, nominated };
  const snapshot = yield* disruptionScenarioInSteps(completed, scenario);
  const proposal = yield* proposeDisruption(snapshot, {
    simulatorFor: sharedSimulator,
    searchBudget: searchFor(searchMs),
    sweep: mode === "upstream" ? "first" : "all",
  });
  return { snapshot, proposal, next: yield* commandsOfController(snapshot, completed, scenario) };
}

/** In a small cluster the controller first asks which search leads to the cheaper one. */
function* commandsOfController(
  snapshot: DisruptionSnapshot,
  objects: readonly KubeObject[],
  scenario: DisruptionScenarioOptions,
): Steps<NextCommands | undefined> {
  const openSearch = (): SearchBudget => searchFor(searchMs);
  const next = yield* nextCommands(snapshot, openSearch());
  if (next === undefined || !mayBeCheaper(next.method, snapshot)) return next;
  const projectionOf = (mode: DisruptionSearch): DisruptionProjection => {
    const { cluster, sources } = disruptionSourcesOf(objects, { ...scenario, mode });
    return new DisruptionProjection(cluster, { ...sources, chooseOffers: scenario.chooseOffers });
  };
  const mode = yield* cheaperSearch({ projectionOf, openSearch });
  return mode === "default" ? next : yield* nextCommands(projectionOf(mode).snapshot(), openSearch());
}

export function searchFor(ms: number): SearchBudget {
  const endsAt = performance.now() + ms;
  return { mayContinue: () => performance.now() < endsAt };
}
