import { forEachInSteps } from "../../util/steps.ts";
import type { WorkBudget } from "../work-budget.ts";

/** Goes through many things, letting others work in between. Goes through all of them: a spent budget ends nothing. */
export async function forEachInSlices<T>(
  items: Iterable<T>,
  { budget, validate: visit }: { readonly budget: WorkBudget; readonly validate: (item: T) => void },
): Promise<void> {
  for (const _ of forEachInSteps(items, visit)) {
    const more = budget.mayContinue();
    if (typeof more !== "boolean") await more;
  }
}
