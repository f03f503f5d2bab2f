import { styleText } from "node:util";
import { humanAmount } from "../../core/explain/describe-reason.ts";
import { podSummary } from "../plan/pod-summary.ts";
import { markedHourlyPrice, priceSourceLines } from "../prices/price-sources.ts";
import { countText, formatTable, joinSections, oneLine, truncateText } from "../text-table.ts";
import type { ChangedObject } from "./apply-change.ts";
import {
  type DiffLimit,
  type DiffNodes,
  type DiffRefusal,
  type DiffReport,
  nodeText,
  type PictureTotals,
} from "./diff-report.ts";
import type { DriftedNode } from "./drifted-nodes.ts";

type Paint = (style: "bold" | "green" | "red" | "yellow", text: string) => string;

/** Longer lists are cut: nobody reads five thousand lines, and programs read JSON. */
const linesShown = 40;

function cutLines(lines: readonly string[]): readonly string[] {
  if (lines.length <= linesShown) return lines;
  return [...lines.slice(0, linesShown), `  … and ${lines.length - linesShown} more; -o json has them all`];
}

/** What a change makes different, as text. */
export function renderDiff(report: DiffReport, { color }: { readonly color: boolean }): string {
  const paint: Paint = (style, text) => (color ? styleText(style, text, { validateStream: false }) : text);
  const { nodes, pods, limits, notes } = report;
  return joinSections([
    cutLines(changeLines(report.change)),
    nodeLines(nodes, paint),
    podLines(pods, paint),
    cutLines(limitLines(limits)),
    [
      ...notes.come.map((note) => paint("green", oneLine(`+ note: ${note}`))),
      ...notes.go.map((note) => paint("red", oneLine(`- note: ${note}`))),
    ],
    report.isDifferent ? [...totalLines(report), ...sourceLines(report)] : [],
    [paint("bold", summaryText(report))],
  ]);
}

function changeLines(change: readonly ChangedObject[]): readonly string[] {
  const shown = change.filter((one) => one.change !== "unchanged");
  if (shown.length === 0) return [];
  const rows = shown.map(({ change: what, kind, namespace, name }) => [
    what,
    kind,
    namespace === undefined ? name : `${namespace}/${name}`,
  ]);
  return formatTable([{ title: "CHANGE" }, { title: "KIND" }, { title: "NAME" }], rows);
}

const podsShown = 60;

function nodeLines({ come, go, drift }: DiffReport["nodes"], paint: Paint): readonly string[] {
  const reasons = new Map(drift.map((one) => [one.node, one]));
  const kept = drift.filter(({ isReplaced }) => !isReplaced);
  if (come.length + go.length + kept.length === 0) return [];
  return [
    paint("bold", "Nodes:"),
    ...cutLines(go.map((nodes) => paint("red", `- ${nodesText(nodes)}${goneText(reasons.get(nodes.name ?? ""))}`))),
    ...cutLines(come.map((nodes) => paint("green", `+ ${nodesText(nodes)}`))),
    ...cutLines(paceLines(drift)),
    ...cutLines(
      kept.map((one) =>
        paint("yellow", oneLine(`~ ${one.node}: drifts (${one.reason}), but stays for now: ${one.keptBecause}`)),
      ),
    ),
  ];
}

/** Nodes that drift are planned all at once; budgets let fewer go at a time. */
function paceLines(drift: readonly DriftedNode[]): readonly string[] {
  const pools = new Map<string, { readonly pace: DriftedNode; count: number }>();
  for (const one of drift.filter(({ isReplaced }) => isReplaced)) {
    const known = pools.get(one.nodePool);
    if (known === undefined) pools.set(one.nodePool, { pace: one, count: 1 });
    else known.count++;
  }
  return [...pools].flatMap(([nodePool, { pace, count }]) => {
    const { atATime = count, notBefore } = pace;
    if (notBefore !== undefined) {
      return [
        `  NodePool ${nodePool}: its budgets let none of ${countText(count, "drifted node")} go before ${notBefore}`,
      ];
    }
    if (atATime >= count) return [];
    return [`  NodePool ${nodePool}: its budgets let ${atATime} of ${countText(count, "drifted node")} go at a time`];
  });
}

function nodesText(nodes: DiffNodes): string {
  const { name, count, price, priceSource, pods, instanceType, capacityType, nodePool } = nodes;
  const about = [instanceType, capacityType, nodePool && `NodePool ${nodePool}`].filter((part) => part !== undefined);
  const what =
    name === undefined
      ? `${count} × ${nodeText(nodes)}`
      : `${name}${about.length === 0 ? "" : ` (${about.join(", ")})`}`;
  const cost = price === undefined ? "price unknown" : markedHourlyPrice(price, priceSource);
  return oneLine(`${what}, ${cost}: ${truncateText(podSummary(pods), podsShown) || "no pods"}`);
}

function goneText(drifted: DriftedNode | undefined): string {
  return drifted === undefined ? "" : `; it drifts (${drifted.reason}) and is replaced`;
}

function podLines(pods: DiffReport["pods"], paint: Paint): readonly string[] {
  const lines = [
    ...refusalLines("can no longer be scheduled", pods.noLongerSchedulable, paint),
    ...refusalLines("new, cannot be scheduled", pods.comeUnschedulable, paint),
    ...groupLines("can be scheduled now", pods.nowSchedulable, ({ to }) => `to ${to}`),
    ...groupLines("move", pods.move, ({ from, to }) => `from ${from} to ${to}`),
    ...groupLines("new", pods.come, ({ to }) => `to ${to}`),
    ...(pods.go.length === 0 ? [] : [oneLine(`  gone: ${truncateText(podSummary(pods.go), podsShown)}`)]),
  ];
  return lines.length === 0 ? [] : [paint("bold", "Pods:"), ...lines];
}

function refusalLines(title: string, refusals: readonly DiffRefusal[], paint: Paint): readonly string[] {
  return groupLines(title, refusals, ({ message }) => message, ": ").map((line) => paint("red", line));
}

/** One line for the pods of one workload that are told the same. */
function groupLines<T extends { readonly pod: string }>(
  title: string,
  items: readonly T[],
  tell: (item: T) => string,
  separator = " ",
): readonly string[] {
  const groups = new Map<string, { readonly text: string; readonly pods: string[] }>();
  for (const item of items) {
    const key = `${workloadStem(item.pod)}\n${tell(item)}`;
    const group = groups.get(key) ?? { text: tell(item), pods: [] };
    group.pods.push(item.pod);
    groups.set(key, group);
  }
  return cutLines(
    [...groups.values()].map(({ text, pods }) => oneLine(`  ${title}: ${alikeText(pods)}${separator}${text}`)),
  );
}

/** Pods of one workload: `default/web ×12`. */
function alikeText(pods: readonly string[]): string {
  const [first = ""] = pods;
  return pods.length === 1 ? first : `${workloadStem(first)} ×${pods.length}`;
}

/** The name without the part that tells pods of a workload apart. */
function workloadStem(pod: string): string {
  return pod.replace(/-[^-]*$/, "");
}

function limitLines(limits: readonly DiffLimit[]): readonly string[] {
  if (limits.length === 0) return [];
  const text = (amount: string | undefined): string => (amount === undefined ? "none" : humanAmount(amount));
  const change = (before: string, after: string): string => (before === after ? after : `${before} → ${after}`);
  const rows = limits.map(({ nodePool, resource, before, after }) => [
    nodePool,
    resource,
    change(text(before.limit), text(after.limit)),
    change(text(before.used), text(after.used)),
  ]);
  return formatTable([{ title: "POOL" }, { title: "RESOURCE" }, { title: "LIMIT" }, { title: "USED" }], rows);
}

function totalLines({ before, after }: DiffReport): readonly string[] {
  const row = (title: string, field: keyof PictureTotals, digits: number): readonly string[] => {
    const difference = after[field] - before[field];
    const sign = difference > 0 ? "+" : "";
    const isSame = Math.abs(difference) < 10 ** -digits / 2;
    return [
      title,
      before[field].toFixed(digits),
      after[field].toFixed(digits),
      isSame ? "" : `${sign}${difference.toFixed(digits)}`,
    ];
  };
  const hasUnknown = before.nodesWithoutPrice + after.nodesWithoutPrice > 0;
  return formatTable(
    [{ title: "CLUSTER" }, ...["BEFORE", "AFTER", "CHANGE"].map((title) => ({ title, align: "right" as const }))],
    [
      row("nodes", "nodes", 0),
      row("pods", "pods", 0),
      row("cannot be scheduled", "unschedulable", 0),
      row("$/hour", "pricePerHour", 4),
      row("$/month", "pricePerMonth", 2),
      ...(hasUnknown ? [row("nodes of unknown price", "nodesWithoutPrice", 0)] : []),
    ],
  );
}

/** Where the prices of both sides come from, each source once. */
function sourceLines({ priceSources: { before, after } }: DiffReport): readonly string[] {
  return [...new Set([...before, ...after].flatMap((one) => priceSourceLines([one])))];
}

function summaryText({ isDifferent, nodes, pods, before, after }: DiffReport): string {
  if (!isDifferent) return "No difference: the same nodes, pods and price.";
  const lost = pods.noLongerSchedulable.length + pods.comeUnschedulable.length;
  const count = (list: readonly DiffNodes[]): number => list.reduce((sum, one) => sum + one.count, 0);
  const parts = [
    ...(count(nodes.come) > 0
      ? [`${countText(count(nodes.come), "node")} ${count(nodes.come) === 1 ? "comes" : "come"}`]
      : []),
    ...(count(nodes.go) > 0 ? [`${countText(count(nodes.go), "node")} ${count(nodes.go) === 1 ? "goes" : "go"}`] : []),
    ...(pods.move.length > 0
      ? [`${countText(pods.move.length, "pod")} ${pods.move.length === 1 ? "moves" : "move"}`]
      : []),
    ...(lost > 0 ? [`${countText(lost, "pod")} cannot be scheduled`] : []),
  ];
  const saved = before.pricePerMonth - after.pricePerMonth;
  const cost =
    Math.abs(saved) < 0.005 ? "the same price" : `$${Math.abs(saved).toFixed(2)}/month ${saved > 0 ? "less" : "more"}`;
  return `${[...parts, cost].join(", ")}.`;
}
