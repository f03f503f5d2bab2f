import { setImmediate } from "node:timers/promises";
import type { KubeObject } from "../../api/object.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Clock } from "../../util/clock.ts";
import { type Pause, timeSlicePause } from "../../util/pause.ts";
import { Random } from "../../util/random.ts";
import { runSteps } from "../../util/steps.ts";
import { connectTo } from "../connect.ts";
import { exitCodes, type Io, usesColor } from "../io.ts";
import {
  type LiveCluster,
  type LiveReading,
  type LiveReadOptions,
  type LiveSource,
  readLiveCluster,
} from "../live-cluster.ts";
import { type PlanRequest, preparePlan } from "../plan/make-plan.ts";
import { planOf } from "../plan/plan-or-report.ts";
import { forbiddenAdvice, unreachableText } from "../plan-input.ts";
import { countText } from "../text-table.ts";
import { PodUse } from "./pod-use.ts";
import { recordedCluster } from "./recorded-cluster.ts";
import { renderTopTable } from "./render-top-table.ts";
import type { TopSortKey } from "./sort-rows.ts";
import type { Terminal } from "./terminal.ts";
import { noTopFindings, type TopFindings, topFindingsOf } from "./top-findings.ts";
import { type TopView, topReport } from "./top-report.ts";
import { TopScreen, type TopStudy } from "./top-screen.ts";
import { topClusterOf, topPrices, topViewOf } from "./top-view.ts";
import { WatchedObjects } from "./watched-objects.ts";

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

/** Where a live cluster is shown: on a terminal until the user quits, or else printed once. */
export interface TopDestination {
  readonly io: Io;
  readonly terminal?: Terminal | undefined;
}

/** Shows the nodes of a live cluster. */
export async function showTopOfCluster(
  live: LiveSource,
  request: PlanRequest,
  choices: TopChoices,
  { io, terminal }: TopDestination,
): Promise<void> {
  let cluster: LiveCluster | undefined;
  try {
    cluster = await orUnreadable((live.connect ?? connectTo(io))(live));
    const { kube, clock } = cluster;
    const context = { request, choices, clock, io };
    if (terminal === undefined || !canWatch(kube)) await printTop(await readNodes(cluster), context);
    else await watchTop({ cluster, kube, terminal }, context);
  } catch (error) {
    if (!(error instanceof UnreadableCluster)) throw error;
    reportFailure(error.message, io);
  } finally {
    cluster?.close();
  }
}

/** There is nothing to show; the message says why, and how to check it. */
class UnreadableCluster extends Error {}

async function orUnreadable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw new UnreadableCluster(unreachableText(error), { cause: error });
  }
}

async function readNodes(cluster: LiveCluster, onProgress?: LiveReadOptions["onProgress"]): Promise<LiveReading> {
  const reading = await orUnreadable(readLiveCluster(cluster, { ...(onProgress && { onProgress }) }));
  const hidden = reading.forbidden.find(({ kind }) => kind === "Node");
  if (hidden !== undefined) throw new UnreadableCluster(forbiddenText(hidden));
  return reading;
}

function canWatch(kube: LiveCluster["kube"]): kube is WatchingClient {
  return kube.watch !== undefined;
}

/** What to show of a live cluster, and how. */
interface TopContext {
  readonly request: PlanRequest;
  readonly choices: TopChoices;
  readonly clock: Clock;
  readonly io: Io;
}

async function printTop({ objects, forbidden }: LiveReading, context: TopContext): Promise<void> {
  const { request, choices, clock, io } = context;
  const study = await studyOf(objects, context);
  const findings = study.steps === undefined ? noTopFindings : runSteps(study.steps);
  const notes = [...forbidden.map(forbiddenText), ...study.notes];
  const nowMs = request.nowMs ?? clock.now();
  printView(await viewOf(objects, findings, { ...choices, nowMs, notes }), choices, io);
}

type WatchingClient = Pick<KubeClient, "list" | "watch">;

interface TopConnection {
  readonly cluster: LiveCluster;
  readonly kube: WatchingClient;
  readonly terminal: Terminal;
}

/** Reads and watches the cluster and draws what changes, until the user quits. The screen is there from the start. */
async function watchTop({ cluster, kube, terminal }: TopConnection, context: TopContext): Promise<void> {
  const { choices, clock, io } = context;
  const pause = timeSlicePause({ now: () => performance.now(), nextTurn: () => setImmediate() });
  const stop = new AbortController();
  const random = new Random("top"); // only spreads retries
  const shown: { watched?: WatchedObjects; watching?: Promise<void>; notes: readonly string[]; progress: string } = {
    notes: [],
    progress: "reading the cluster",
  };
  const onChange = (): void => screen.changed();
  const open = async (): Promise<void> => {
    const reading = await readNodes(cluster, (kind, count) => {
      shown.progress = `reading the cluster: ${countText(count, kind)}`;
      onChange();
    });
    if (stop.signal.aborted) return;
    shown.watched = new WatchedObjects({ kube, clock, random, pause, reading, onChange });
    shown.watching = shown.watched.run(stop.signal);
    shown.notes = reading.forbidden.map(forbiddenText);
    onChange();
  };
  const ready = open();
  ready.catch(() => undefined); // the screen throws it, unless the user has quit before
  const screen = new TopScreen({
    ...{ terminal, clock, pause, ready, color: usesColor(io), sort: choices.sort },
    source: {
      objects: () => shown.watched?.objects() ?? [],
      status: () => (shown.watched === undefined ? shown.progress : shown.watched.status),
    },
    study: (objects) => studyOf(objects, context, pause),
    notes: () => shown.notes,
  });
  try {
    await screen.run();
  } finally {
    stop.abort();
    await shown.watching;
  }
}

/** Nodes are shown even where the objects of the cluster do not allow a plan; a note says what is missing then. */
async function studyOf(
  objects: readonly KubeObject[],
  { request, choices, clock, io }: TopContext,
  pause?: Pause,
): Promise<TopStudy> {
  const live = { connect: recordedCluster(objects, clock) };
  const outcome = await preparePlan({ ...request, live, pause }, { ...io, isTty: false }, "disruption");
  if (outcome.kind !== "prepared") return { notes: [unpreparedText(outcome)] };
  return { steps: topFindingsOf(outcome.prepared, { allowsSpotToSpot: choices.spotToSpot }), notes: [] };
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
