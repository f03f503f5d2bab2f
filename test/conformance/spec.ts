import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { onExit } from "../cluster/exit-hook.ts";

export const suites = ["regression", "performance"] as const;
export type Suite = (typeof suites)[number];

/** A spec of upstream's, by its full name as Ginkgo prints it. */
export interface Spec {
  readonly suite: Suite;
  readonly name: string;
}

export type Verdict = "pass" | "fail" | "timeout";

export interface SpecResult {
  readonly verdict: Verdict;
  readonly seconds: number;
  /** Why it did not pass. */
  readonly failure?: string;
}

/** What Ginkgo's JSON report has of each spec. */
interface SpecReport {
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly State: string;
  readonly Failure?: { readonly Message?: string };
}

/** All specs of a suite, from the suite itself. */
export async function specsOf(suite: Suite, programs: string, outputDir: string): Promise<readonly Spec[]> {
  mkdirSync(outputDir, { recursive: true });
  const report = join(outputDir, `${suite}-specs.json`);
  // The suite makes its client first, so it wants a kubeconfig even when it runs nothing.
  await ginkgo({ suite, programs, outputDir, args: ["--ginkgo.dry-run", `--ginkgo.json-report=${report}`] });
  const names = reportsIn(readFileSync(report, "utf8")).map(nameOf);
  return names.sort().map((name) => ({ suite, name })); // Ginkgo shuffles them
}

interface GinkgoRun {
  readonly suite: Suite;
  readonly programs: string;
  readonly outputDir: string;
  readonly args: readonly string[];
  readonly kubeconfigPath?: string;
  /** Ends the suite the hard way, for when its own limit does not. */
  readonly killAfterMs?: number;
  readonly onCleanUp?: (() => void) | undefined;
}

async function ginkgo(run: GinkgoRun): Promise<void> {
  const { suite, programs, outputDir, args, kubeconfigPath, killAfterMs, onCleanUp } = run;
  const log = createWriteStream(join(outputDir, "log"));
  const env = { ...process.env, OUTPUT_DIR: outputDir, ...(kubeconfigPath && { KUBECONFIG: kubeconfigPath }) };
  const child = spawn(join(programs, `${suite}.test`), ["-test.timeout=0", "--ginkgo.no-color", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  if (onCleanUp) onLine(child.stdout, (line) => line.includes("< Exit [It]"), onCleanUp);
  const forget = onExit(() => child.kill("SIGKILL"));
  const timer = killAfterMs && setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  await once(child, "close");
  clearTimeout(timer);
  forget();
  log.end();
}

/** Calls once, at the first such line. */
function onLine(stream: Readable, isWanted: (line: string) => boolean, call: () => void): void {
  const lines = createInterface({ input: stream });
  lines.on("line", (line) => {
    if (!isWanted(line)) return;
    lines.removeAllListeners("line");
    call();
  });
}

export interface SpecRun {
  readonly programs: string;
  readonly kubeconfigPath: string;
  /** Gets the suite's log and reports. */
  readonly outputDir: string;
  readonly timeoutSeconds: number;
  /** The spec itself has ended, and what it made is about to be deleted. */
  readonly onCleanUp?: (() => void) | undefined;
}

/** Runs one spec in a process of its own; nothing else of the suite runs. */
export async function runSpec({ suite, name }: Spec, run: SpecRun): Promise<SpecResult> {
  mkdirSync(run.outputDir, { recursive: true });
  const report = join(run.outputDir, "report.json");
  const startedAt = performance.now();
  await ginkgo({
    ...run,
    suite,
    killAfterMs: (run.timeoutSeconds + 60) * 1_000,
    args: [
      `--ginkgo.focus=${escaped(name)}$`,
      `--ginkgo.timeout=${run.timeoutSeconds}s`,
      "--ginkgo.grace-period=30s",
      "--ginkgo.v",
      "--ginkgo.show-node-events", // says when the spec itself has ended
      `--ginkgo.json-report=${report}`,
    ],
  });
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  return { seconds, ...verdictIn(existsSync(report) ? readFileSync(report, "utf8") : "") };
}

/** The verdict on the one spec that ran. Nothing else may have run, and it must have. */
export function verdictIn(report: string): Pick<SpecResult, "verdict" | "failure"> {
  if (report === "") return { verdict: "fail", failure: "the suite ended without a report" };
  const [ran, ...others] = reportsIn(report).filter(({ State }) => State !== "skipped" && State !== "pending");
  if (ran === undefined || others.length > 0) {
    return { verdict: "fail", failure: `${others.length + (ran ? 1 : 0)} specs ran instead of one` };
  }
  if (ran.State === "passed") return { verdict: "pass" };
  const failure = ran.Failure?.Message?.replaceAll(/\s+/g, " ").trim().slice(0, 300) ?? ran.State;
  return { verdict: ["timedout", "interrupted"].includes(ran.State) ? "timeout" : "fail", failure };
}

function reportsIn(text: string): readonly SpecReport[] {
  const report: readonly { readonly SpecReports?: readonly SpecReport[] | null }[] = JSON.parse(text);
  return report.flatMap(({ SpecReports }) => SpecReports ?? []).filter(({ LeafNodeType }) => LeafNodeType === "It");
}

function nameOf({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string {
  return [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ");
}

function escaped(name: string): string {
  return name.replaceAll(/[[\]().*+?|{}^$\\]/g, "\\$&");
}
