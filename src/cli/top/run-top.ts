import type { KubeObject } from "../../api/object.ts";
import { runSteps } from "../../util/steps.ts";
import { connectTo } from "../connect.ts";
import { exitCodes, type Io } from "../io.ts";
import { type LiveCluster, type LiveReading, type LiveSource, readLiveCluster } from "../live-cluster.ts";
import { type PlanRequest, preparePlan } from "../plan/make-plan.ts";
import { planOf } from "../plan/plan-or-report.ts";
import { forbiddenAdvice, unreachableText } from "../plan-input.ts";
import { countText } from "../text-table.ts";
import { PodUse } from "./pod-use.ts";
import { recordedCluster } from "./recorded-cluster.ts";
import { renderTopTable } from "./render-top-table.ts";
import type { TopSortKey } from "./sort-rows.ts";
import { noTopFindings, type TopFindings, topFindingsOf } from "./top-findings.ts";
import { type TopView, topReport } from "./top-report.ts";
import { topClusterOf, topPrices, topViewOf } from "./top-view.ts";

interface TopChoices {
  readonly sort: TopSortKey;
  readonly output: "table" | "json";
  readonly spotToSpot: boolean;
}

/** Prints the nodes of files. */
export async function printTopOfFiles(request: PlanRequest, choices: TopChoices, io: Io): Promise<void> {
  const outcome = await preparePlan(request, io, "disruption");
  const prepared = planOf(
    outcome.kind === "prepared" ? { ...outcome, kind: "planned", plan: outcome.prepared } : outcome,
    io,
  );
  if (prepared === undefined) return;
  const findings = runSteps(topFindingsOf(prepared, { allowsSpotToSpot: choices.spotToSpot }));
  const { nowMs } = prepared.options;
  printView(await viewOf(prepared.objects, findings, { ...choices, nowMs, notes: [] }), choices, io);
}

/** Prints the nodes of a live cluster, once. */
export async function printTopOfCluster(
  live: LiveSource,
  request: PlanRequest,
  choices: TopChoices,
  io: Io,
): Promise<void> {
  const found = await readCluster(live, io);
  if (found === undefined) return;
  const { reading, clock } = found;
  const isHidden = reading.forbidden.find(({ kind }) => kind === "Node");
  if (isHidden !== undefined) return reportFailure(forbiddenText(isHidden), io);
  const { objects } = reading;
  const computed = await clusterFindings(
    { ...request, live: { connect: recordedCluster(objects, clock) } },
    choices,
    io,
  );
  const notes = [...reading.forbidden.map(forbiddenText), ...computed.notes];
  const nowMs = request.nowMs ?? clock.now();
  printView(await viewOf(objects, computed.findings, { ...choices, nowMs, notes }), choices, io);
}

async function readCluster(
  live: LiveSource,
  io: Io,
): Promise<{ readonly reading: LiveReading; readonly clock: LiveCluster["clock"] } | undefined> {
  try {
    const cluster = await (live.connect ?? connectTo(io))(live);
    try {
      return { reading: await readLiveCluster(cluster), clock: cluster.clock };
    } finally {
      cluster.close();
    }
  } catch (error) {
    reportFailure(unreachableText(error), io);
    return undefined;
  }
}

/** Nodes are shown even where the objects of the cluster do not allow a plan; a note says what is missing then. */
async function clusterFindings(
  request: PlanRequest,
  { spotToSpot }: Pick<TopChoices, "spotToSpot">,
  io: Io,
): Promise<{ readonly findings: TopFindings; readonly notes: readonly string[] }> {
  const outcome = await preparePlan(request, io, "disruption");
  if (outcome.kind === "prepared") {
    const steps = topFindingsOf(outcome.prepared, { allowsSpotToSpot: spotToSpot });
    return { findings: runSteps(steps), notes: [] };
  }
  return { findings: noTopFindings, notes: [unpreparedText(outcome)] };
}

function unpreparedText(outcome: Exclude<Awaited<ReturnType<typeof preparePlan>>, { kind: "prepared" }>): string {
  const missing = "why nodes stay is not shown";
  if (outcome.kind === "no-catalogue") return `${missing}: ${outcome.because}`;
  const errors = outcome.findings.filter(({ severity }) => severity === "error");
  const [first] = errors;
  return `${missing}: ${countText(errors.length, "error")} in the objects of the cluster (first: ${first?.message ?? ""}); karpenter plan names them all`;
}

interface ViewOptions extends Pick<TopChoices, "sort"> {
  readonly nowMs: number;
  readonly notes: readonly string[];
}

async function viewOf(objects: readonly KubeObject[], findings: TopFindings, options: ViewOptions): Promise<TopView> {
  const cluster = topClusterOf(objects);
  const { priceOf, notes } = await topPrices(cluster, findings);
  return topViewOf(cluster, {
    ...options,
    notes: [...options.notes, ...notes],
    priceOf,
    reasons: findings.reasons,
    use: new PodUse(),
  });
}

function printView(view: TopView, { output }: Pick<TopChoices, "output">, io: Io): void {
  io.stdout(output === "json" ? `${JSON.stringify(topReport(view), null, 2)}\n` : renderTopTable(view));
}

function forbiddenText({ kind, because }: LiveReading["forbidden"][number]): string {
  return `not allowed to list ${kind}: ${because}; ${forbiddenAdvice}`;
}

function reportFailure(message: string, io: Io): void {
  io.stderr(`error: ${message}\n`);
  io.exit(exitCodes.badInput);
}
