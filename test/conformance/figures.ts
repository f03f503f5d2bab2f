import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ControllerName, controllerNames } from "./controller.ts";
import type { Phase } from "./phases.ts";
import type { Spec, Verdict } from "./spec.ts";

/** What was measured of one spec with one controller; of several runs the slowest. */
export interface Figure {
  readonly verdict: Verdict;
  readonly seconds: number;
  readonly cpuSeconds?: number;
  readonly peakMb?: number;
  /** How many passes in how many runs. */
  readonly runs?: string;
  /** Load average of the machine at the end; much more than its cores makes everything slow. */
  readonly load?: number;
  /** Of specs of the performance suite. */
  readonly phases?: readonly Phase[];
}

export type SpecFigures = { readonly [name in ControllerName]?: Figure };

/** By "SUITE: NAME". */
export type Figures = Readonly<Record<string, SpecFigures>>;

export function keyOf({ suite, name }: Spec): string {
  return `${suite}: ${name}`;
}

const figuresPath = (root: string): string => join(root, "test/fixtures/conformance.json");

export function readFigures(root: string): Figures {
  return JSON.parse(readFileSync(figuresPath(root), "utf8"));
}

/** Writes the figures, a line for each spec, and the page made of them. */
export function writeFigures(root: string, figures: Figures): void {
  const lines = Object.entries(figures).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  writeFileSync(figuresPath(root), `{\n${lines.join(",\n")}\n}\n`);
  writeFileSync(join(root, "docs/conformance.md"), page(figures));
}

/** Longer than this is too slow: half as long again as upstream, and five seconds. */
export function secondsAllowed({ upstream }: SpecFigures): number | undefined {
  return upstream === undefined ? undefined : upstream.seconds * 1.5 + 5;
}

const intro = `# Conformance

Upstream's own end-to-end suites (\`sigs.k8s.io/karpenter\` v1.14.1, \`test/suites\`), unmodified, on a real control plane with KWOK's
fake nodes. This page is written by \`npm run conformance -- --write\`; [test/conformance](../test/conformance/README.md) says how to run it.

Seconds include clean-up; upstream's were taken on an idle machine of two cores. CPU seconds and MB (peak of resident memory) are the controller's, from \`/proc\`. "slow" is more than
1.5 times upstream's seconds plus 5. Of several runs the slowest is shown. A load well above the number of cores makes times
worthless; it is shown from 4 on.
`;

/** The page with the table of all specs. */
export function page(figures: Figures): string {
  const rows = Object.entries(figures);
  return [
    intro,
    summary(rows),
    "| spec | upstream | s | CPU s | MB | here | s | CPU s | MB | note |",
    "|---|---|--:|--:|--:|---|--:|--:|--:|---|",
    ...rows.map(row),
    "",
    phasesIntro,
    "| spec | phase | controller | s | nodes | CPU s | MB | $/h | over bound | load |",
    "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ...rows.flatMap(phaseRows),
    "",
  ].join("\n");
}

const phasesIntro = `## Phases of the performance suite

Both controllers one after the other on the same machine of two cores, beside work of the lowest priority. Upstream's XL
began while the cluster of ours was still cleaned up, for the first two minutes. CPU seconds and MB are what the suite read from the controller's metrics. Over bound: the nodes' price over that of exactly what the pods that stay ask for, when the phase ended; load: the machine's load average then.
`;

function phaseRows([key, figures]: Row): readonly string[] {
  return controllerNames.flatMap((controller) =>
    (figures[controller]?.phases ?? []).map((phase) => {
      const { name, seconds, nodes, cpuSeconds, peakMb, pricePerHour, overBound, load } = phase;
      const cells = [key, name, controller, seconds, nodes, cpuSeconds, peakMb, pricePerHour, overBound, load];
      return `| ${cells.map((cell) => cell ?? "–").join(" | ")} |`;
    }),
  );
}

type Row = readonly [string, SpecFigures];

function summary(rows: readonly Row[]): string {
  const of = (name: ControllerName) => {
    const measured = rows.flatMap(([, figures]) => figures[name] ?? []);
    const passed = measured.filter(({ verdict }) => verdict === "pass").length;
    return `${passed} of ${measured.length} measured`;
  };
  return `${rows.length} specs. Passed upstream: ${of("upstream")}. Passed here: ${of("karpenter-ts")}.\n`;
}

function row([key, figures]: Row): string {
  const ours = figures["karpenter-ts"];
  const cells = [key, ...cellsOf(figures.upstream), ...cellsOf(ours), notesOf(figures).join("; ")];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function cellsOf(figure: Figure | undefined): readonly string[] {
  if (figure === undefined) return ["–", "–", "–", "–"];
  const { verdict, seconds, cpuSeconds, peakMb, runs } = figure;
  const whole = (value: number | undefined) => (value === undefined ? "–" : String(Math.round(value)));
  return [
    runs === undefined ? verdict : `${verdict} ${runs}`,
    whole(seconds),
    cpuSeconds?.toFixed(1) ?? "–",
    whole(peakMb),
  ];
}

function notesOf(figures: SpecFigures): readonly string[] {
  const ours = figures["karpenter-ts"];
  const allowed = secondsAllowed(figures);
  return [
    ...(ours?.verdict === "pass" && allowed !== undefined && ours.seconds > allowed ? ["slow"] : []),
    ...(ours?.load !== undefined && ours.load >= 4 ? [`load ${Math.round(ours.load)}`] : []),
  ];
}
