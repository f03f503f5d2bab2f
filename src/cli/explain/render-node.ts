import { styleText } from "node:util";
import { describeReason, humanAmount } from "../../core/explain/describe-reason.ts";
import type { NodeExplanation, RefusedPods } from "../../core/explain/explain-node.ts";
import { podSummary } from "../plan/pod-summary.ts";
import { countText, formatTable, joinSections, oneLine, truncateText } from "../text-table.ts";
import { disruptionSections } from "./disruption-sections.ts";
import type { ExplainedNode } from "./explained-node.ts";

const podsShown = 20;

export interface RenderNodeOptions {
  readonly color: boolean;
  /** When it was explained. */
  readonly nowMs: number;
  readonly notes: readonly string[];
}

/** The explanation of a node as text: why it stays or goes, then what runs there and what does not fit. */
export function renderNode(
  { scheduling, disruption }: ExplainedNode,
  { color, nowMs, notes }: RenderNodeOptions,
): string {
  const bold = (text: string): string => (color ? styleText("bold", text, { validateStream: false }) : text);
  return joinSections([
    ...disruptionSections(disruption, { bold, nowMs }),
    ...(scheduling === undefined ? [] : schedulingSections(scheduling, bold)),
    notes.map((note) => oneLine(`note: ${note}`)),
  ]);
}

function schedulingSections(
  explanation: NodeExplanation,
  bold: (text: string) => string,
): readonly (readonly string[])[] {
  const { node, resources, running, arriving, wouldFit, refused } = explanation;
  return [
    [bold(oneLine(headline(explanation)))],
    resources.length === 0
      ? []
      : formatTable(
          [
            { title: "RESOURCE" },
            { title: "ALLOCATABLE", align: "right" },
            { title: "REQUESTED", align: "right" },
            { title: "INCOMING", align: "right" },
            { title: "LEFT", align: "right" },
          ],
          resources.map((one) => [
            one.resource,
            ...[one.allocatable, one.requested, one.coming, one.left].map(humanAmount),
          ]),
        ),
    runningLines(running),
    arriving.length === 0 ? [] : [`Incoming: ${oneLine(podSummary(arriving))}.`],
    wouldFit.length === 0 ? [] : [`Would also fit: ${oneLine(podSummary(wouldFit))}.`],
    refusedLines(refused, node),
  ];
}

function headline({ node, pool, isLeaving, running, arriving, refused }: NodeExplanation): string {
  if (isLeaving) return `Node ${node} is being deleted: no pods are scheduled to it, and its pods are rescheduled.`;
  const unschedulable = refused.filter(({ isUnplaced }) => isUnplaced).flatMap(({ pods }) => pods).length;
  const of = pool === undefined ? "" : ` of NodePool ${pool}`;
  const others = `${countText(unschedulable, "unschedulable pod")} ${unschedulable === 1 ? "does" : "do"} not fit`;
  return `Node ${node}${of}: ${running.length} running, ${arriving.length} incoming, ${others}.`;
}

function runningLines(running: NodeExplanation["running"]): readonly string[] {
  if (running.length === 0) return [];
  const rows = running
    .slice(0, podsShown)
    .map(({ pod, isDaemon, requests }) => [
      pod,
      humanAmount(requests["cpu"] ?? "0"),
      requests["memory"] ?? "0",
      isDaemon ? "daemon" : "",
    ]);
  const more = running.length > podsShown ? [`and ${running.length - podsShown} smaller pods`] : [];
  return [
    ...formatTable(
      [{ title: "RUNNING" }, { title: "CPU", align: "right" }, { title: "MEMORY", align: "right" }, { title: "" }],
      rows,
    ),
    ...more,
  ];
}

function refusedLines(refused: readonly RefusedPods[], node: string): readonly string[] {
  if (refused.length === 0) return [];
  const line = ({ pods, isUnplaced, checks }: RefusedPods): string => {
    const reasons = checks.map(({ reason }) => describeReason(reason, { kind: "node", name: node }));
    const where = isUnplaced ? "unschedulable" : "scheduled elsewhere";
    return oneLine(`  ${truncateText(podSummary(pods), 60)} (${where}): ${reasons.join("; ")}`);
  };
  return ["Does not fit here:", ...refused.map(line)];
}
