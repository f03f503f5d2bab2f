import { appendFileSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../src/util/error-text.ts";
import { type ControllerName, controllerNames, markPeak, usageOf } from "./controller.ts";
import { type Figure, type Figures, keyOf, readFigures, secondsAllowed, writeFigures } from "./figures.ts";
import { type Lab, startLab } from "./lab.ts";
import { phasesIn, samplePrices } from "./phases.ts";
import { isInCiSelection } from "./selection.ts";
import { runSpec, type Spec, specsOf, suites } from "./spec.ts";

export interface RunOptions {
  readonly matching: RegExp;
  readonly controller: ControllerName;
  readonly times: number;
  readonly fresh: number;
  readonly timeout?: number | undefined;
  readonly results?: string | undefined;
  readonly ci?: true | undefined;
  readonly list?: true | undefined;
  readonly import?: string | undefined;
  readonly write?: true | undefined;
}

/** Runs the chosen specs one after the other. The exit code says whether all passed that could. */
export async function conformance(options: RunOptions): Promise<number> {
  const run = { ...options, ...environment(), dir: await mkdtemp(join(tmpdir(), "karpenter-conformance-")) };
  const all = await allSpecs(run);
  const chosen = all.filter((spec) => isChosen(keyOf(spec), options));
  if (chosen.length === 0) {
    print(`no spec matches ${options.matching}; --list prints all`);
    return 1;
  }
  if (options.list) {
    for (const spec of chosen) print(keyOf(spec));
    return 0;
  }
  if (options.import !== undefined) return importResults(options.import, all, run.root);
  print(`logs are in ${run.dir}`);
  const measured = await runAll(chosen, run);
  if (options.write)
    writeFigures(run.root, merged(all, readFigures(run.root), [{ controller: run.controller, measured }]));
  return report(measured);
}

/** What run.mjs leaves in the environment. */
function environment() {
  const { CONFORMANCE_PROGRAMS: programs, CONFORMANCE_ADDRESS: address } = process.env;
  if (programs === undefined || address === undefined) throw new Error("start this with: npm run conformance");
  return { programs, address, root: process.cwd() };
}

type Run = RunOptions & ReturnType<typeof environment> & { readonly dir: string };
/** By key. */
type Measured = ReadonlyMap<string, Figure>;

async function allSpecs({ programs, dir }: Run): Promise<readonly Spec[]> {
  const found: Spec[] = [];
  for (const suite of suites) found.push(...(await specsOf(suite, programs, join(dir, suite))));
  return found;
}

function isChosen(key: string, { matching, ci }: RunOptions): boolean {
  if (ci && !isInCiSelection(key)) return false;
  return matching.test(key);
}

async function runAll(specs: readonly Spec[], run: Run): Promise<Measured> {
  const measured = new Map<string, Figure>();
  const labs = labsFor(run);
  try {
    for (const spec of specs) {
      const figures: Figure[] = [];
      for (let time = 1; time <= run.times; time++) figures.push(await runOnce(spec, { run, labs, time }));
      measured.set(keyOf(spec), summed(figures));
    }
  } finally {
    await labs.close();
  }
  return measured;
}

interface Once {
  readonly run: Run;
  readonly labs: Labs;
  readonly time: number;
}

async function runOnce(spec: Spec, { run, labs, time }: Once): Promise<Figure> {
  const lab = await labs.next(spec);
  markPeak(lab.controller);
  const before = usageOf(lab.controller);
  const known = readFigures(run.root)[keyOf(spec)] ?? {};
  const outputDir = join(run.dir, `${fileName(spec)}-${time}`);
  const prices = spec.suite === "performance" ? samplePrices(lab.connection) : undefined;
  const { verdict, seconds, failure } = await runSpec(spec, {
    programs: run.programs,
    kubeconfigPath: lab.kubeconfigPath,
    outputDir,
    timeoutSeconds: run.timeout ?? Math.round(120 + 4 * (known.upstream?.seconds ?? 600)),
    onCleanUp: spec.suite === "performance" ? () => lab.quicken().catch(reportError) : undefined,
  });
  prices?.stop();
  const hasCrashed = lab.controller.hasExited();
  const after = hasCrashed ? before : usageOf(lab.controller);
  const figure: Figure = {
    verdict,
    seconds: rounded(seconds),
    cpuSeconds: rounded(after.cpuSeconds - before.cpuSeconds),
    peakMb: Math.round(after.peakMb),
    load: rounded(loadavg()[0] ?? 0),
    ...(prices && { phases: phasesIn(outputDir, prices.samples) }),
  };
  const allowed = run.controller === "upstream" ? undefined : secondsAllowed(known);
  const slow = allowed !== undefined && verdict === "pass" && seconds > allowed ? ` SLOW (allowed ${allowed} s)` : "";
  const { cpuSeconds, peakMb, load } = figure;
  print(
    `${verdict.padEnd(7)} ${figure.seconds} s, CPU ${cpuSeconds} s, ${peakMb} MB, load ${load}${slow}  ${keyOf(spec)}`,
  );
  if (failure !== undefined) print(`        ${failure}`);
  if (hasCrashed) print(`        the controller exited; its log ends:\n${lab.controller.logTail()}`);
  if (run.results !== undefined) {
    const at = new Date().toISOString();
    const line: Result = { at, controller: run.controller, ...spec, ...figure, failure };
    appendFileSync(run.results, `${JSON.stringify(line)}\n`);
  }
  if (verdict !== "pass") await labs.close(); // it may have left things behind, and every spec wants a clean cluster
  return figure;
}

interface Labs {
  /** A clean cluster for the spec. */
  next(spec: Spec): Promise<Lab>;
  close(): Promise<void>;
}

function labsFor(run: Run): Labs {
  let current: { readonly lab: Lab; readonly suite: string; used: number } | undefined;
  let started = 0;
  const close = async () => {
    const last = current;
    current = undefined;
    await last?.lab.stop();
  };
  return {
    close,
    next: async ({ suite }) => {
      if (current && (current.suite !== suite || current.used >= (suite === "performance" ? 1 : run.fresh)))
        await close();
      if (current === undefined) {
        started += 1;
        const dir = join(run.dir, `cluster-${started}`);
        const lab = await startLab({ ...run, suite, dir });
        current = { lab, suite, used: 0 };
      }
      current.used += 1;
      return current.lab;
    },
  };
}

/** Of several runs the slowest; passed only if all did. */
function summed(figures: readonly Figure[]): Figure {
  const [worst] = [...figures].sort(
    (a, b) => Number(a.verdict === "pass") - Number(b.verdict === "pass") || b.seconds - a.seconds,
  );
  if (worst === undefined) throw new Error("a spec that did not run");
  const passes = figures.filter(({ verdict }) => verdict === "pass").length;
  return figures.length === 1 ? worst : { ...worst, runs: `${passes}/${figures.length}` };
}

interface MeasuredWith {
  readonly controller: ControllerName;
  readonly measured: Measured;
}

/** All specs, each with the newest figures. */
function merged(all: readonly Spec[], before: Figures, news: readonly MeasuredWith[]): Figures {
  return Object.fromEntries(
    all.map((spec) => {
      const fresh = news.flatMap(({ controller, measured }) => {
        const figure = measured.get(keyOf(spec));
        return figure === undefined ? [] : [[controller, figure] as const];
      });
      return [keyOf(spec), { ...before[keyOf(spec)], ...Object.fromEntries(fresh) }];
    }),
  );
}

/** Puts the results of earlier runs, perhaps several at a time, into the figures and the page. Runs nothing. */
function importResults(file: string, all: readonly Spec[], root: string): number {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const results = lines.map((line): Result => JSON.parse(line));
  const news = controllerNames.map((controller) => {
    const byKey = new Map<string, Figure[]>();
    for (const result of results.filter((one) => one.controller === controller)) {
      byKey.set(keyOf(result), [...(byKey.get(keyOf(result)) ?? []), figureOf(result)]);
    }
    return { controller, measured: new Map([...byKey].map(([key, figures]) => [key, summed(figures)])) };
  });
  writeFigures(root, merged(all, readFigures(root), news));
  return 0;
}

interface Result extends Spec, Figure {
  readonly at: string;
  readonly controller: ControllerName;
  readonly failure?: string | undefined;
}

function figureOf({ at: _, controller: __, suite: ___, name: ____, failure: _____, ...figure }: Result): Figure {
  return figure;
}

function report(measured: Measured): number {
  const failed = [...measured.values()].filter(({ verdict }) => verdict !== "pass").length;
  print(`${measured.size - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function fileName({ suite, name }: Spec): string {
  return `${suite}-${name}`.replaceAll(/[^A-Za-z0-9]+/g, "-").slice(0, 120);
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function reportError(error: unknown): void {
  print(`        ${errorMessage(error)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
