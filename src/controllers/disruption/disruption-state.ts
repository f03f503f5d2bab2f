import type { DisruptionCommand } from "../../core/disruption/command.ts";
import { withReserved } from "../../core/disruption/reserve-commands.ts";
import type { DisruptionSearch, DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import type { VerdictMemory } from "../../core/disruption/verdict-memory.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import type { DriftBackOff } from "./drift-back-off.ts";
import type { LastVerdicts } from "./last-verdicts.ts";
import type { RecentMoves } from "./recent-moves.ts";
import type { RunningCommands } from "./running-commands.ts";
import type { SearchMemory } from "./search-memory.ts";
import { type TakeSnapshotOptions, takeDisruptionSnapshot } from "./take-snapshot.ts";
import type { WaitingCommands } from "./waiting-commands.ts";

/** What the disruption controllers share and remember while they run. */
export interface DisruptionState {
  readonly commands: RunningCommands;
  readonly waiting: WaitingCommands;
  readonly memory: SearchMemory;
  /** What sweeps found out about nodes that could not be consolidated. */
  readonly verdicts: VerdictMemory;
  readonly driftBackOff: DriftBackOff;
  readonly recentMoves: RecentMoves;
  readonly lastVerdicts: LastVerdicts;
  /** Of the searches; the same for a search and the check of its command. */
  readonly seed: number;
  /** The search that leads to the cheaper cluster, from when it was chosen until nothing is left to do. */
  chosenSearch: DisruptionSearch | undefined;
}

/** The cluster now, with the nodes of waiting commands on their way out. */
export async function currentSnapshot(
  state: DisruptionState,
  waiting: readonly DisruptionCommand[],
  context: KarpenterContext,
): Promise<DisruptionSnapshot> {
  const snapshot = await takeDisruptionSnapshot(snapshotOptions(state, context), context);
  return withReserved(snapshot, waiting);
}

export function snapshotOptions(
  { commands, driftBackOff, recentMoves, seed, chosenSearch }: DisruptionState,
  { clock, settings }: KarpenterContext,
): TakeSnapshotOptions {
  return {
    inCommand: commands.providerIds(),
    heldBackPools: driftBackOff.heldBackPools(),
    recentMoves: recentMoves.since(clock.now()),
    seed,
    mode: chosenSearch ?? settings.disruptionMode,
  };
}
