import type { LabelPolicy } from "../../api/label-policy.ts";
import { namespacedName } from "../../api/object.ts";
import { lowerBound } from "../../core/bound/lower-bound.ts";
import { sharedSimulator } from "../../core/disruption/shared-simulator.ts";
import { type RepackPlan, repack } from "../../core/repack/repack.ts";
import { withDisruptionConditions } from "../../core/scenario/complete-disruption-conditions.ts";
import { DisruptionProjection } from "../../state/disruption-projection.ts";
import { disruptionSourcesOf } from "../../state/scenario.ts";
import { runSteps } from "../../util/steps.ts";
import type { Io } from "../io.ts";
import { lpSolver } from "../lp-solver.ts";
import { claimedNodePrices } from "../prices/claimed-node-prices.ts";
import type { Priced } from "../prices/price-sources.ts";
import { searchFor } from "./make-disruption-plan.ts";
import { type PlanOutcome, type PlanRequest, preparePlan } from "./make-plan.ts";

export interface RepackRequest extends PlanRequest {
  readonly allowsSpotToSpot: boolean;
}

/** A cluster packed anew, and the least it can cost. */
export interface RepackedPlan extends RepackPlan {
  /** Dollars an hour: no plan for these pods on nodes that can be launched now costs less. */
  readonly lowerBound: number;
  readonly labelPolicy: LabelPolicy;
  /** Of today's nodes, where they are known. */
  readonly todaysPrices: readonly Priced[];
}

export type RepackOutcome =
  | { readonly kind: "planned"; readonly plan: RepackedPlan; readonly findings: PlanOutcome["findings"] }
  | Exclude<PlanOutcome, { readonly kind: "planned" }>;

/** How long to search for commands; what was found by then holds. */
const searchMs = 120_000;

/** Reads files or a live cluster, packs it anew and finds the commands that lead there. */
export async function makeRepackPlan(request: RepackRequest, io: Io): Promise<RepackOutcome> {
  const outcome = await preparePlan(request, io, "disruption");
  if (outcome.kind !== "prepared") return outcome;
  const { objects, options, catalogue } = outcome.prepared;
  const { nowMs, labelPolicy } = options;
  const { cluster, sources } = disruptionSourcesOf(withDisruptionConditions(objects, { ...catalogue, nowMs }), {
    ...options,
    mode: "default",
    allowsSpotToSpot: request.allowsSpotToSpot,
    allowsMultiReplacement: true,
    nominated: [],
  });
  const projection = new DisruptionProjection(cluster, { ...sources, chooseOffers: options.chooseOffers });
  const todaysPrices = claimedNodePrices(projection.snapshot());
  const steps = repack(projection, {
    simulatorFor: (snapshot) => sharedSimulator(snapshot, { placesOwnPodsFirst: true }),
    searchBudget: searchFor(searchMs),
  });
  const plan = runSteps(steps);
  const bound = await boundOf(plan);
  const repacked: RepackedPlan = { ...plan, lowerBound: bound, labelPolicy, todaysPrices };
  return { kind: "planned", findings: outcome.findings, plan: repacked };
}

/** Nodes that stay in any case cost what they cost; their free room takes pods for nothing. */
async function boundOf({ repacked, provisioning }: RepackPlan): Promise<number> {
  const { problem, keptPrice } = repacked;
  const unschedulable = new Set(provisioning.unschedulable);
  const pods = problem.pods.filter(({ metadata }) => !unschedulable.has(namespacedName(metadata)));
  return keptPrice + (await lowerBound(problem, { solveLp: await lpSolver(), pods }));
}
