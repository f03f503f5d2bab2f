import { exitCodes, type Io } from "../io.ts";
import { reportFindings } from "../report-findings.ts";
import { countText } from "../text-table.ts";
import { makePlan, type Plan, type PlanOutcome, type PlanRequest } from "./make-plan.ts";

/** What the input did not allow to be planned. */
type UnplannedOutcome = Exclude<PlanOutcome, { readonly kind: "planned" }>;

/** Makes a plan and prints what was found in the input; without a plan it sets the exit code. */
export async function planOrReport(request: PlanRequest, io: Io): Promise<Plan | undefined> {
  return planOf(await makePlan(request, io), io);
}

/** The plan of an outcome. Prints what was found in the input; without a plan it sets the exit code. */
export function planOf<P>(
  outcome:
    | UnplannedOutcome
    | { readonly kind: "planned"; readonly plan: P; readonly findings: PlanOutcome["findings"] },
  io: Io,
): P | undefined {
  const errors = reportFindings(outcome.findings, io);
  if (outcome.kind === "planned") return outcome.plan;
  if (outcome.kind === "no-catalogue") {
    io.stderr(`error: ${outcome.because}\n`);
    io.exit(outcome.refused === "usage" ? exitCodes.usage : exitCodes.badInput);
    return undefined;
  }
  io.stderr(`${countText(errors, "error")}; nothing was planned\n`);
  io.exit(exitCodes.badInput);
  return undefined;
}
