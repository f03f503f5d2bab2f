import { controllerSearch } from "../../core/disruption/next-commands.ts";
import {
  type CommandProgress,
  type DisruptionExplanation,
  explainDisruption,
  findStateNode,
} from "../../core/explain/explain-disruption.ts";
import type { ExplanationReply } from "../explanations.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { runInSlices } from "../provisioning/run-in-slices.ts";
import { currentSnapshot, type DisruptionState } from "./disruption-state.ts";

/** Why a node stays or goes, by what this controller knows: its last verdicts, its commands, and the cluster now. */
export async function explainNodeNow(
  name: string,
  state: DisruptionState,
  context: KarpenterContext,
): Promise<ExplanationReply<DisruptionExplanation>> {
  const { cluster, clock, openBudget } = context;
  if (!cluster.isSynced) return { kind: "not-synced" };
  const snapshot = await currentSnapshot(state, state.waiting.all(), context);
  const stateNode = findStateNode(name, snapshot);
  if (stateNode === undefined) return { kind: "unknown" };
  const steps = explainDisruption(stateNode.name, snapshot, {
    simulatorFor: (one) => controllerSearch(one).simulator,
    verdicts: state.lastVerdicts.of(stateNode.name),
    commands: [...state.waiting.all(), ...state.commands.all().map(({ command }) => command)],
    progress: progressOf(stateNode.providerId, state),
  });
  const explanation = await runInSlices(steps, openBudget());
  return explanation === undefined ? { kind: "unknown" } : { kind: "explained", explanation, atMs: clock.now() };
}

/** How far the command has come that the node is part of. */
function progressOf(providerId: string, { waiting, commands }: DisruptionState): CommandProgress | undefined {
  const due = waiting.dueAtMsOf(providerId);
  if (due !== undefined) return { state: "waiting", dueAtMs: due };
  const running = commands.all().find(({ command }) => command.candidates.some((one) => one.providerId === providerId));
  if (running === undefined) return undefined;
  const { startedAtMs, replacements } = running;
  return {
    state: "running",
    startedAtMs,
    replacements: replacements.map(({ claim, isInitialized }) => ({ nodeClaim: claim, isInitialized })),
  };
}
