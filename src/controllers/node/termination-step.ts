import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodeKubeObject } from "../node-claim/claim-lookups.ts";

/** A deleted Node that waits for its finalizer. */
export interface TerminatingNode {
  readonly node: NodeKubeObject;
  /** Its claim, if there is exactly one. */
  readonly claim?: NodeClaim | undefined;
  /** When its pods and volumes are no longer waited for. */
  readonly deadlineMs?: number | undefined;
}

/** The result of one termination step; without `afterMs` the next step follows. */
export interface TerminationStepResult {
  readonly claim?: NodeClaim | undefined;
  readonly afterMs?: number | undefined;
}
