import type { Loop } from "../../kube/loop.ts";
import type { Parts } from "../parts.ts";
import { unlaunchedClaimGc } from "./node-claim-gc.ts";
import { stateReport } from "./sync-report.ts";

/** What keeps cluster state honest. */
export function stateLoops(parts: Parts): readonly Loop[] {
  return [unlaunchedClaimGc(parts), stateReport(parts)];
}
