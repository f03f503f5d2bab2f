import type { Steps } from "../../util/steps.ts";
import { disruptionReportOf } from "../plan/disruption-report.ts";
import { disruptionPlanInSteps } from "../plan/make-disruption-plan.ts";
import type { PreparedPlan } from "../plan/make-plan.ts";
import { nodeOutcomes } from "../plan/node-outcomes.ts";
import { servedNodeClasses } from "../plan/provider-catalogue.ts";
import { type NodePriceSources, typesByName } from "./node-prices.ts";
import type { TopReason } from "./top-rows.ts";

/** What takes longer to find out than reading the objects: why nodes stay, and what NodePools pay for them. */
export interface TopFindings {
  readonly reasons: ReadonlyMap<string, TopReason>;
  readonly prices: NodePriceSources;
}

export const noTopFindings: TopFindings = { reasons: new Map(), prices: { pools: new Map(), others: [] } };

/** Asks each disruption method, as `plan --disruption` does. */
export function* topFindingsOf(
  prepared: PreparedPlan,
  { allowsSpotToSpot }: { readonly allowsSpotToSpot: boolean },
): Steps<TopFindings> {
  const plan = yield* disruptionPlanInSteps(prepared, { mode: "default", allowsSpotToSpot, nominated: [] });
  const { provider, typesFor } = prepared.catalogue;
  // A class that nobody defined has the default settings; prices do not depend on them.
  const defaultTypes = typesFor({ ...servedNodeClasses[provider], name: "" });
  const pools = [...plan.snapshot.pools.values()].map(({ name, instanceTypes }) => [name, instanceTypes] as const);
  return {
    reasons: nodeOutcomes(disruptionReportOf(plan)),
    prices: { pools: new Map(pools), others: [typesByName(defaultTypes)] },
  };
}
