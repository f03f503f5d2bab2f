import type { DisruptionSearch, DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import { cheaperSearch } from "../../core/repack/cheaper-search.ts";
import type { ClusterProjection } from "../../core/repack/cluster-projection.ts";
import { copyOfViews } from "../../state/copy-of-views.ts";
import { DisruptionProjection } from "../../state/disruption-projection.ts";
import type { DisruptionSources } from "../../state/disruption-snapshot.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { runInSlices } from "../provisioning/run-in-slices.ts";
import { nominationMs } from "../settings.ts";
import { clockSearch } from "./search-budget.ts";
import { disruptionSources, type TakeSnapshotOptions } from "./take-snapshot.ts";

/** The search that leads to the cheaper cluster; the usual one if that cannot be told. (03 §10.2-6) */
export async function chooseSearch(
  { cluster }: DisruptionSnapshot,
  options: TakeSnapshotOptions,
  context: KarpenterContext,
): Promise<DisruptionSearch> {
  const { openBudget, clock, openSearch = clockSearch(clock) } = context;
  const sources = await disruptionSources(options, context);
  const leaving = new Set(cluster.nodes.filter(({ isBeingDeleted }) => isBeingDeleted).map(({ name }) => name));
  const steps = cheaperSearch({
    projectionOf: (mode) => projectionWithout(leaving, { ...sources, mode }, context),
    openSearch: () => openSearch("multi-node-consolidation"),
  });
  return runInSlices(steps, openBudget());
}

function projectionWithout(
  leaving: ReadonlySet<string>,
  sources: DisruptionSources,
  context: KarpenterContext,
): ClusterProjection {
  const { clock, cloud, settings } = context;
  const options = { clock, servedNodeClasses: cloud.nodeClasses, nominationMs: nominationMs(settings) };
  const projection = new DisruptionProjection(copyOfViews(context, options), sources);
  const names = projection.snapshot().cluster.nodes.map(({ name }) => name);
  projection.carryOut({ removedNodes: names.filter((name) => leaving.has(name)), newNodes: [], placements: [] });
  return projection;
}
