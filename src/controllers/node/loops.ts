import type { Loop } from "../../kube/loop.ts";
import type { Parts } from "../parts.ts";
import { evictionLoop } from "./eviction.ts";
import { EvictionQueue } from "./eviction-queue.ts";
import { health } from "./health.ts";
import { hydration } from "./hydration.ts";
import { termination } from "./termination.ts";

/** What happens to Nodes: their end, their health, and the marks older versions left out. (03 Appendix A) */
export function nodeLoops(parts: Parts): readonly Loop[] {
  const queue = new EvictionQueue();
  const isRepairing = parts.settings.gates.NodeRepair && parts.cloud.repairPolicies.length > 0;
  return [
    termination({ ...parts, queue }),
    evictionLoop({ ...parts, queue }),
    hydration(parts),
    ...(isRepairing ? [health(parts)] : []),
  ];
}
