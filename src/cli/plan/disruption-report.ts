import {
  type DisruptionCommand,
  firstCapacityType,
  knownSavings,
  movesOf,
  type PodMove,
} from "../../core/disruption/command.ts";
import { disruptionMethods } from "../../core/disruption/methods.ts";
import type { ValidatedProposal } from "../../core/disruption/propose.ts";
import type { NodeVerdict } from "../../core/disruption/verdict.ts";
import { verdictEvent } from "../../core/disruption/verdict-event.ts";
import { verdictText } from "../../core/disruption/verdict-text.ts";
import type { PlannedNode } from "../../core/scheduling/decision.ts";
import { claimedNodePrices } from "../prices/claimed-node-prices.ts";
import { type Priced, priceSourcesOf, type ReportedPriceSource } from "../prices/price-sources.ts";
import type { DisruptionPlan } from "./make-disruption-plan.ts";
import { podNames, type ReportedNode, reportedNode } from "./plan-report.ts";

/** What disruption would do, as `-o json` prints it; other outputs are renderings of this. */
export interface DisruptionReport {
  /** The first method with a command, or `none`. */
  readonly acts: string;
  /** What each method finds by itself, with Karpenter's search: one command, of nodes that are next to each other in its order. */
  readonly methods: readonly ReportedMethod[];
  /** Where the prices of nodes and of their replacements come from. */
  readonly priceSources: readonly ReportedPriceSource[];
  /** What a controller in this mode starts next: it may find several commands, and sets of nodes that save more. */
  readonly next?: ReportedNext | undefined;
  readonly totals: ReportedDisruptionTotals;
}

interface ReportedDisruptionTotals {
  readonly nodes: number;
  readonly pricePerHour: number;
  /** Nodes of Karpenter that are not in the price, because theirs is not known. */
  readonly unpricedNodes: number;
  readonly savings: number;
}

export interface ReportedMethod {
  readonly method: string;
  readonly reason: string;
  readonly candidates: readonly string[];
  /** Pool → nodes it may still lose for this reason. */
  readonly budgets?: Readonly<Record<string, number>>;
  readonly commands: readonly ReportedCommand[];
  /** Commands that would not hold when they are checked again after 15 seconds. */
  readonly invalid: readonly { readonly nodes: readonly string[]; readonly failure: string }[];
  readonly verdicts: readonly ReportedVerdict[];
  readonly events: readonly { readonly object: string; readonly reason: string; readonly message: string }[];
}

interface ReportedNext extends Pick<ReportedMethod, "method" | "reason" | "commands"> {}

export interface ReportedCommand {
  readonly decision: string;
  readonly nodes: readonly string[];
  readonly replacements: readonly (ReportedNode & { readonly capacityType: string })[];
  /** Existing node → pods that move there. */
  readonly existingNodes: Readonly<Record<string, readonly string[]>>;
  /** Prices that are not known count as nothing. */
  readonly savings: number;
  readonly isSavingKnown: boolean;
  readonly moves: readonly PodMove[];
}

/** A verdict with its sentence. */
export type ReportedVerdict = NodeVerdict & { readonly text: string };

export function disruptionReportOf({ snapshot, proposal, next }: DisruptionPlan): DisruptionReport {
  const reported = (node: PlannedNode): ReportedNode => reportedNode(node, snapshot.labelPolicy);
  const methods = proposal.methods.map((one) => reportedMethod(one, reported));
  const reportedNext = next && {
    method: next.method,
    reason: disruptionMethods[next.method].reason,
    commands: reportedCommands(next.commands, reported),
  };
  const prices = claimedNodePrices(snapshot);
  return {
    acts: proposal.acts ?? "none",
    methods,
    ...(reportedNext !== undefined && { next: reportedNext }),
    priceSources: priceSourcesOf([
      ...prices,
      ...[...(reportedNext === undefined ? [] : [reportedNext]), ...methods].flatMap(({ commands }) =>
        replacementsOf(commands),
      ),
    ]),
    totals: {
      nodes: snapshot.cluster.nodes.length,
      pricePerHour: [...snapshot.pools.values()].reduce((sum, { cost }) => sum + cost, 0),
      unpricedNodes: snapshot.cluster.nodes.filter(({ claim }) => claim !== undefined).length - prices.length,
      savings: next?.commands.reduce((sum, { savings }) => sum + savings, 0) ?? 0,
    },
  };
}

/** By the name of their first node. */
function reportedCommands(
  commands: readonly DisruptionCommand[],
  reported: (node: PlannedNode) => ReportedNode,
): readonly ReportedCommand[] {
  return commands
    .map((command) => reportedCommand(command, reported))
    .sort((a, b) => ((a.nodes[0] ?? "") < (b.nodes[0] ?? "") ? -1 : 1));
}

function reportedMethod(proposal: ValidatedProposal, reported: (node: PlannedNode) => ReportedNode): ReportedMethod {
  const { method, candidates, budgets, commands, invalid, verdicts } = proposal;
  const available = [...budgets.values()].map(({ pool, available: left }) => [pool, left] as const).sort();
  return {
    method,
    reason: disruptionMethods[method].reason,
    candidates: candidates.map(({ name }) => name),
    ...(available.length > 0 && { budgets: Object.fromEntries(available) }),
    commands: reportedCommands(commands, reported),
    invalid: invalid.map(({ command, failure }) => ({ nodes: nodeNames(command), failure })),
    verdicts: verdicts
      .map((verdict) => ({ ...verdict, text: verdictText(verdict) }))
      .sort((a, b) => (a.node < b.node ? -1 : 1)),
    events: verdicts.flatMap((verdict) => {
      const event = verdictEvent(verdict, method);
      return event === undefined ? [] : [{ object: `Node/${verdict.node}`, ...event }];
    }),
  };
}

export function reportedCommand(
  command: DisruptionCommand,
  reported: (node: PlannedNode) => ReportedNode,
): ReportedCommand {
  const { decision, replacements, placements, savings } = command;
  return {
    decision,
    nodes: nodeNames(command),
    replacements: replacements.map((node) => ({
      ...reported(node),
      capacityType: firstCapacityType(node.requirements),
    })),
    existingNodes: Object.fromEntries(placements.map(({ node, pods }) => [node, podNames(pods)])),
    savings,
    isSavingKnown: knownSavings(command) !== undefined,
    moves: movesOf(command),
  };
}

export function replacementsOf(commands: readonly ReportedCommand[]): readonly Priced[] {
  return commands.flatMap(({ replacements }) => replacements);
}

function nodeNames({ candidates }: DisruptionCommand): readonly string[] {
  return candidates.map(({ name }) => name).sort();
}
