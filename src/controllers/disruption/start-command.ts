import type { DisruptionCandidate } from "../../core/disruption/candidate.ts";
import { type DisruptionCommand, disruptionCommand } from "../../core/disruption/command.ts";
import { commandText } from "../../core/disruption/command-text.ts";
import { disruptionMethods } from "../../core/disruption/methods.ts";
import { staticNodeLimit } from "../../core/round/static-pools.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { joinedNames } from "../provisioning/log-text.ts";
import { createReplacements } from "./create-replacements.ts";
import { claimNameOfCandidate, markCandidates } from "./mark-candidates.ts";
import { reasonLabel } from "./reason-label.ts";
import type { RunningCommands } from "./running-commands.ts";

/** Carries a command out up to the point where its replacements start. (03:D-70 to D-74) */
export async function startCommand(
  found: DisruptionCommand,
  commands: RunningCommands,
  context: KarpenterContext,
): Promise<void> {
  if (found.candidates.some(({ providerId }) => commands.has(providerId)))
    throw new Error(`a node of [${found.candidates.map(({ name }) => name).join(", ")}] is already being disrupted`);
  if (!hasReservedNode(found, context)) return;
  const id = context.random.uuid();
  logCommand(found, id, context);
  const { command, claims } = await markAndReplace(found, context);
  nominateDestinations(command, context);
  const replacements = claims.map(({ metadata }) => ({ claim: metadata.name ?? "", isInitialized: false }));
  commands.add({ id, command, startedAtMs: context.clock.now(), replacements });
  countCommand(command, context);
}

/** Before the claims exist, provisioning would launch nodes for the same pods, also if somebody deletes the nodes meanwhile. (03:D-73) */
async function markAndReplace(found: DisruptionCommand, context: KarpenterContext) {
  const { beingReplaced } = context.cluster;
  const providerIds = found.candidates.map(({ providerId }) => providerId);
  for (const providerId of providerIds) beingReplaced.add(providerId);
  try {
    const command = await markOrGiveUp(found, context);
    const claims = await createReplacements(command, context);
    context.cluster.markForDeletion(...command.candidates.map(({ providerId }) => providerId));
    return { command, claims };
  } finally {
    for (const providerId of providerIds) beingReplaced.delete(providerId);
  }
}

/** The node of a static pool is reserved against the pool's limit; creating its claim, or a failure, ends that. (03:D-30) */
function hasReservedNode({ method, candidates }: DisruptionCommand, { cluster }: KarpenterContext): boolean {
  if (method !== "static-drift") return true;
  return candidates.every(({ pool }) => {
    const limit = staticNodeLimit(pool.nodePool);
    return cluster.nodePoolState.reserveNodeCount(pool.name, { limit, wanted: 1 }) === 1;
  });
}

/** The command with the nodes that could be marked. Only a plain deletion goes on without some of them. (03:D-71) */
async function markOrGiveUp(command: DisruptionCommand, context: KarpenterContext): Promise<DisruptionCommand> {
  const { marked, errors } = await markCandidates(command, context);
  if (errors.length === 0) return command;
  if (command.replacements.length > 0 || marked.length === 0) {
    releaseReservedNode(command, context);
    throw new AggregateError(errors, `marking nodes for disruption, ${errors.map(errorMessage).join("; ")}`);
  }
  return disruptionCommand(command.method, { ...command, candidates: marked });
}

function releaseReservedNode({ method, candidates }: DisruptionCommand, { cluster }: KarpenterContext): void {
  if (method !== "static-drift") return;
  for (const { pool } of candidates) cluster.nodePoolState.releaseNodeCount(pool.name, 1);
}

/** Existing nodes the pods are expected to move to are not disrupted for a while. (03:D-74) */
function nominateDestinations({ placements, candidates }: DisruptionCommand, { cluster }: KarpenterContext): void {
  const moving = new Set(candidates.flatMap(({ reschedulablePods }) => reschedulablePods));
  for (const { node, pods } of placements) {
    const providerId = cluster.nodeByName(node)?.providerId;
    if (providerId !== undefined && pods.some((pod) => moving.has(pod))) cluster.nominate(providerId);
  }
}

function countCommand(
  { method, reason, decision, candidates }: DisruptionCommand,
  { metrics }: KarpenterContext,
): void {
  const { consolidationType: consolidation_type } = disruptionMethods[method];
  const labels = { decision, reason: reasonLabel(reason), consolidation_type };
  metrics.count("voluntary_disruption_decisions_total", labels);
  for (const nodepool of new Set(candidates.map(({ pool }) => pool.name)))
    metrics.count("voluntary_disruption_decisions_by_nodepool_total", { ...labels, nodepool });
}

function logCommand(command: DisruptionCommand, id: string, { log }: KarpenterContext): void {
  const { candidates, replacements, decision } = command;
  log.info("disrupting node(s)", {
    command: commandText(command, id),
    decision,
    "disrupted-node-count": candidates.length,
    "replacement-node-count": replacements.length,
    "pod-count": candidates.reduce((sum, { reschedulablePods }) => sum + reschedulablePods.length, 0),
    "disrupted-nodes": candidates.map(candidateReference),
    "replacement-nodes": replacements.map(({ instanceTypes }) => ({
      "instance-types": joinedNames(instanceTypes.map(({ name }) => name)),
    })),
  });
}

function candidateReference(candidate: DisruptionCandidate) {
  return {
    Node: { name: candidate.name },
    NodeClaim: { name: claimNameOfCandidate(candidate) },
    "capacity-type": candidate.capacityType ?? "",
    "instance-type": candidate.instanceType?.name ?? "",
  };
}
