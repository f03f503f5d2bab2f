import { forEachInSteps, type Steps } from "../../util/steps.ts";
import type { WorkBudget } from "../work-budget.ts";

/** Takes all steps and yields between slices; a spent budget does not stop it. */
export async function runInSlices<Result>(steps: Steps<Result>, budget: WorkBudget): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const more = budget.mayContinue();
    if (typeof more !== "boolean") await more;
  }
}

/** Visits every item and yields between slices. */
export function forEachInSlices<T>(
  items: Iterable<T>,
  { budget, visit }: { readonly budget: WorkBudget; readonly visit: (item: T) => void },
): Promise<void> {
  return runInSlices(forEachInSteps(items, visit), budget);
}
