import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import type { Logger } from "../../util/logger.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";

/** What a step over a claim has to work with. */
export interface ClaimReconcileContext {
  readonly context: ControllerContext;
  readonly dependencies: ControllerDependencies;
  /** Names the claim in every line. */
  readonly log: Logger;
}

export interface ClaimReconcileContextOptions {
  readonly controller: string;
  readonly context: ControllerContext;
  readonly dependencies: ControllerDependencies;
}

export function claimReconcileContext(
  { metadata, status }: NodeClaim,
  { controller, context, dependencies }: ClaimReconcileContextOptions,
): ClaimReconcileContext {
  const log = dependencies.log.with({
    controller,
    NodeClaim: { name: metadata.name ?? "" },
    ...(status?.providerID && { "provider-id": status.providerID }),
    ...(status?.nodeName && { Node: { name: status.nodeName } }),
  });
  return { context, dependencies, log };
}
