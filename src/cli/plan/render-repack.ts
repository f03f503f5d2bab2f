import { priceSourceLines } from "../prices/price-sources.ts";
import { countText, formatTable, joinSections, oneLine } from "../text-table.ts";
import { hoursPerMonth } from "./plan-report.ts";
import { commandLines } from "./render-disruption.ts";
import { type ReportFormat, type ReportTextOptions, renderReport } from "./render-report.ts";
import type { RepackReport, ReportedStep } from "./repack-report.ts";

/** Renders a cluster packed anew in the requested format. */
export function renderRepack(report: RepackReport, format: ReportFormat): string {
  return renderReport(report, format, repackText);
}

function repackText(report: RepackReport, { isWide, bold }: ReportTextOptions): string {
  const waves = [...new Set(report.steps.map(({ wave }) => wave))];
  return joinSections([
    provisioningLines(report),
    ...waves.map((wave) => waveLines(wave, report.steps, bold)),
    [...figureRows(report), ...priceSourceLines(report.priceSources, { noun: false })],
    noteLines(report),
    ...(isWide || report.staying.length > 0 ? [stayingRows(report, { isWide })] : []),
  ]);
}

function provisioningLines({ provisioning }: RepackReport): readonly string[] {
  const { pods, newNodes, unschedulable } = provisioning;
  if (pods === 0) return [];
  const waiting = pods === 1 ? "1 pod that waits for a node gets one" : `${pods} pods that wait for a node get one`;
  const first = `First ${waiting}: ${countText(newNodes.length, "new node")}.`;
  if (unschedulable.length === 0) return [first];
  return [first, `Without a place: ${unschedulable.map(oneLine).join(", ")}; karpenter explain pod says why.`];
}

function waveLines(wave: number, steps: readonly ReportedStep[], bold: (text: string) => string): readonly string[] {
  const own = steps.filter((step) => step.wave === wave);
  const price = own.at(-1)?.pricePerHour ?? 0;
  return [bold(`Wave ${wave}, $${price.toFixed(4)}/hour after it:`), ...own.flatMap(commandLines)];
}

function figureRows({ today, provisioning, repacked, reached, lowerBoundPerHour }: RepackReport): readonly string[] {
  const row = (what: string, nodes: number | undefined, price: number): readonly string[] => [
    what,
    nodes === undefined ? "" : String(nodes),
    price.toFixed(4),
    (price * hoursPerMonth).toFixed(2),
  ];
  return formatTable(
    [
      { title: "CLUSTER" },
      { title: "NODES", align: "right" },
      { title: "$/HOUR", align: "right" },
      { title: "$/MONTH", align: "right" },
    ],
    [
      row("today", today.nodes, today.pricePerHour),
      ...(provisioning.newNodes.length > 0
        ? [row("with pods that wait", today.nodes + provisioning.newNodes.length, provisioning.pricePerHour)]
        : []),
      row("after these commands", reached.nodes, reached.pricePerHour),
      row("packed from nothing", repacked.nodes, repacked.pricePerHour),
      row("lower bound", undefined, lowerBoundPerHour),
    ],
  );
}

function noteLines({ steps, reached, isStopped }: RepackReport): readonly string[] {
  const several = steps.filter(({ needsMultiReplacement }) => needsMultiReplacement).length;
  const waves = steps.at(-1)?.wave ?? 0;
  return [
    steps.length === 0
      ? "No command would make it cheaper now."
      : `${countText(steps.length, "command")} in ${countText(waves, "wave")} ${steps.length === 1 ? "saves" : "save"} $${reached.savings.toFixed(4)}/hour. A wave begins when the nodes of the one before are gone and consolidateAfter has passed.`,
    ...(several > 0
      ? [
          `${several} of them ${several === 1 ? "launches" : "launch"} several nodes: the controller does that with the feature gate MultiReplacement.`,
        ]
      : []),
    ...(isStopped ? ["The search ran out of time: more may be possible."] : []),
  ];
}

/** Nodes that were looked at and found to be cheap enough are shown with -o wide only. */
function stayingRows({ staying }: RepackReport, { isWide }: { readonly isWide: boolean }): readonly string[] {
  const settled = ["no-cheaper-type", "same-type", "no-room", "needs-more-nodes"];
  const rows = staying
    .filter(({ code }) => isWide || !settled.includes(code))
    .map(({ node, nodePool, text }) => [node, nodePool ?? "-", oneLine(text)]);
  if (rows.length === 0) return [];
  return formatTable([{ title: "NODE THAT STAYS" }, { title: "POOL" }, { title: "WHY" }], rows);
}
