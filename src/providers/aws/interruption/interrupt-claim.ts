import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import type { Node } from "../../../api/kubernetes/cluster-objects.ts";
import { annotations, labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../../kube/resources.ts";
import type { Logger } from "../../../util/logger.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { AwsMetrics } from "../aws-metrics.ts";
import type { InterruptionKind } from "./interruption-kinds.ts";

/** How an interruption is handled. (03:I-3) */
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

export type NodeClaimObject = KubeObject & NodeClaim;

export interface InterruptionOptions {
  /** The capacity the claim's instance came from is gone: launches should try elsewhere. (04 §4.3) */
  readonly capacityLost: (claim: NodeClaim, kind: "spot_interrupted" | "capacity_reservation_interrupted") => void;
  readonly metrics?: Pick<AwsMetrics, "count" | "observe"> | undefined;
  readonly log: Logger;
}

interface InterruptionContext {
  readonly context: ControllerContext;
  readonly options: InterruptionOptions;
}

/** What events, views and the claim's Node are read from; to be called once by each controller that interrupts claims. */
export function indexByProviderId({ view }: Pick<ControllerContext, "view">): void {
  view<NodeClaimObject>(karpenterTypes.NodeClaim).addIndex("provider-id", ({ status }) => status?.providerID);
  view<KubeObject & Node>(builtInTypes.Node).addIndex("provider-id", ({ spec }) => spec?.providerID);
}

/** Records events, remembers lost capacity, and deletes the claim. Can be repeated. (03 §5, 04 §4.3) */
export async function interruptClaim(
  claim: NodeClaimObject,
  kind: InterruptionKind,
  { context, options }: InterruptionContext,
): Promise<void> {
  const { event, message, action } = reactions[kind];
  recordEvents(claim, context, { type: action === "none" ? "Normal" : "Warning", reason: event, message });
  if (kind === "spot_interrupted" || kind === "capacity_reservation_interrupted") options.capacityLost(claim, kind);
  if (action === "none" || claim.metadata.deletionTimestamp !== undefined) return; // a claim that is already being deleted is left alone (03:I-4)
  if (action === "force") await setDeadline(claim, context);
  const { name = "", uid } = claim.metadata;
  options.log.info("initiating delete from interruption message", {
    controller: "interruption",
    NodeClaim: { name },
    messageKind: kind,
  });
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  await ignoreKubeErrors(context.client.delete(karpenterTypes.NodeClaim, { name }, preconditions), "not-found");
  const deletion = { reason: "TerminatingOnInterruption", message: "deleting the NodeClaim after an interruption" };
  recordEvents(claim, context, { type: "Warning", ...deletion });
  options.metrics?.count("nodeclaims_disrupted_total", {
    reason: kind,
    nodepool: claim.metadata.labels?.[labels.nodePool] ?? "",
    capacity_type: claim.metadata.labels?.[labels.capacityType] ?? "",
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
  claim: NodeClaimObject,
  context: ControllerContext,
  event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string },
): void {
  const providerId = claim.status?.providerID ?? "";
  const nodes = context.view<KubeObject & Node>(builtInTypes.Node).byIndex("provider-id", providerId);
  for (const about of [claim, ...nodes]) {
    context.recordEvent(about, { ...event, dedupe: { values: [about.metadata.uid ?? ""] } });
  }
}
