import type { NodePool } from "../../api/kinds/node-pool.ts";
import { amountOf, type Resources } from "../../core/resources.ts";
import { Quantity } from "../../util/quantity.ts";

/** Which limit the pool exceeds; reaching a limit exactly is allowed. (02:H-4) */
export function exceededLimitMessage({ spec }: NodePool, used: Resources): string | undefined {
  for (const name of Object.keys(spec.limits ?? {}).sort()) {
    const limit = Quantity.parse(String(spec.limits?.[name]));
    const usage = amountOf(used, name);
    if (usage.cmp(limit) <= 0) continue;
    return `resource usage exceeds limit (resource-name=${name}, usage=${usage}, limit=${limit})`;
  }
  return undefined;
}
