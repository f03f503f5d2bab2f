import type { MethodProposal } from "../../core/disruption/disruption-pass.ts";
import type { SearchPosition } from "../../core/disruption/method.ts";
import type { DisruptionMethodName } from "../../core/disruption/methods.ts";
import type { NodeVerdict } from "../../core/disruption/verdict.ts";

/** When a search is worth repeating though the cluster has not changed. */
interface NothingFound {
  readonly epoch: string;
  readonly untilMs: number;
}

/** What the searches of earlier passes found out. */
export class SearchMemory {
  readonly #nothingFound = new Map<DisruptionMethodName, NothingFound>();
  readonly #positions = new Map<DisruptionMethodName, SearchPosition>();

  /** Whether the method would find nothing again: neither the cluster nor the commands that wait have changed. (03:D-33) */
  isKnown(method: DisruptionMethodName, { epoch, nowMs }: { readonly epoch: string; readonly nowMs: number }): boolean {
    const known = this.#nothingFound.get(method);
    return known?.epoch === epoch && nowMs < known.untilMs;
  }

  /** Where the method goes on, if its last search was stopped. */
  position(method: DisruptionMethodName): SearchPosition | undefined {
    return this.#positions.get(method);
  }

  /**
   * Remembers that a search found nothing, unless it was not over, a budget held nodes back, or there was no node to look
   * at. What ends by itself, such as the protection of a pod, ends the memory too. (03:D-33, D-34)
   */
  remember(proposal: MethodProposal, epoch: string): void {
    const { method, commands, candidates, stoppedAt, isHeldBackByBudget, verdicts } = proposal;
    if (stoppedAt === undefined) this.#positions.delete(method);
    else this.#positions.set(method, stoppedAt);
    const isOver = commands.length === 0 && stoppedAt === undefined && candidates.length > 0;
    if (!isOver || isHeldBackByBudget) return;
    this.#nothingFound.set(method, { epoch, untilMs: earliestEnd(verdicts) });
  }
}

function earliestEnd(verdicts: readonly NodeVerdict[]): number {
  return verdicts.reduce((least, verdict) => Math.min(least, endOf(verdict)), Number.POSITIVE_INFINITY);
}

/** When a verdict may change by itself. */
function endOf(verdict: NodeVerdict): number {
  // A nomination ends within seconds.
  if (verdict.code === "nominated") return 0;
  return ("untilMs" in verdict ? verdict.untilMs : undefined) ?? Number.POSITIVE_INFINITY;
}
