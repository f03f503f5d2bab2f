import { verdictText } from "../../core/disruption/verdict-text.ts";
import type { RepackStep } from "../../core/repack/repack.ts";
import type { PlannedNode } from "../../core/scheduling/decision.ts";
import { type Priced, priceSourcesOf, type ReportedPriceSource } from "../prices/price-sources.ts";
import { type ReportedCommand, type ReportedVerdict, replacementsOf, reportedCommand } from "./disruption-report.ts";
import type { RepackedPlan } from "./make-repack-plan.ts";
import { type ReportedNode, reportedNode } from "./plan-report.ts";

/** A cluster packed anew, as `-o json` prints it; other outputs are renderings of this. */
export interface RepackReport {
  readonly today: ReportedFigures;
  /** Pods that wait, and those of nodes that are being deleted, get their place before the first wave. */
  readonly provisioning: {
    readonly pods: number;
    readonly newNodes: readonly string[];
    readonly unschedulable: readonly string[];
    readonly pricePerHour: number;
  };
  /** All nodes of dynamic pools packed from nothing, whatever protects them today. */
  readonly repacked: ReportedFigures & {
    readonly newNodes: readonly ReportedNode[];
    readonly keptNodes: readonly string[];
  };
  /** No plan for these pods on nodes that can be launched now costs less an hour. */
  readonly lowerBoundPerHour: number;
  /** Where the prices of today's nodes and of all new ones come from. */
  readonly priceSources: readonly ReportedPriceSource[];
  readonly steps: readonly ReportedStep[];
  /** After all steps. */
  readonly reached: ReportedFigures & { readonly savings: number };
  readonly staying: readonly ReportedVerdict[];
  /** Whether the search ran out of time, so that more may be possible. */
  readonly isStopped: boolean;
}

interface ReportedFigures {
  readonly nodes: number;
  readonly pricePerHour: number;
}

export interface ReportedStep extends ReportedCommand {
  /** Commands of one wave can be carried out together. */
  readonly wave: number;
  readonly method: string;
  /** Names of the replacements in this plan. */
  readonly newNodes: readonly string[];
  /** Several replacements: the controller does this with the feature gate MultiReplacement. */
  readonly needsMultiReplacement: boolean;
  /** Of the cluster afterwards. */
  readonly pricePerHour: number;
}

export function repackReportOf(plan: RepackedPlan): RepackReport {
  const { today, provisioning, repacked, reached, labelPolicy } = plan;
  const reported = (node: PlannedNode): ReportedNode => reportedNode(node, labelPolicy);
  const newNodes = repacked.newNodes.map(reported);
  const steps = plan.steps.map((step) => reportedStep(step, reported));
  const priced: readonly Priced[] = [...plan.todaysPrices, ...replacementsOf(steps), ...newNodes];
  return {
    today: { nodes: today.nodes, pricePerHour: today.price },
    provisioning: {
      pods: provisioning.pods,
      newNodes: provisioning.launched,
      unschedulable: provisioning.unschedulable,
      pricePerHour: provisioning.price,
    },
    repacked: {
      nodes: repacked.newNodes.length + repacked.keptNodes.length,
      pricePerHour: repacked.price,
      newNodes,
      keptNodes: repacked.keptNodes,
    },
    lowerBoundPerHour: plan.lowerBound,
    priceSources: priceSourcesOf(priced),
    steps,
    reached: { nodes: reached.nodes, pricePerHour: reached.price, savings: provisioning.price - reached.price },
    staying: plan.staying.map((verdict) => ({ ...verdict, text: verdictText(verdict) })),
    isStopped: plan.isStopped,
  };
}

function reportedStep(
  { wave, command, launched, priceAfter }: RepackStep,
  reported: (node: PlannedNode) => ReportedNode,
): ReportedStep {
  return {
    wave,
    method: command.method,
    ...reportedCommand(command, reported),
    newNodes: launched,
    needsMultiReplacement: command.replacements.length > 1,
    pricePerHour: priceAfter,
  };
}
