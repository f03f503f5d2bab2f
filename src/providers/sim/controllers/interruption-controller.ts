import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { Node } from "../../../api/kubernetes/cluster-objects.ts";
import { annotations, labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { offeringKeyOfLabels } from "../../../cloud/offering-key.ts";
import type { UnavailableOfferings } from "../../../cloud/unavailable-offerings.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import type { Logger } from "../../../util/logger.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { InterruptionKind, InterruptionMessage, InterruptionQueue } from "../interruption-queue.ts";

/** The part of the operator's metrics that interruptions are counted in. (03:I-4, 04 §4.1) */
export interface InterruptionMetrics {
  count(
    name: "nodeclaims_disrupted_total",
    labels: Readonly<
      Record<"reason" | "nodepool" | "capacity_type" | "consolidation_policy" | "termination_mode", string>
    >,
  ): void;
  count(name: "interruption_received_messages_total", labels: Readonly<Record<"message_type", string>>): void;
  count(name: "interruption_deleted_messages_total", labels: Readonly<Record<never, string>>): void;
  observe(
    name: "interruption_message_queue_duration_seconds",
    labels: Readonly<Record<never, string>>,
    value: number,
  ): void;
}

/** What is done about a notice. (03:I-3) */
interface InterruptionReaction {
  readonly event: string;
  readonly message: string;
  readonly action: "none" | "delete" | "force";
}

const unhealthy = { event: "InstanceUnhealthy", message: "the cloud says that the instance is not well" } as const;

const reactions: Readonly<Record<InterruptionKind, InterruptionReaction>> = {
  spot_interrupted: { event: "SpotInterrupted", message: "the cloud takes its spot instance back", action: "delete" },
  capacity_reservation_interrupted: {
    event: "CapacityReservationInstanceInterrupted",
    message: "the cloud takes its reserved instance back",
    action: "delete",
  },
  scheduled_change: { ...unhealthy, action: "delete" },
  event_status: { ...unhealthy, action: "delete" },
  instance_stopped: { event: "InstanceStopping", message: "its instance is stopping", action: "delete" },
  instance_terminated: { event: "InstanceTerminating", message: "its instance is ending", action: "delete" },
  instance_status: { ...unhealthy, action: "force" },
  system_status: { ...unhealthy, action: "force" },
  rebalance_recommendation: {
    event: "SpotRebalanceRecommendation",
    message: "its spot instance is at risk of being taken back",
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

/** Acts on what the cloud announces: says so, looks elsewhere from now on, and lets the claim go. (03 §5) */
export function interruptionController(options: InterruptionOptions): Controller {
  const { queue } = options;
  return reconcileController({
    name: "interruption",
    triggers: [],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    concurrency: 10,
    prepare: ({ view }) => {
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

/** A notice stays until it is dealt with. (03:I-5) */
async function reconcile(id: string, context: ControllerContext, options: InterruptionOptions): Promise<undefined> {
  const { queue, metrics } = options;
  const interruption = queue.get(id);
  if (interruption === undefined) return;
  metrics?.count("interruption_received_messages_total", { message_type: interruption.kind });
  for (const claim of context
    .view<NodeClaimObject>(karpenterTypes.NodeClaim)
    .byIndex("provider-id", interruption.providerId)) {
    await handleInterruption(interruption, { claim, context, options });
  }
  queue.delete(id);
  metrics?.observe(
    "interruption_message_queue_duration_seconds",
    {},
    (context.clock.now() - interruption.sentAt) / 1_000,
  );
  metrics?.count("interruption_deleted_messages_total", {});
}

interface InterruptionContext {
  readonly claim: NodeClaimObject;
  readonly context: ControllerContext;
  readonly options: InterruptionOptions;
}

async function handleInterruption(
  interruption: InterruptionMessage,
  { claim, context, options }: InterruptionContext,
): Promise<void> {
  const { event, message, action } = reactions[interruption.kind];
  recordEvents(interruption, { claim, context }, { reason: event, message, isAdvice: action === "none" });
  const key = offeringKeyOfLabels(claim.metadata.labels);
  if (interruption.kind === "spot_interrupted" || interruption.kind === "capacity_reservation_interrupted") {
    options.unavailable.markUnavailable(key);
  }
  if (action === "none" || claim.metadata.deletionTimestamp !== undefined) return; // 03:I-4
  if (action === "force") await setTerminationTimestamp(claim, context);
  const { name = "", uid } = claim.metadata;
  options.log.info("initiating delete from interruption message", {
    controller: "interruption",
    NodeClaim: { name },
    messageKind: interruption.kind,
  });
  await ignoreNotFound(
    context.client.delete(karpenterTypes.NodeClaim, { name }, uid === undefined ? {} : { preconditions: { uid } }),
  );
  const deletionMessage = "the NodeClaim is deleted because of an interruption";
  recordEvents(
    interruption,
    { claim, context },
    { reason: "TerminatingOnInterruption", message: deletionMessage, isAdvice: false },
  );
  options.metrics?.count("nodeclaims_disrupted_total", {
    reason: interruption.kind,
    nodepool: claim.metadata.labels?.[labels.nodePool] ?? "",
    capacity_type: key.capacityType,
    consolidation_policy: "",
    termination_mode: action === "force" ? "forceful" : "graceful",
  });
}

/** Draining is not waited for. (03:I-3) */
async function setTerminationTimestamp(
  { metadata }: NodeClaimObject,
  { client, clock }: ControllerContext,
): Promise<void> {
  if (metadata.annotations?.[annotations.terminationTimestamp] !== undefined) return;
  const now = rfc3339(clock.now());
  const body = { metadata: { annotations: { [annotations.terminationTimestamp]: now } } };
  await ignoreNotFound(client.patch(karpenterTypes.NodeClaim, { name: metadata.name ?? "" }, { kind: "merge", body }));
}

/** On the claim and on its node, if it has one. (03:I-2) */
function recordEvents(
  { providerId }: InterruptionMessage,
  { claim, context }: Pick<InterruptionContext, "claim" | "context">,
  event: { readonly reason: string; readonly message: string; readonly isAdvice: boolean },
): void {
  const nodes = context.view<KubeObject & Node>(builtInTypes.Node).byIndex("provider-id", providerId);
  for (const about of [claim, ...nodes]) {
    context.recordEvent(about, {
      type: event.isAdvice ? "Normal" : "Warning",
      reason: event.reason,
      message: event.message,
      dedupe: { values: [about.metadata.uid ?? ""] },
    });
  }
}

async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error; // gone already: that was the goal
  }
}
