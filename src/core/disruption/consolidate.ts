import type { Steps } from "../../util/steps.ts";
import type { ExistingNodePlacement } from "../scheduling/decision.ts";
import { areApproved, balancedScores } from "./balanced.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { type CommandParts, type DisruptionCommand, disruptionCommand } from "./command.ts";
import { consolidationOutcome } from "./consolidation-decision.ts";
import type { ConsolidationMove, MethodInput } from "./method.ts";
import { withoutSpared } from "./spared-candidates.ts";
import type { BalancedScore, DecisionCause } from "./verdict.ts";
import { causeAgainstCommand } from "./worthwhile.ts";

/** A set of nodes that can go. */
export interface FoundCommand {
  readonly kind: "command";
  readonly command: DisruptionCommand;
  readonly moves: readonly ConsolidationMove[];
}

/** What came of one set of nodes. */
export type ConsolidationResult =
  | FoundCommand
  | {
      readonly kind: "none";
      readonly cause: DecisionCause;
      readonly moves: readonly ConsolidationMove[];
      /** Where pods would have gone. */
      readonly placements?: readonly ExistingNodePlacement[] | undefined;
    };

type ConsolidationInput = Pick<MethodInput, "snapshot" | "simulator" | "totals"> &
  Partial<Pick<MethodInput, "searchBudget">>;

type ConsolidationMethod = "multi-node-consolidation" | "single-node-consolidation";

/** Simulates the cluster without these nodes and decides what to do about them. (03 §4.7, §4.10) */
export function* consolidate(
  method: ConsolidationMethod,
  candidates: readonly DisruptionCandidate[],
  input: ConsolidationInput,
): Steps<ConsolidationResult> {
  const result = yield* consolidateAll(method, candidates, input);
  if (result.kind === "none" || !input.snapshot.allowsMultiReplacement) return result;
  return yield* withoutSpared(result, {
    searchBudget: input.searchBudget,
    *retry(others) {
      const fewer = yield* consolidateAll(method, others, input);
      return fewer.kind === "command" ? fewer : undefined;
    },
  });
}

function* consolidateAll(
  method: ConsolidationMethod,
  candidates: readonly DisruptionCandidate[],
  { snapshot, simulator, totals }: ConsolidationInput,
): Steps<ConsolidationResult> {
  const simulation = yield* simulator.simulate(candidates, { isConsolidation: true });
  const outcome = consolidationOutcome(candidates, simulation, snapshot);
  const placements = simulation.kind === "simulated" ? simulation.placements : [];
  if (outcome.kind === "none") return { kind: "none", cause: outcome.cause, moves: [], placements };
  const parts: CommandParts = {
    candidates,
    replacements: outcome.kind === "replace" ? outcome.replacements : [],
    placements,
  };
  const { savings } = disruptionCommand(method, parts);
  const scores = balancedScores({ candidates, savings }, totals);
  const moves = movesOfPools(candidates, scores);
  if (!areApproved(scores)) return { kind: "none", cause: { code: "score", scores }, moves };
  const command = disruptionCommand(method, { ...parts, scores });
  const against = causeAgainstCommand(command, snapshot);
  return against === undefined ? { kind: "command", command, moves } : { kind: "none", cause: against, moves: [] };
}

/** One for each pool the nodes come from. (03:B-7) */
function movesOfPools(
  candidates: readonly DisruptionCandidate[],
  scores: readonly BalancedScore[],
): readonly ConsolidationMove[] {
  const byPool = new Map(scores.map((score) => [score.pool, score]));
  const isApproved = areApproved(scores);
  return [...new Set(candidates.map(({ pool }) => pool))].map(({ name, nodePool }) => ({
    pool: name,
    policy: nodePool.spec.disruption.consolidationPolicy,
    isApproved,
    score: byPool.get(name),
  }));
}
