import { each } from "../../util/steps.ts";
import type { Budget } from "../budget.ts";

/** Goes through many things, letting others work in between. Goes through all of them: a spent budget ends nothing. */
export async function inSlices<T>(
  things: Iterable<T>,
  { budget, look }: { readonly budget: Budget; readonly look: (thing: T) => void },
): Promise<void> {
  for (const _ of each(things, look)) {
    const more = budget.goesOn();
    if (typeof more !== "boolean") await more;
  }
}
