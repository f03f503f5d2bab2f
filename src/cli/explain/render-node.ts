import { styleText } from "node:util";
import { describeReason, humanAmount } from "../../core/explain/describe-reason.ts";
import type { NodeExplanation, RefusedPods } from "../../core/explain/explain-node.ts";
import { podSummary } from "../plan/render-plan-table.ts";
import { formatTable, oneLine, truncateText } from "../plan/text-table.ts";

const podsShown = 20;

/** A node for people. */
export function renderNode(explanation: NodeExplanation, { color }: { readonly color: boolean }): string {
  const bold = (text: string): string => (color ? styleText("bold", text, { validateStream: false }) : text);
  const { node, resources, running, arriving, wouldFit, refused } = explanation;
  const sections = [
    [bold(oneLine(headline(explanation)))],
    resources.length === 0
      ? []
      : formatTable(
          [
            { title: "RESOURCE" },
            { title: "ALLOCATABLE", align: "right" },
            { title: "REQUESTED", align: "right" },
            { title: "COMING", align: "right" },
            { title: "LEFT", align: "right" },
          ],
          resources.map((one) => [
            one.resource,
            ...[one.allocatable, one.requested, one.coming, one.left].map(humanAmount),
          ]),
        ),
    runningLines(running),
    arriving.length === 0 ? [] : [`Coming: ${oneLine(podSummary(arriving))}.`],
    wouldFit.length === 0 ? [] : [`Would fit as well: ${oneLine(podSummary(wouldFit))}.`],
    refusedLines(refused, node),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function headline({ node, pool, isLeaving, running, arriving, refused }: NodeExplanation): string {
  if (isLeaving) return `Node ${node} is on its way out: nothing is placed on it, and its pods are placed elsewhere.`;
  const unplaced = refused.filter(({ isUnplaced }) => isUnplaced).flatMap(({ pods }) => pods).length;
  const of = pool === undefined ? "" : ` of pool ${pool}`;
  return `Node ${node}${of}: ${running.length} running, ${arriving.length} coming, ${unplaced} of the pods without a place not fitting.`;
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
  const more = running.length > podsShown ? [`and ${running.length - podsShown} smaller ones`] : [];
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
    const reasons = checks.map(
      ({ check, reason }) => `${describeReason(reason, { kind: "node", name: node })} (${check})`,
    );
    const where = isUnplaced ? "no place anywhere" : "placed elsewhere";
    return oneLine(`  ${truncateText(podSummary(pods), 60)} (${where}): ${reasons.join("; ")}`);
  };
  return ["Refused here:", ...refused.map(line)];
}
