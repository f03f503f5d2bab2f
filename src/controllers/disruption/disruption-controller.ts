import type { DisruptionCommand } from "../../core/disruption/command.ts";
import { DisruptionPass } from "../../core/disruption/disruption-pass.ts";
import { type DisruptionMethodName, disruptionMethodNames, disruptionMethods } from "../../core/disruption/methods.ts";
import { controllerSearch } from "../../core/disruption/next-commands.ts";
import type { DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import { validationDelayMs } from "../../core/disruption/validation.ts";
import { VerdictMemory } from "../../core/disruption/verdict-memory.ts";
import { canForesee, isSmallCluster, mayBeCheaper } from "../../core/repack/cheaper-search.ts";
import type { Controller } from "../../kube/controller.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { forEachConcurrent, throwIfAny } from "../../util/concurrent.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { deviceKinds } from "../device-views.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { maxClaimsInFlight } from "../provisioning/create-claims.ts";
import { runInSlices } from "../provisioning/run-in-slices.ts";
import { scaledConcurrency } from "../settings.ts";
import { chooseSearch } from "./choose-search.ts";
import { recordCandidates } from "./disruption-events.ts";
import { currentSnapshot, type DisruptionState, snapshotOptions } from "./disruption-state.ts";
import { DriftBackOff } from "./drift-back-off.ts";
import { explainNodeNow } from "./explain-node-now.ts";
import { finishCommand } from "./finish-command.ts";
import { LastVerdicts } from "./last-verdicts.ts";
import { RecentMoves } from "./recent-moves.ts";
import { initializeTimeouts, recordProposal } from "./record-proposal.ts";
import { RunningCommands } from "./running-commands.ts";
import { clockSearch } from "./search-budget.ts";
import { SearchMemory } from "./search-memory.ts";
import { removeStaleMarks } from "./stale-marks.ts";
import { startCommand } from "./start-command.ts";
import { startDueCommands } from "./validate-waiting.ts";
import { WaitingCommands } from "./waiting-commands.ts";

const controllerName = "disruption";
/** How long until the next pass when there is nothing to do. (03:D-1) */
const idleMs = 10_000;
const disruptedKinds = [
  karpenterTypes.NodePool,
  karpenterTypes.NodeClaim,
  builtInTypes.Node,
  builtInTypes.PodDisruptionBudget,
];
const unsyncedMs = 1_000;

/** Controllers that give nodes back: one finds commands, the other carries them out. (03 §4) */
export function disruptionControllers(dependencies: ControllerDependencies): readonly Controller[] {
  const commands = new RunningCommands();
  const driftBackOff = new DriftBackOff();
  const recentMoves = new RecentMoves();
  const readKinds = [...disruptedKinds, ...(dependencies.settings.ignoreDraRequests ? [] : deviceKinds)];
  return [
    karpenterController<DisruptionState>(dependencies, {
      name: controllerName,
      triggers: [],
      kinds: readKinds,
      reads: [...readKinds, "cluster state", "cloud"].map((of) => ({
        of,
        withinMs: idleMs,
        because: "it goes by the clock",
      })),
      initialKeys: [controllerName],
      start: (context) => {
        initializeTimeouts(context);
        const seed = context.random.int(2 ** 32);
        return {
          commands,
          waiting: new WaitingCommands(),
          memory: new SearchMemory(),
          verdicts: new VerdictMemory(),
          driftBackOff,
          recentMoves,
          seed,
          lastVerdicts: new LastVerdicts(),
          chosenSearch: undefined,
        };
      },
      subscribe: (_enqueue, context, state) =>
        context.explanations?.provideNodes((name) => explainNodeNow(name, state, context)) ?? (() => {}),
      reconcile: (_key, context, state) => runPass(state, context),
    }),
    karpenterController(dependencies, {
      name: "disruption.queue",
      triggers: [],
      kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
      reads: [karpenterTypes.NodeClaim, builtInTypes.Node, "cluster state"].map((of) => ({
        of,
        withinMs: unsyncedMs,
        because: "a command that runs is looked at every second",
      })),
      concurrency: scaledConcurrency({ min: 100, max: 1_000 }, dependencies.settings),
      backOff: { baseMs: 1_000, maxMs: 10_000 },
      subscribe: (enqueue) => commands.subscribe(enqueue),
      reconcile: async (id, context) => {
        const running = commands.get(id);
        return running && finishCommand(running, { commands, driftBackOff, recentMoves }, context);
      },
    }),
  ];
}

/** One pass: starts the commands that have waited long enough, then looks for new ones. (03:D-1) */
async function runPass(state: DisruptionState, context: KarpenterContext): Promise<ReconcileResult> {
  const { cluster, clock, settings } = context;
  if (!cluster.isSynced) return { afterMs: unsyncedMs };
  await removeStaleMarks(state.commands, context);
  const { hasStarted, failedMethod } = await startDueCommands(state, context);
  if (hasStarted) return { afterMs: 0 };
  const dueAtMs = state.waiting.nextDueAtMs();
  // Upstream waits for a command to start before it looks for the next.
  if ((state.chosenSearch ?? settings.disruptionMode) !== "default" && dueAtMs !== undefined)
    return { afterMs: dueAtMs - clock.now() };
  if (failedMethod !== "single-node-consolidation" && (await search(state, failedMethod, context)))
    return { afterMs: 0 };
  return { afterMs: Math.min(idleMs, (dueAtMs ?? Number.POSITIVE_INFINITY) - clock.now()) };
}

/**
 * Asks the methods in turn until one finds a command. After a command of a method did not hold, the pass goes on with
 * the methods after it. (03:D-2, D-54)
 */
async function search(
  state: DisruptionState,
  after: DisruptionMethodName | undefined,
  context: KarpenterContext,
): Promise<boolean> {
  // Before the snapshot: it may not have what changes from now on.
  const epoch = `${context.cluster.consolidationEpoch()} ${state.waiting.version}`;
  const snapshot = await snapshotForSearch(state, context);
  if (state.memory.isSettled(snapshot)) return false;
  const pass = new DisruptionPass(snapshot);
  const options = controllerSearch(snapshot);
  const methods = disruptionMethodNames.slice(after === undefined ? 0 : disruptionMethodNames.indexOf(after) + 1);
  for (const method of methods) {
    const commands = await proposeCommands(method, { state, epoch, snapshot, pass, options }, context);
    if (commands.length === 0) continue;
    if (await choosesStepwise(method, { state, snapshot }, context)) {
      if (await search(state, after, context)) return true;
      state.chosenSearch = "default"; // what was foreseen does not hold: these commands do
    }
    if (disruptionMethods[method].isValidated) {
      state.waiting.add(commands, context.clock.now() + validationDelayMs);
      for (const command of commands) recordCandidates(command, context);
    } else await startAll(commands, state, context);
    return true;
  }
  if (after === undefined) state.memory.settle(snapshot);
  if (canForesee(snapshot)) state.chosenSearch = undefined;
  return false;
}

/** What was chosen for a small cluster does not count for one that has grown. */
async function snapshotForSearch(state: DisruptionState, context: KarpenterContext): Promise<DisruptionSnapshot> {
  const snapshot = await currentSnapshot(state, state.waiting.all(), context);
  if (state.chosenSearch === undefined || isSmallCluster(snapshot)) return snapshot;
  state.chosenSearch = undefined;
  return currentSnapshot(state, state.waiting.all(), context);
}

/** Before the first of several commands: whether one after the other leads to a cheaper cluster. */
async function choosesStepwise(
  method: DisruptionMethodName,
  { state, snapshot }: Pick<MethodSearch, "state" | "snapshot">,
  context: KarpenterContext,
): Promise<boolean> {
  if (state.chosenSearch !== undefined || !mayBeCheaper(method, snapshot)) return false;
  state.chosenSearch = await chooseSearch(snapshot, snapshotOptions(state, context), context);
  return state.chosenSearch !== "default";
}

interface MethodSearch {
  readonly state: DisruptionState;
  readonly epoch: string;
  readonly snapshot: DisruptionSnapshot;
  readonly pass: DisruptionPass;
  readonly options: ReturnType<typeof controllerSearch>;
}

async function proposeCommands(
  method: DisruptionMethodName,
  { state, epoch, snapshot, pass, options }: MethodSearch,
  context: KarpenterContext,
): Promise<readonly DisruptionCommand[]> {
  const { memory } = state;
  const { clock, openBudget, openSearch = clockSearch(clock) } = context;
  const startedAtMs = clock.now();
  const { isValidated } = disruptionMethods[method];
  if (isValidated && memory.isKnown(method, { epoch, snapshot })) return [];
  const proposal = await runInSlices(
    pass.propose(method, {
      ...options,
      searchBudget: openSearch(method),
      resume: memory.position(method),
      memory: state.verdicts,
    }),
    openBudget(),
  );
  memory.remember(proposal, { epoch, snapshot });
  state.lastVerdicts.record(proposal, startedAtMs);
  await recordProposal(proposal, { snapshot, elapsedMs: clock.now() - startedAtMs }, context);
  return proposal.commands;
}

/** Any failure fails the method for this pass, and drift of the pools waits: a pool over its limits stays so. (03:D-4, D-32b) */
async function startAll(
  commands: readonly DisruptionCommand[],
  { commands: running, driftBackOff }: DisruptionState,
  context: KarpenterContext,
): Promise<void> {
  const run = async (command: DisruptionCommand): Promise<void> => {
    try {
      await startCommand(command, running, context);
    } catch (error) {
      const pools = new Set(command.candidates.map(({ pool }) => pool.name));
      for (const pool of pools) driftBackOff.failed(pool, context.clock.now());
      throw error;
    }
  };
  throwIfAny(await forEachConcurrent(commands, { limit: maxClaimsInFlight, run }), "starting disruption commands");
}
