import { offeringKeyOfLabels } from "../../../cloud/offering-key.ts";
import type { UnavailableOfferings } from "../../../cloud/unavailable-offerings.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import type { ReconcileResult } from "../../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import {
  type InterruptionOptions,
  indexByProviderId,
  interruptClaim,
  type NodeClaimObject,
} from "../../aws/interruption/interrupt-claim.ts";
import type { InterruptionQueue } from "../interruption-queue.ts";

export interface SimulatedInterruptionOptions extends Omit<InterruptionOptions, "capacityLost"> {
  readonly queue: InterruptionQueue;
  readonly unavailable: UnavailableOfferings;
}

/** An instance can be interrupted before our view has its provider id: while a claim is unlaunched, a message waits. */
const lateRetryMs = 1_000;
const lateForMs = 60_000;

/** Handles messages of the simulated cloud as those of AWS. (03 §5) */
export function interruptionController(options: SimulatedInterruptionOptions): Controller {
  const { queue, unavailable } = options;
  const interruption: InterruptionOptions = {
    ...options,
    capacityLost: ({ metadata }) => unavailable.markUnavailable(offeringKeyOfLabels(metadata.labels)),
  };
  return reconcileController({
    name: "interruption",
    triggers: [],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    reads: [
      { of: karpenterTypes.NodeClaim, withinMs: lateRetryMs, because: "a message can come before its claim is known" },
      { of: builtInTypes.Node, because: "events are about the Node too" },
    ],
    concurrency: 10,
    start: indexByProviderId,
    subscribe: (enqueue) => {
      for (const { id } of queue.messages()) enqueue(id);
      return queue.subscribe(({ id }) => enqueue(id));
    },
    reconcile: (id, context) => reconcile(id, context, { queue, interruption }),
  });
}

/** A message stays in the queue until it is handled. (03:I-5) */
async function reconcile(
  id: string,
  context: ControllerContext,
  { queue, interruption }: { readonly queue: InterruptionQueue; readonly interruption: InterruptionOptions },
): Promise<ReconcileResult> {
  const { metrics } = interruption;
  const message = queue.get(id);
  if (message === undefined) return undefined;
  const view = context.view<NodeClaimObject>(karpenterTypes.NodeClaim);
  const claims = view.byIndex("provider-id", message.providerId);
  const isLate = context.clock.now() - message.sentAt < lateForMs;
  if (claims.length === 0 && isLate && view.all().some(({ status }) => !status?.providerID))
    return { afterMs: lateRetryMs };
  metrics?.count("interruption_received_messages_total", { message_type: message.kind });
  for (const claim of claims) await interruptClaim(claim, message.kind, { context, options: interruption });
  queue.delete(id);
  const seconds = (context.clock.now() - message.sentAt) / 1_000;
  metrics?.observe("interruption_message_queue_duration_seconds", {}, seconds);
  metrics?.count("interruption_deleted_messages_total", {});
  return undefined;
}
