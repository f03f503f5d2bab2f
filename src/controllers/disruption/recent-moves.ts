import { recentMove, recentMoveMs } from "../../core/disruption/recent-move.ts";
import type { RecentMove } from "../../core/disruption/snapshot.ts";
import type { RunningCommand } from "./running-commands.ts";

/** Consolidations that were carried out, for an hour, so that none is undone for nothing. (03:D-58a) */
export class RecentMoves {
  #moves: readonly RecentMove[] = [];

  /** Drift and emptiness move no pods to save money. */
  add({ command, replacements }: RunningCommand, nowMs: number): void {
    if (command.reason !== "Underutilized") return;
    const claims = replacements.map(({ claim }) => claim);
    this.#moves = [...this.since(nowMs), recentMove(command, claims, nowMs)];
  }

  /** Those that still count. */
  since(nowMs: number): readonly RecentMove[] {
    this.#moves = this.#moves.filter(({ atMs }) => nowMs < atMs + recentMoveMs);
    return this.#moves;
  }
}
