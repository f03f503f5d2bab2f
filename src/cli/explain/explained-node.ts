import { sharedSimulator } from "../../core/disruption/shared-simulator.ts";
import { type DisruptionExplanation, explainDisruption, findStateNode } from "../../core/explain/explain-disruption.ts";
import { explainNode, type NodeExplanation } from "../../core/explain/explain-node.ts";
import { scenarioOf } from "../../state/scenario.ts";
import { runSteps } from "../../util/steps.ts";
import { disruptionPlanOf } from "../plan/make-disruption-plan.ts";
import type { PreparedPlan } from "../plan/make-plan.ts";

/** Why a node stays or goes, and what is scheduled to it. */
export interface ExplainedNode {
  readonly disruption: DisruptionExplanation;
  /** Absent for a NodeClaim that no pod can be scheduled to yet. */
  readonly scheduling?: NodeExplanation | undefined;
}

/** Explains a node by what was read; if there is none of that name, returns the names there are. */
export function explainPreparedNode(
  name: string,
  prepared: PreparedPlan,
  gates: { readonly allowsSpotToSpot: boolean; readonly allowsMultiReplacement: boolean },
): ExplainedNode | { readonly nodes: readonly string[] } {
  const { snapshot, proposal, next } = disruptionPlanOf(prepared, { ...gates, mode: "default", nominated: [] });
  const stateNode = findStateNode(name, snapshot);
  if (stateNode === undefined) return { nodes: snapshot.cluster.nodes.map((one) => one.name) };
  const verdicts = proposal.methods.flatMap((one) =>
    one.verdicts.filter(({ node }) => node === stateNode.name).map((verdict) => [one.method, { verdict }] as const),
  );
  const disruption = runSteps(
    explainDisruption(stateNode.name, snapshot, {
      simulatorFor: sharedSimulator,
      verdicts: new Map(verdicts),
      commands: [...(next?.commands ?? []), ...proposal.methods.flatMap(({ commands }) => commands)],
      next: next?.commands,
    }),
  );
  if (disruption === undefined) return { nodes: [] };
  const { problem } = scenarioOf(prepared.objects, prepared.options);
  return { disruption, scheduling: explainNode(problem, stateNode.name) };
}

/** As `-o json` prints it. */
export function nodeReport({ disruption, scheduling }: ExplainedNode): object {
  return { node: disruption.node, ...scheduling, disruption };
}
