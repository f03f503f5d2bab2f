import type { Steps } from "../../util/steps.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { FoundCommand } from "./consolidate.ts";
import { RightSizedPrices } from "./right-sized-price.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/** A command, and the moves that count for it. */
export type CommandAndMoves = Pick<FoundCommand, "command" | "moves">;

/** A command that saves less now must save this share of what the best saves, so that a large cluster takes no more steps. */
const leastShare = 1 / 3;
/** And it must leave this share of what the best saves more to be saved later. */
const leastGain = 0.02;
/** As many others are compared with the best. */
const maxCompared = 32;

/**
 * The command that saves the most, unless it spoils what could be saved later: pods that it moves together on a large node
 * may fit no smaller one any more, and two new nodes cannot take the place of one. Then another command that saves a good
 * part as much is chosen. (03 §10.2-6)
 */
export function* chooseCommand(
  found: readonly CommandAndMoves[],
  candidates: readonly DisruptionCandidate[],
  snapshot: DisruptionSnapshot,
): Steps<CommandAndMoves | undefined> {
  const [most, ...less] = found.toSorted((a, b) => b.command.savings - a.command.savings);
  if (most === undefined || snapshot.allowsMultiReplacement) return most;
  const { savings } = most.command;
  const others = less.filter(({ command }) => command.savings >= leastShare * savings).slice(0, maxCompared);
  if (others.length === 0) return most;
  const prices = new RightSizedPrices(candidates, snapshot);
  let best = most;
  let gain = prices.gainOf(most.command) + leastGain * savings;
  for (const other of others) {
    yield;
    const gained = prices.gainOf(other.command);
    if (gained <= gain) continue;
    best = other;
    gain = gained;
  }
  return best;
}
