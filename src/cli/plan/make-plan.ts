import { type Finding, sortedFindings } from "../../api/manifest/finding.ts";
import type { KubeObject } from "../../api/object.ts";
import { bindPods } from "../../control-plane/controllers/scheduler/bind-pods.ts";
import type { InputNote } from "../../core/scenario/input-note.ts";
import type { ReplicaChoice } from "../../core/scenario/replica-range.ts";
import { scenarioKind } from "../../core/scenario/scenario-kind.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import type { Pass } from "../../core/scheduling/pass-state.ts";
import { defaultSchedulingPolicy, type SchedulingProblem } from "../../core/scheduling/problem.ts";
import { solveInSteps } from "../../core/scheduling/solve.ts";
import { type PlannedRound, planRounds } from "../../state/plan-rounds.ts";
import type { Scenario, ScenarioOptions } from "../../state/scenario.ts";
import { scenarioDevices } from "../../state/scenario-devices.ts";
import { noPause, type Pause } from "../../util/pause.ts";
import { Random } from "../../util/random.ts";
import { runStepsWithPauses } from "../../util/steps.ts";
import type { Input } from "../input.ts";
import type { Io } from "../io.ts";
import type { LiveSource } from "../live-cluster.ts";
import { readPlanInput } from "../plan-input.ts";
import { readPriceBook } from "../prices/read-price-book.ts";
import { readSchedulerConfigFile } from "../scheduler-config.ts";
import { readDocuments } from "./documents.ts";
import type { PlanProvider } from "./plan-choices.ts";
import {
  convertDocumentsInSteps,
  hasErrors,
  inferPlanProviders,
  type LocatedObject,
  type PlanPurpose,
  prepareInputInSteps,
} from "./prepare-input.ts";
import { priceWithoutJobs } from "./price-without-jobs.ts";
import { progressBar } from "./progress-bar.ts";
import {
  type CatalogueRefusal,
  type CatalogueRequest,
  loadCatalogue,
  type ProviderCatalogue,
} from "./provider-catalogue.ts";

/** What to plan, and how. */
export interface PlanRequest {
  readonly paths: readonly string[];
  /** Kustomize folders, to be rendered. */
  readonly kustomize?: readonly string[] | undefined;
  readonly recursive: boolean;
  /** If absent, inferred from the node classes of the pools. */
  readonly provider?: PlanProvider | undefined;
  readonly instanceTypes?: string | undefined;
  readonly region?: string | undefined;
  /** Files with prices of the user's own. */
  readonly prices?: readonly string[] | undefined;
  readonly preferences: "Respect" | "Ignore";
  readonly minValues: "Strict" | "BestEffort";
  readonly packing: "plain" | "polished";
  /** A file with the cluster's default topology constraints. (02:X-50) */
  readonly schedulerConfig?: string | undefined;
  /** How many pods of workloads with an autoscaler; what they start with by default. */
  readonly replicas?: ReplicaChoice | undefined;
  /** Whether pods with resource claims are refused, as the controller's setting of this name says. (02:D-1) */
  readonly ignoreDraRequests?: "true" | "false" | undefined;
  readonly seed: number;
  /** The most rounds to plan; with 1, the plan is what a single pass decides, as upstream's. */
  readonly rounds: number;
  /** The time to plan at; by default that of the snapshot, else now. */
  readonly nowMs?: number | undefined;
  /** A live cluster to start from; objects of the files replace its objects. */
  readonly live?: LiveSource | undefined;
  /** What was read already; then neither files nor a cluster are read. */
  readonly input?: Input | undefined;
  /** Lets others have a turn while a large input is prepared. */
  readonly pause?: Pause | undefined;
}

/** A plan and what it was made from. */
export interface Plan {
  readonly scenario: Scenario;
  /** Everything that was read, completed as a cluster would. */
  readonly objects: readonly KubeObject[];
  /** The workloads that pods were made from. */
  readonly workloads: readonly KubeObject[];
  /** The sum of all rounds. */
  readonly decision: Decision;
  readonly rounds: readonly PlannedRound[];
  readonly catalogue: ProviderCatalogue;
  readonly hasDefaultPool: boolean;
  readonly ignoredKinds: ReadonlyMap<string, number>;
  readonly inputNotes: readonly InputNote[];
  /** Where Jobs share new nodes with other pods: the price of a plan without them. */
  readonly pricePerHourWithoutJobs?: number | undefined;
  readonly timings: Timings;
}

/** Of all rounds together. */
interface Timings {
  /** Preparing the passes. */
  readonly buildMs: number;
  /** Running the passes. */
  readonly solveMs: number;
  readonly peakHeapMiB: number;
}

export type PlanOutcome =
  | { readonly kind: "planned"; readonly plan: Plan; readonly findings: readonly Finding[] }
  | { readonly kind: "bad-input"; readonly findings: readonly Finding[] }
  | ({ readonly kind: "no-catalogue"; readonly findings: readonly Finding[] } & CatalogueRefusal);

/** What was read, ready to be planned. */
export interface PreparedPlan
  extends Pick<Plan, "objects" | "workloads" | "catalogue" | "hasDefaultPool" | "ignoredKinds" | "inputNotes"> {
  readonly options: ScenarioOptions;
}

type PreparationOutcome =
  | { readonly kind: "prepared"; readonly prepared: PreparedPlan; readonly findings: readonly Finding[] }
  | Exclude<PlanOutcome, { readonly kind: "planned" }>;

/** Reads files or a live cluster and makes a plan. */
export async function makePlan(request: PlanRequest, io: Io): Promise<PlanOutcome> {
  const outcome = await preparePlan(request, io);
  if (outcome.kind !== "prepared") return outcome;
  const { options, ...prepared } = outcome.prepared;
  const passes = new PassHistory();
  const planOfObjects = (objects: readonly KubeObject[]) => {
    const ties = new Random(request.seed).fork("scheduler-ties");
    return planRounds(objects, options, {
      // What claims get in one round is not known in the next.
      rounds: options.devices === undefined ? request.rounds : 1,
      solve: (problem) => solveWithProgress(problem, { passes, io }),
      bindPods: (pods, cluster, options) => bindPods(pods, cluster, { ...options, random: ties }),
    });
  };
  const result = planOfObjects(prepared.objects);
  const pricePerHourWithoutJobs = priceWithoutJobs(prepared.objects, {
    decision: result.decision,
    plan: (objects) => planOfObjects(objects).decision,
  });
  const plan = { ...prepared, ...result, pricePerHourWithoutJobs, timings: passes.timings() };
  return { kind: "planned", findings: outcome.findings, plan };
}

/** Reads files or a live cluster, completes and checks what is there. */
export async function preparePlan(
  request: PlanRequest,
  io: Io,
  purpose: PlanPurpose = "scheduling",
): Promise<PreparationOutcome> {
  const { paths, kustomize = [], recursive, live, pause = noPause } = request;
  const clockMs = Date.now();
  const input =
    request.input ??
    (await readPlanInput({ paths, kustomize, recursive, live, read: readDocuments }, { io, nowMs: clockMs, pause }));
  const nowMs = request.nowMs ?? (Date.parse(input.header?.time ?? "") || clockMs);
  const converted = await runStepsWithPauses(convertDocumentsInSteps(input.documents), pause);
  const given = converted.objects.map(({ object }) => object);
  const providers = providersOf(request, converted.objects);
  const prices = await readPriceBook(request.prices, io);
  const opened = await loadCatalogue({ ...request, providers, prices }, { objects: given, header: input.header, io });
  if ("refused" in opened) {
    // What could not be read may have been what names the region, so that comes first.
    const found = sortedFindings([...input.findings, ...converted.findings, ...prices.findings], input.sources);
    return hasErrors(found)
      ? { kind: "bad-input", findings: found }
      : { kind: "no-catalogue", findings: found, ...opened };
  }

  const { catalogue } = opened;
  const config = await readSchedulerConfigFile(request.schedulerConfig, io);
  const steps = prepareInputInSteps(converted.objects, {
    ...{ catalogue, nowMs, purpose },
    replicas: request.replicas ?? "current",
    hasCluster: input.header !== undefined,
    // One round is what upstream decides on the objects as they are. A cluster's own classes and volumes are all there are.
    volumes: request.rounds === 1 ? undefined : { assumes: input.header === undefined },
  });
  const prepared = await runStepsWithPauses(steps, pause);
  const findings = sortedFindings(
    [...input.findings, ...converted.findings, ...prepared.findings, ...config.findings, ...prices.findings],
    input.sources,
  );
  if (hasErrors(findings)) return { kind: "bad-input", findings };

  const planned =
    request.ignoreDraRequests === "false" ? scenarioDevices(prepared.objects, converted.deviceObjects) : undefined;
  const options: ScenarioOptions = {
    ...catalogue,
    devices: planned?.devices,
    policy: {
      ...defaultSchedulingPolicy,
      ignoreDra: planned === undefined,
      preferences: request.preferences,
      minValues: request.minValues,
      packing: request.packing,
      defaultConstraints: config.constraints,
    },
    seed: request.seed,
    nowMs,
    workloads: [...prepared.workloads, ...converted.services],
  };
  const { workloads, hasDefaultPool } = prepared;
  const { objects } = planned ?? prepared;
  const usedKinds = new Set([
    ...(config.constraints.length > 0 ? ["Service"] : []),
    ...(planned === undefined ? [] : converted.deviceObjects.map(({ kind }) => kind)),
  ]);
  const ignoredKinds = new Map([...converted.ignoredKinds].filter(([kind]) => !usedKinds.has(kind)));
  const inputNotes = [...converted.notes, ...prepared.notes];
  return {
    kind: "prepared",
    findings,
    prepared: { objects, workloads, catalogue, hasDefaultPool, ignoredKinds, inputNotes, options },
  };
}

/** The provider that was chosen, or those of the node classes. A region chooses aws, beside what else is in use. */
function providersOf(
  { provider, region, instanceTypes }: PlanRequest,
  objects: readonly LocatedObject[],
): CatalogueRequest["providers"] {
  if (provider !== undefined) return [provider];
  const inferred = inferPlanProviders(objects);
  const isInRegion = region !== undefined && instanceTypes === undefined;
  const hasPool = objects.some(({ object }) => scenarioKind(object) === "NodePool");
  if (!isInRegion || inferred.includes("aws")) return inferred;
  return hasPool ? ["aws", ...inferred] : ["aws"];
}

/** Adds up the timings of passes, and keeps the last: the next one need not read the instance types again. */
class PassHistory {
  last: Pass | undefined;
  #buildMs = 0;
  #solveMs = 0;
  #peakHeapMiB = heapMiB();

  add({ startedAt, openedAt }: { readonly startedAt: number; readonly openedAt: number }): void {
    this.#buildMs += openedAt - startedAt;
    this.#solveMs += performance.now() - openedAt;
    this.sampleHeap();
  }

  sampleHeap(): void {
    this.#peakHeapMiB = Math.max(this.#peakHeapMiB, heapMiB());
  }

  timings(): Timings {
    return { buildMs: roundedMs(this.#buildMs), solveMs: roundedMs(this.#solveMs), peakHeapMiB: this.#peakHeapMiB };
  }
}

/** `solve` with timings and a progress bar. */
function solveWithProgress(
  problem: SchedulingProblem,
  { passes, io }: { readonly passes: PassHistory; readonly io: Io },
): Decision {
  const startedAt = performance.now();
  let openedAt = startedAt;
  const bar = progressBar("planning", { io, now: () => performance.now() });
  const seen: { pass?: Pass } = {};
  const steps = solveInSteps(problem, {
    earlier: passes.last,
    onPassOpened: (pass) => {
      seen.pass = pass;
      passes.last = pass;
      openedAt = performance.now();
      passes.sampleHeap();
    },
  });
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) bar.show(seen.pass?.queueHead ?? 0, seen.pass?.queue.length ?? 0);
  bar.clear();
  passes.add({ startedAt, openedAt });
  return step.value;
}

function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function heapMiB(): number {
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20);
}
