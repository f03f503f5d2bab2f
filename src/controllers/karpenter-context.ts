import type { NodeClaim } from "../api/kinds/node-claim.ts";
import {
  type Controller,
  type ControllerContext,
  type ReconcileControllerOptions,
  reconcileController,
} from "../kube/controller.ts";
import type { LogValues } from "../util/logger.ts";
import type { ControllerDependencies } from "./controller-dependencies.ts";

/**
 * The one context of Karpenter's controllers: what every controller gets from kube (client, clock, views, events, log)
 * and what Karpenter's controllers share (cluster state, cloud, settings, metrics). Functions take the object they work
 * on first and the context last.
 */
export interface KarpenterContext extends ControllerContext, ControllerDependencies {}

/** A controller whose functions get the KarpenterContext, as kube runs it. */
export function withDependencies(
  controller: Controller<KarpenterContext>,
  dependencies: ControllerDependencies,
): Controller {
  return { ...controller, run: (context, signal) => controller.run({ ...context, ...dependencies }, signal) };
}

/** A controller that reconciles keys with the KarpenterContext. */
export function karpenterController<State = undefined>(
  dependencies: ControllerDependencies,
  options: ReconcileControllerOptions<KarpenterContext, State>,
): Controller {
  return withDependencies(reconcileController(options), dependencies);
}

/** The context of one reconcile: every log line names the object. */
export function withLogValues(context: KarpenterContext, values: LogValues): KarpenterContext {
  return { ...context, log: context.log.with(values) };
}

/** The context of one reconcile of a claim: log lines also name its instance and its Node, once it has them. */
export function contextOfClaim({ metadata, status }: NodeClaim, context: KarpenterContext): KarpenterContext {
  return withLogValues(context, {
    NodeClaim: { name: metadata.name ?? "" },
    ...(status?.providerID && { "provider-id": status.providerID }),
    ...(status?.nodeName && { Node: { name: status.nodeName } }),
  });
}
