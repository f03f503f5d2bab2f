import type { Finding } from "../../api/manifest/finding.ts";
import { inReadingOrder } from "../../api/manifest/finding.ts";
import type { KubeObject } from "../../api/object.ts";
import { decisionWithoutPools } from "../../core/scenario/no-pools.ts";
import { nodeClasses } from "../../core/scenario/node-classes.ts";
import { problemOf, type Scenario } from "../../core/scenario/problem.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import { defaultPolicy, type SchedulingProblem } from "../../core/scheduling/problem.ts";
import { closePass, openPass, step } from "../../core/scheduling/solve.ts";
import type { Io } from "../io.ts";
import type { LiveSource } from "../live.ts";
import { schedulerConfig } from "../scheduler-config.ts";
import type { SnapshotHeader } from "../snapshot/header.ts";
import { readWorld } from "../world.ts";
import { type Catalogue, type CatalogueRefusal, openCatalogue, type PlanProvider, servedClasses } from "./catalogue.ts";
import { readDocuments } from "./documents.ts";
import { draft, hasErrors, prepare, providerOf } from "./prepare.ts";
import { progressBar } from "./progress.ts";

/** What to plan, and how. */
export interface PlanRequest {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  /** Absent: by the node classes of the pools. */
  readonly provider?: PlanProvider | undefined;
  readonly instanceTypes?: string | undefined;
  readonly region?: string | undefined;
  readonly preferences: "Respect" | "Ignore";
  readonly minValues: "Strict" | "BestEffort";
  readonly packing: "plain" | "polished";
  /** A file with the cluster's default topology constraints. (02:X-50) */
  readonly schedulerConfig?: string | undefined;
  readonly seed: number;
  /** The time to plan at; that of the snapshot, else the clock's, unless said. */
  readonly nowMs?: number | undefined;
  /** A live cluster to begin with; the files are laid over it. */
  readonly live?: LiveSource | undefined;
}

/** A plan and all it came from. */
export interface Plan {
  readonly scenario: Scenario;
  /** Everything that was read, complete. */
  readonly objects: readonly KubeObject[];
  readonly decision: Decision;
  readonly catalogue: Catalogue;
  readonly hasDefaultPool: boolean;
  readonly passedBy: ReadonlyMap<string, number>;
  readonly timings: Timings;
}

export interface Timings {
  /** Laying the problem out. */
  readonly buildMs: number;
  /** Solving alone. */
  readonly solveMs: number;
  readonly peakHeapMiB: number;
}

export type PlanOutcome =
  | { readonly kind: "planned"; readonly plan: Plan; readonly findings: readonly Finding[] }
  | { readonly kind: "bad-input"; readonly findings: readonly Finding[] }
  | ({ readonly kind: "no-catalogue"; readonly findings: readonly Finding[] } & CatalogueRefusal);

/** From files, or a live cluster, to a decision. */
export async function makePlan(request: PlanRequest, io: Io): Promise<PlanOutcome> {
  const { paths, recursive, live } = request;
  const clockMs = Date.now();
  const input = await readWorld({ paths, recursive, live, read: readDocuments }, { io, nowMs: clockMs });
  const nowMs = request.nowMs ?? (Date.parse(input.header?.time ?? "") || clockMs);
  const drafts = draft(input.documents);
  const classes = nodeClasses(drafts.objects.map(({ object }) => object));
  const isInRegion = request.region !== undefined && request.instanceTypes === undefined;
  const provider = request.provider ?? (isInRegion ? "aws" : providerOf(drafts.objects));
  const home = regionOf(input.header, { ...request, provider });
  const opened = await openCatalogue({ ...request, provider, region: home ?? request.region }, { classes, io });
  if ("refused" in opened) {
    return { kind: "no-catalogue", findings: [], ...(home === undefined ? opened : strangeRegion(home, opened)) };
  }

  const { catalogue } = opened;
  const config = await schedulerConfig(request.schedulerConfig, io);
  const prepared = prepare(drafts.objects, { catalogue, nowMs });
  const findings = inReadingOrder(
    [...input.findings, ...drafts.findings, ...prepared.findings, ...config.findings],
    input.sources,
  );
  if (hasErrors(findings)) return { kind: "bad-input", findings };

  const scenario = problemOf(prepared.objects, {
    ...catalogue,
    served: [servedClasses[provider]],
    policy: {
      ...defaultPolicy,
      preferences: request.preferences,
      minValues: request.minValues,
      packing: request.packing,
      defaultConstraints: config.constraints,
    },
    seed: request.seed,
    nowMs,
    workloads: prepared.workloads,
  });
  const { hasDefaultPool } = prepared;
  const { passedBy } = drafts;
  return {
    kind: "planned",
    findings,
    plan: { scenario, objects: prepared.objects, catalogue, hasDefaultPool, passedBy, ...solved(scenario.problem, io) },
  };
}

/** Where a cluster is decides what its machines cost, where the provider sells by region and nobody said which. */
function regionOf(
  header: SnapshotHeader | undefined,
  { provider, instanceTypes, region }: Pick<PlanRequest, "provider" | "instanceTypes" | "region">,
): string | undefined {
  return provider === "aws" && instanceTypes === undefined && region === undefined ? header?.region : undefined;
}

/** It is the cluster's region that is not known, not one of the command line. */
function strangeRegion(region: string, { because }: CatalogueRefusal): CatalogueRefusal {
  const why = because.replace(/^--region \S+ /, "");
  return { refused: "input", because: `the cluster is in region ${region}: ${why}; plan with another by --region` };
}

/** `solve`, with a look at the clock in between, and a bar for those who wait. */
function solved(problem: SchedulingProblem, io: Io): Pick<Plan, "decision" | "timings"> {
  const started = performance.now();
  const refused = decisionWithoutPools(problem);
  if (refused !== undefined) return { decision: refused, timings: { buildMs: 0, solveMs: 0, peakHeapMiB: heapMiB() } };
  const pass = openPass(problem);
  const built = performance.now();
  const heapThen = heapMiB();
  const bar = progressBar("planning", { io, now: () => performance.now() });
  while (step(pass)) bar.show(pass.queueHead, pass.queue.length); // until the queue is empty or nothing moves any more
  bar.clear();
  const decision = closePass(pass);
  const timings = {
    buildMs: milliseconds(built - started),
    solveMs: milliseconds(performance.now() - built),
    peakHeapMiB: Math.max(heapThen, heapMiB()),
  };
  return { decision, timings };
}

function milliseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function heapMiB(): number {
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20);
}
