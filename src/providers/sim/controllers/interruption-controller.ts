import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { Node } from "../../../api/kubernetes/cluster-objects.ts";
import { annotations, labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { offeringKeyOfLabels } from "../../../cloud/offering-key.ts";
import type { UnavailableOfferings } from "../../../cloud/unavailable-offerings.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import type { ReconcileResult } from "../../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import type { Logger } from "../../../util/logger.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { InterruptionKind, InterruptionMessage, InterruptionQueue } from "../interruption-queue.ts";

/** The metrics interruptions are counted in. (03:I-4, 04 §4.1) */
export interface InterruptionMetrics {
  count(
    name: "nodeclaims_disrupted_total",
    labels: Readonly<
      Record<"reason" | "nodepool" | "capacity_type" | "consolidation_policy" | "termination_mode", string>
    >,
  ): void;
  count(name: "interruption_received_messages_total", labels: Readonly<Record<"message_type", string>>): void;
  count(name: "interruption_deleted_messages_total", labels: Readonly<Record<never, string>>): void;
  observe(name: "interruption_message_queue_duration_seconds", labels: Record<never, string>, value: number): void;
}

/** How a message is handled. (03:I-3) */
interface InterruptionReaction {
  readonly event: string;
  readonly message: string;
  readonly action: "none" | "delete" | "force";
}

const unhealthy = { event: "InstanceUnhealthy", message: "the instance is reported unhealthy" } as const;

const reactions: Readonly<Record<InterruptionKind, InterruptionReaction>> = {
  spot_interrupted: { event: "SpotInterrupted", message: "the spot instance was interrupted", action: "delete" },
  capacity_reservation_interrupted: {
    event: "CapacityReservationInstanceInterrupted",
    message: "the reserved instance was interrupted",
    action: "delete",
  },
  scheduled_change: { ...unhealthy, action: "delete" },
  event_status: { ...unhealthy, action: "delete" },
  instance_stopped: { event: "InstanceStopping", message: "the instance is stopping", action: "delete" },
  instance_terminated: { event: "InstanceTerminating", message: "the instance is terminating", action: "delete" },
  instance_status: { ...unhealthy, action: "force" },
  system_status: { ...unhealthy, action: "force" },
  rebalance_recommendation: {
    event: "SpotRebalanceRecommendation",
    message: "the spot instance is at elevated risk of interruption",
    action: "none",
  },
};

export interface InterruptionOptions {
  readonly queue: InterruptionQueue;
  readonly unavailable: UnavailableOfferings;
  readonly metrics?: InterruptionMetrics | undefined;
  readonly log: Logger;
}

type NodeClaimObject = KubeObject & NodeClaim;

/** An instance can be interrupted before our view has its provider id: while a claim is unlaunched, a message waits. */
const lateRetryMs = 1_000;
const lateForMs = 60_000;

/** Handles interruption messages: records events, marks the offering unavailable, and deletes the claim. (03 §5) */
export function interruptionController(options: InterruptionOptions): Controller {
  const { queue } = options;
  return reconcileController({
    name: "interruption",
    triggers: [],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    reads: [
      { of: karpenterTypes.NodeClaim, withinMs: lateRetryMs, because: "a message can come before its claim is known" },
      { of: builtInTypes.Node, because: "events are about the Node too" },
    ],
    concurrency: 10,
    start: ({ view }) => {
      view<NodeClaimObject>(karpenterTypes.NodeClaim).addIndex("provider-id", ({ status }) => status?.providerID);
      view<KubeObject & Node>(builtInTypes.Node).addIndex("provider-id", ({ spec }) => spec?.providerID);
    },
    subscribe: (enqueue) => {
      for (const { id } of queue.messages()) enqueue(id);
      return queue.subscribe(({ id }) => enqueue(id));
    },
    reconcile: (id, context) => reconcile(id, context, options),
  });
}

/** A message stays in the queue until it is handled. (03:I-5) */
async function reconcile(
  id: string,
  context: ControllerContext,
  options: InterruptionOptions,
): Promise<ReconcileResult> {
  const { queue, metrics } = options;
  const interruption = queue.get(id);
  if (interruption === undefined) return undefined;
  const view = context.view<NodeClaimObject>(karpenterTypes.NodeClaim);
  const claims = view.byIndex("provider-id", interruption.providerId);
  const isLate = context.clock.now() - interruption.sentAt < lateForMs;
  if (claims.length === 0 && isLate && view.all().some(({ status }) => !status?.providerID))
    return { afterMs: lateRetryMs };
  metrics?.count("interruption_received_messages_total", { message_type: interruption.kind });
  for (const claim of claims) await handleInterruption(interruption, { claim, context, options });
  queue.delete(id);
  const seconds = (context.clock.now() - interruption.sentAt) / 1_000;
  metrics?.observe("interruption_message_queue_duration_seconds", {}, seconds);
  metrics?.count("interruption_deleted_messages_total", {});
  return undefined;
}

interface InterruptionContext {
  readonly claim: NodeClaimObject;
  readonly context: ControllerContext;
  readonly options: InterruptionOptions;
}

async function handleInterruption(interruption: InterruptionMessage, about: InterruptionContext): Promise<void> {
  const { claim, context, options } = about;
  const { event, message, action } = reactions[interruption.kind];
  const type = action === "none" ? "Normal" : "Warning";
  recordEvents(interruption, about, { type, reason: event, message });
  const key = offeringKeyOfLabels(claim.metadata.labels);
  if (interruption.kind === "spot_interrupted" || interruption.kind === "capacity_reservation_interrupted") {
    options.unavailable.markUnavailable(key);
  }
  if (action === "none" || claim.metadata.deletionTimestamp !== undefined) return; // a claim that is already being deleted is left alone (03:I-4)
  if (action === "force") await setDeadline(claim, context);
  const { name = "", uid } = claim.metadata;
  options.log.info("initiating delete from interruption message", {
    controller: "interruption",
    NodeClaim: { name },
    messageKind: interruption.kind,
  });
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  await ignoreKubeErrors(context.client.delete(karpenterTypes.NodeClaim, { name }, preconditions), "not-found");
  const deletion = { reason: "TerminatingOnInterruption", message: "deleting the NodeClaim after an interruption" };
  recordEvents(interruption, about, { type: "Warning", ...deletion });
  options.metrics?.count("nodeclaims_disrupted_total", {
    reason: interruption.kind,
    nodepool: claim.metadata.labels?.[labels.nodePool] ?? "",
    capacity_type: key.capacityType,
    consolidation_policy: "",
    termination_mode: action === "force" ? "forceful" : "graceful",
  });
}

/** Forces termination: the drain deadline is now. (03:I-3) */
async function setDeadline({ metadata }: NodeClaimObject, { client, clock }: ControllerContext): Promise<void> {
  if (metadata.annotations?.[annotations.terminationTimestamp] !== undefined) return;
  const now = rfc3339(clock.now());
  const body = { metadata: { annotations: { [annotations.terminationTimestamp]: now } } };
  const { name = "" } = metadata;
  await ignoreKubeErrors(client.patch(karpenterTypes.NodeClaim, { name }, { kind: "merge", body }), "not-found");
}

/** Records the event on the claim and its Node. (03:I-2) */
function recordEvents(
  { providerId }: InterruptionMessage,
  { claim, context }: InterruptionContext,
  event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string },
): void {
  const nodes = context.view<KubeObject & Node>(builtInTypes.Node).byIndex("provider-id", providerId);
  for (const about of [claim, ...nodes]) {
    context.recordEvent(about, { ...event, dedupe: { values: [about.metadata.uid ?? ""] } });
  }
}
