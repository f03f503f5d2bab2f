import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { DisruptionCandidate } from "../../core/disruption/candidate.ts";
import { commandText } from "../../core/disruption/command-text.ts";
import { disruptionMethods } from "../../core/disruption/methods.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { forEachConcurrent, throwIfAny } from "../../util/concurrent.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { nodeClaimView } from "../node-claim/claim-lookups.ts";
import { disruptClaim } from "../node-claim/disrupt-claim.ts";
import { maxClaimsInFlight } from "../provisioning/create-claims.ts";
import { commandTimeoutMs } from "./command-timeout.ts";
import { recordLaunching, recordTerminating, recordWaitingOnReadiness } from "./disruption-events.ts";
import type { DriftBackOff } from "./drift-back-off.ts";
import { claimNameOfCandidate, unmarkNodes } from "./mark-candidates.ts";
import { reasonLabel } from "./reason-label.ts";
import type { RecentMoves } from "./recent-moves.ts";
import type { CommandReplacement, RunningCommand, RunningCommands } from "./running-commands.ts";

/** How often a running command is looked at. (03:D-75) */
const pollMs = 1_000;

export interface FinishCommandOptions {
  readonly commands: RunningCommands;
  readonly driftBackOff: DriftBackOff;
  readonly recentMoves: RecentMoves;
}

/** Waits for the replacements of a command, then deletes its nodes; gives up if that cannot be done. (03:D-75 to D-81) */
export async function finishCommand(
  running: RunningCommand,
  options: FinishCommandOptions,
  context: KarpenterContext,
): Promise<ReconcileResult> {
  const failure = replacementFailure(running, context);
  const isReady = failure === undefined && running.replacements.every(({ isInitialized }) => isInitialized);
  const errors = isReady ? await deleteCandidates(running, context) : [];
  if (isReady && errors.length === 0) {
    succeed(running, options, context);
    return undefined;
  }
  if (failure !== undefined || isTooLate(running, options, context)) {
    await rollBack(running, failure ?? ["reached timeout", ...errors.map(errorMessage)].join("; "), options, context);
    return undefined;
  }
  throwIfAny(errors, "deleting the claims of a disruption command");
  return { afterMs: pollMs };
}

function isTooLate(
  { startedAtMs }: RunningCommand,
  { commands }: FinishCommandOptions,
  { clock }: KarpenterContext,
): boolean {
  return clock.now() - startedAtMs > commandTimeoutMs(commands.providerIds().length);
}

function succeed(
  running: RunningCommand,
  { commands, driftBackOff, recentMoves }: FinishCommandOptions,
  { clock, log }: KarpenterContext,
): void {
  commands.remove(running.id);
  recentMoves.add(running, clock.now());
  // A node that went without a replacement says nothing about those that fail.
  if (running.replacements.length > 0) for (const pool of poolsOf(running)) driftBackOff.succeeded(pool);
  log.debug("command succeeded", { command: commandText(running.command, running.id) });
}

/** Why a replacement will never be there; undefined: all are there, or may come. (03:D-75) */
function replacementFailure({ replacements, command }: RunningCommand, context: KarpenterContext): string | undefined {
  for (const replacement of replacements) {
    if (replacement.isInitialized) continue;
    const claim = nodeClaimView(context).get(replacement.claim);
    if (claim === undefined) {
      if (isKnown(replacement, context)) continue;
      return `replacement ${replacement.claim} is gone`;
    }
    recordLaunching(claim, command.reason, context);
    if (isStatusConditionTrue(claim, "Initialized")) replacement.isInitialized = true;
    else recordWaitingOnReadiness(claim, context);
  }
  return undefined;
}

/** The view may not show it yet; cluster state knows every claim we created. */
function isKnown({ claim }: CommandReplacement, { cluster }: KarpenterContext): boolean {
  return cluster.nodeByClaimName(claim) !== undefined || cluster.unlaunchedClaims().includes(claim);
}

/** Each can fail on its own; returns all failures. */
function deleteCandidates(running: RunningCommand, context: KarpenterContext): Promise<readonly unknown[]> {
  const run = (candidate: DisruptionCandidate): Promise<void> => deleteCandidate(candidate, running, context);
  return forEachConcurrent(running.command.candidates, { limit: maxClaimsInFlight, run });
}

/** A claim that is gone or on its way out counts as deleted. (03:D-77, D-80) */
async function deleteCandidate(
  candidate: DisruptionCandidate,
  { command }: RunningCommand,
  context: KarpenterContext,
): Promise<void> {
  const claim = nodeClaimView(context).get(claimNameOfCandidate(candidate));
  if (claim === undefined || claim.metadata.uid !== candidate.claim.metadata.uid) return;
  const { reason } = command;
  const pods = context.cluster.nodeByProviderId(candidate.providerId)?.pods;
  const policy = reason === "Drifted" ? undefined : candidate.pool.nodePool.spec.disruption.consolidationPolicy;
  const isDeleted = await disruptClaim(
    claim,
    { reason: reasonLabel(reason), pods, consolidationPolicy: policy },
    context,
  );
  if (isDeleted) recordTerminating(candidate, reason, context);
}

/**
 * The nodes stay. Replacements that came up stay too, as ordinary nodes. A mark that cannot be taken back now holds up
 * no other node: the next pass removes it. (03:D-79, D-3)
 */
async function rollBack(
  { id, command, replacements }: RunningCommand,
  because: string,
  { commands, driftBackOff }: FinishCommandOptions,
  context: KarpenterContext,
): Promise<void> {
  const { method, reason, decision, candidates } = command;
  const providerIds = candidates.map(({ providerId }) => providerId);
  const staying = providerIds.flatMap((id) => context.cluster.nodeByProviderId(id) ?? []);
  const errors = await unmarkNodes(staying, context);
  context.cluster.unmarkForDeletion(...providerIds);
  commands.remove(id);
  if (reason === "Drifted") for (const { pool } of candidates) driftBackOff.failed(pool.name, context.clock.now());
  const missing = replacements.filter(({ isInitialized }) => !isInitialized).length;
  const { consolidationType: consolidation_type } = disruptionMethods[method];
  const labels = { decision, reason: reasonLabel(reason), consolidation_type };
  if (missing > 0) context.metrics.count("voluntary_disruption_queue_failures_total", labels, missing);
  context.log.error("failed terminating nodes while executing a disruption command", {
    command: commandText(command, id),
    error: [because, ...errors.map(errorMessage)].join("; "),
  });
}

function poolsOf({ command }: RunningCommand): ReadonlySet<string> {
  return new Set(command.candidates.map(({ pool }) => pool.name));
}
