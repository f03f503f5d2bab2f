import type { Steps } from "../../util/steps.ts";
import { balancedTotals } from "../disruption/balanced.ts";
import { type DisruptionCandidate, disruptionCandidates } from "../disruption/candidate.ts";
import { type DisruptionCommand, disruptionCommand } from "../disruption/command.ts";
import { consolidate } from "../disruption/consolidate.ts";
import { driftReplacement } from "../disruption/drift.ts";
import type { DisruptionMethodName } from "../disruption/methods.ts";
import type { DisruptionSimulator } from "../disruption/simulator.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import { staticReplacement } from "../disruption/static-drift.ts";
import type { DecisionCause } from "../disruption/verdict.ts";
import { withoutPodProtection } from "./without-pod-protection.ts";

/** What a method would do with a node alone, if nothing blocked it. */
export interface UnblockedCommand {
  /** Absent if it would stay even then. */
  readonly command?: DisruptionCommand | undefined;
  /** What keeps it even then: a feature gate that is off, and what would keep it with the gate. */
  readonly causes: readonly DecisionCause[];
}

type SimulatorFor = (snapshot: DisruptionSnapshot) => DisruptionSimulator;

/** The feature gate without which a cause keeps a node. */
const gates = {
  "spot-to-spot-disabled": "allowsSpotToSpot",
  "needs-more-nodes": "allowsMultiReplacement",
} as const satisfies Partial<Record<DecisionCause["code"], keyof DisruptionSnapshot>>;

export function* unblockedCommand(
  method: DisruptionMethodName,
  candidate: DisruptionCandidate,
  snapshot: DisruptionSnapshot,
  simulatorFor: SimulatorFor,
): Steps<UnblockedCommand> {
  const found = yield* result(method, candidate, snapshot, simulatorFor);
  if (!("code" in found)) return { command: found, causes: [] };
  const gate = found.code in gates ? gates[found.code as keyof typeof gates] : undefined;
  if (gate === undefined || snapshot[gate]) return { causes: [found] };
  const open = yield* result(method, candidate, { ...snapshot, [gate]: true }, simulatorFor);
  if (!("code" in open)) return { command: open, causes: [found] };
  return { causes: open.code === found.code ? [found] : [found, open] };
}

function* result(
  method: DisruptionMethodName,
  candidate: DisruptionCandidate,
  snapshot: DisruptionSnapshot,
  simulatorFor: SimulatorFor,
): Steps<DisruptionCommand | DecisionCause> {
  if (method === "emptiness") return disruptionCommand(method, { candidates: [candidate] });
  if (method === "static-drift") return staticReplacement(candidate, snapshot);
  const free = withoutPodProtection(candidate, snapshot);
  const simulator = simulatorFor(free.snapshot);
  if (method === "drift") return yield* driftReplacement(free.candidate, { simulator });
  const { candidates } = yield* disruptionCandidates(snapshot, "graceful");
  const totals = yield* balancedTotals(candidates, snapshot);
  const found = yield* consolidate(method, [free.candidate], { snapshot: free.snapshot, simulator, totals });
  return found.kind === "none" ? found.cause : found.command;
}
