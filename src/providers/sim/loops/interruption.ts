import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { Node } from "../../../api/kubernetes/cluster.ts";
import { annotations, labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { UnavailableOfferings } from "../../../cloud/unavailable-offerings.ts";
import { isKubeError } from "../../../kube/error.ts";
import { type Loop, type LoopWorld, reconcileLoop } from "../../../kube/loop.ts";
import { builtIn, custom } from "../../../kube/resources.ts";
import type { Logger } from "../../../util/logger.ts";
import type { Notice, NoticeKind, Notices } from "../notices.ts";

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
interface Reaction {
  readonly event: string;
  readonly message: string;
  readonly action: "none" | "delete" | "force";
}

const unhealthy = { event: "InstanceUnhealthy", message: "the cloud says that the instance is not well" } as const;

const reactions: Readonly<Record<NoticeKind, Reaction>> = {
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
  readonly notices: Notices;
  readonly unavailable: UnavailableOfferings;
  readonly metrics?: InterruptionMetrics | undefined;
  readonly log: Logger;
}

type Claim = KubeObject & NodeClaim;

/** Acts on what the cloud announces: says so, looks elsewhere from now on, and lets the claim go. (03 §5) */
export function interruptionLoop(options: InterruptionOptions): Loop {
  const { notices } = options;
  return reconcileLoop({
    name: "interruption",
    triggers: [],
    kinds: [custom.NodeClaim, builtIn.Node],
    concurrency: 10,
    prepare: ({ view }) => {
      view<Claim>(custom.NodeClaim).index("provider-id", ({ status }) => status?.providerID);
      view<KubeObject & Node>(builtIn.Node).index("provider-id", ({ spec }) => spec?.providerID);
    },
    wake: (enqueue) => {
      for (const { id } of notices.pending()) enqueue(id);
      return notices.subscribe(({ id }) => enqueue(id));
    },
    reconcile: (id, world) => reconcile(id, world, options),
  });
}

/** A notice stays until it is dealt with. (03:I-5) */
async function reconcile(id: string, world: LoopWorld, options: InterruptionOptions): Promise<undefined> {
  const { notices, metrics } = options;
  const notice = notices.get(id);
  if (notice === undefined) return;
  metrics?.count("interruption_received_messages_total", { message_type: notice.kind });
  for (const claim of world.view<Claim>(custom.NodeClaim).by("provider-id", notice.providerId)) {
    await react(notice, { claim, world, options });
  }
  notices.settle(id);
  metrics?.observe("interruption_message_queue_duration_seconds", {}, (world.clock.now() - notice.at) / 1_000);
  metrics?.count("interruption_deleted_messages_total", {});
}

interface Scene {
  readonly claim: Claim;
  readonly world: LoopWorld;
  readonly options: InterruptionOptions;
}

async function react(notice: Notice, { claim, world, options }: Scene): Promise<void> {
  const { event, message, action } = reactions[notice.kind];
  tell(notice, { claim, world }, { reason: event, message, isAdvice: action === "none" });
  const key = offeringOf(claim);
  if (notice.kind === "spot_interrupted" || notice.kind === "capacity_reservation_interrupted") {
    options.unavailable.mark(key);
  }
  if (action === "none" || claim.metadata.deletionTimestamp !== undefined) return; // 03:I-4
  if (action === "force") await setDeadline(claim, world);
  const { name = "", uid } = claim.metadata;
  options.log.info("initiating delete from interruption message", {
    controller: "interruption",
    NodeClaim: { name },
    messageKind: notice.kind,
  });
  await unlessGone(
    world.client.delete(custom.NodeClaim, { name }, uid === undefined ? {} : { preconditions: { uid } }),
  );
  const going = "the NodeClaim is deleted because of an interruption";
  tell(notice, { claim, world }, { reason: "TerminatingOnInterruption", message: going, isAdvice: false });
  options.metrics?.count("nodeclaims_disrupted_total", {
    reason: notice.kind,
    nodepool: claim.metadata.labels?.[labels.nodePool] ?? "",
    capacity_type: key.capacityType,
    consolidation_policy: "",
    termination_mode: action === "force" ? "forceful" : "graceful",
  });
}

function offeringOf({ metadata }: Claim) {
  const {
    [labels.instanceType]: instanceType,
    [labels.zone]: zone,
    [labels.capacityType]: capacityType,
  } = metadata.labels ?? {};
  return { instanceType: instanceType ?? "", zone: zone ?? "", capacityType: capacityType ?? "" };
}

/** Draining is not waited for. (03:I-3) */
async function setDeadline({ metadata }: Claim, { client, clock }: LoopWorld): Promise<void> {
  if (metadata.annotations?.[annotations.terminationTimestamp] !== undefined) return;
  const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
  const body = { metadata: { annotations: { [annotations.terminationTimestamp]: now } } };
  await unlessGone(client.patch(custom.NodeClaim, { name: metadata.name ?? "" }, { kind: "merge", body }));
}

/** On the claim and on its node, if it has one. (03:I-2) */
function tell(
  { providerId }: Notice,
  { claim, world }: Pick<Scene, "claim" | "world">,
  news: { readonly reason: string; readonly message: string; readonly isAdvice: boolean },
): void {
  const nodes = world.view<KubeObject & Node>(builtIn.Node).by("provider-id", providerId);
  for (const about of [claim, ...nodes]) {
    world.tell(about, {
      type: news.isAdvice ? "Normal" : "Warning",
      reason: news.reason,
      message: news.message,
      dedupe: { values: [about.metadata.uid ?? ""] },
    });
  }
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error; // gone already: that was the goal
  }
}
