import type { Message } from "@aws-sdk/client-sqs";
import { type Controller, type ControllerContext, reconcileController } from "../../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import type { SqsApi } from "../api/aws-api.ts";
import { instanceIdOfProviderId } from "./instance-id.ts";
import {
  type InterruptionOptions,
  indexByProviderId,
  interruptClaim,
  type NodeClaimObject,
} from "./interrupt-claim.ts";
import { type InterruptionEvent, interruptionEventOf } from "./interruption-event.ts";

export interface QueueControllerOptions extends InterruptionOptions {
  readonly sqs: SqsApi;
  /** The name of the queue. */
  readonly queueName: string;
}

/** A long poll takes 20 s when nothing comes. Whoever answers sooner with nothing is not asked again at once. */
const leastPollMs = 1_000;

/** An instance can be interrupted before its claim knows the instance's id: such a message is left to be delivered again. */
const lateForMs = 60_000;

interface QueueContext {
  readonly context: ControllerContext;
  readonly options: QueueControllerOptions;
  readonly signal: AbortSignal;
  readonly queueUrl: string;
}

/** Reads interruptions from SQS, batch after batch. An error is retried with back-off. (04 §4.1) */
export function interruptionQueueController(options: QueueControllerOptions): Controller {
  const kinds = [karpenterTypes.NodeClaim, builtInTypes.Node];
  return {
    name: "interruption",
    kinds,
    reads: [
      { of: "cloud", withinMs: leastPollMs, because: "a long poll ends when a message comes" },
      { of: karpenterTypes.NodeClaim, because: "a message for a claim not known yet is delivered again" },
      { of: builtInTypes.Node, because: "events are about the Node too" },
    ],
    run: (context, signal) => {
      let queueUrl: string | undefined;
      const controller = reconcileController({
        name: "interruption",
        triggers: [],
        initialKeys: ["queue"],
        backOff: { baseMs: leastPollMs, maxMs: 10_000 }, // a spot instance has two minutes left
        start: (own) => {
          indexByProviderId(own);
          own
            .view<NodeClaimObject>(karpenterTypes.NodeClaim)
            .addIndex("instance-id", ({ status }) => instanceIdOfProviderId(status?.providerID));
        },
        reconcile: async () => {
          queueUrl ??= await queueUrlOf(options, signal);
          return { afterMs: await poll({ context, options, signal, queueUrl }) };
        },
      });
      return controller.run(context, signal);
    },
  };
}

/** A queue that does not exist yet is asked for again: the controller starts without it. (04 §4.1) */
async function queueUrlOf({ sqs, queueName }: QueueControllerOptions, signal: AbortSignal): Promise<string> {
  try {
    return await sqs.getQueueUrl(queueName, { signal });
  } catch (error) {
    const advice = "check --interruption-queue and the permission sqs:GetQueueUrl";
    throw new Error(`finding the interruption queue ${queueName}; ${advice}`, { cause: error });
  }
}

/** Handles one batch. Returns how long to wait before the next. */
async function poll(queue: QueueContext): Promise<number> {
  const { context, signal } = queue;
  const askedAt = context.clock.now();
  const messages = await receive(queue);
  const results = await Promise.allSettled(messages.map((message) => handleMessage(message, queue)));
  const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (failures.length > 0 && !signal.aborted) {
    throw new AggregateError(
      failures,
      `${failures.length} of ${messages.length} interruption messages are not handled`,
    );
  }
  return messages.length > 0 ? 0 : Math.max(0, askedAt + leastPollMs - context.clock.now());
}

async function receive({ options: { sqs, queueName }, queueUrl, signal }: QueueContext): Promise<readonly Message[]> {
  try {
    return await sqs.receiveMessages(queueUrl, { signal });
  } catch (error) {
    if (signal.aborted) return [];
    throw new Error(`receiving messages of queue ${queueName}`, { cause: error });
  }
}

/** A message is deleted when it was handled or can never be; otherwise it is delivered again. (04 §4.1) */
async function handleMessage(message: Message, queue: QueueContext): Promise<void> {
  const { context, options, queueUrl } = queue;
  const event = interruptionEventOf(message.Body);
  if (event.kind === "unreadable") {
    const about = { messageId: message.MessageId, error: event.because };
    context.log.error("cannot read an interruption message; it is deleted", about);
  } else {
    options.metrics?.count("interruption_received_messages_total", { message_type: event.kind });
    if (!(await handleEvent(event, queue))) return;
  }
  await options.sqs.deleteMessage(queueUrl, message.ReceiptHandle ?? "");
  options.metrics?.count("interruption_deleted_messages_total", {});
}

/** Whether it is done with. */
async function handleEvent(
  event: Exclude<InterruptionEvent, { readonly kind: "unreadable" }>,
  { context, options }: QueueContext,
): Promise<boolean> {
  if (event.kind === "no_op") return true;
  const view = context.view<NodeClaimObject>(karpenterTypes.NodeClaim);
  const claims = event.instanceIds.flatMap((id) => view.byIndex("instance-id", id));
  const isRecent = event.at !== undefined && context.clock.now() - event.at < lateForMs;
  if (claims.length === 0 && isRecent && view.all().some(({ status }) => !status?.providerID)) return false;
  for (const claim of claims) await interruptClaim(claim, event.kind, { context, options });
  if (event.at !== undefined) {
    const seconds = Math.max(0, context.clock.now() - event.at) / 1_000;
    options.metrics?.observe("interruption_message_queue_duration_seconds", {}, seconds);
  }
  return true;
}
