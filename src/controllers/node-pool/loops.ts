import type { Loop } from "../../kube/loop.ts";
import type { Parts } from "../parts.ts";
import { poolCost } from "./cost.ts";
import { poolCounter } from "./counter.ts";
import { poolHash } from "./hash.ts";
import { poolReadiness } from "./readiness.ts";
import { poolRegistrationHealth } from "./registration-health.ts";
import { poolValidation } from "./validation.ts";

/** What is worked out about pools. (03 §1.12) */
export function nodePoolLoops(parts: Parts): readonly Loop[] {
  return [
    poolCounter(parts),
    poolHash(parts),
    poolReadiness(parts),
    poolValidation(parts),
    poolRegistrationHealth(parts),
    poolCost(parts),
  ];
}
