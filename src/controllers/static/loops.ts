import type { Loop } from "../../kube/loop.ts";
import type { Parts } from "../parts.ts";
import { staticDeprovisioning } from "./deprovisioning.ts";
import { staticProvisioning } from "./provisioning.ts";

/** Pools that keep a number of nodes. (03 §1.13) */
export function staticLoops(parts: Parts): readonly Loop[] {
  return parts.settings.gates.StaticCapacity ? [staticProvisioning(parts), staticDeprovisioning(parts)] : [];
}
