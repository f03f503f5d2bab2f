import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { isOwnedByDaemonSet, isTerminalPod, isTerminatingPod } from "../../core/pod-predicates.ts";
import type { Controller } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { type PodKubeObject, podView } from "../node/pods-of-node.ts";
import { mergePatchObject, requeueOnConflict } from "../writes.ts";
import { claimForNode, indexClaimsAndNodes, isManagedClaim, nodeView } from "./claim-lookups.ts";

/** Shorter than the wait before a disruption is executed, so that no event in between is missed. (03:M-2) */
const dedupeMs = 10_000;
const concurrency = 10;
/** A pod can be seen before its Node or the Node's claim is: watches of different kinds are late by different times. */
const lateRetryMs = 1_000;
const lateForMs = 30_000;

/** Writes lastPodEventTime when a pod was bound to the claim's node or left it. (03:M-1) */
export function podEventsController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodeclaim.podevents",
    triggers: [],
    kinds: [builtInTypes.Pod, karpenterTypes.NodeClaim, builtInTypes.Node],
    concurrency,
    reads: [builtInTypes.Node, karpenterTypes.NodeClaim].map((of) => ({
      of,
      withinMs: lateRetryMs,
      because: "a pod can be seen before its Node and its claim",
    })),
    start: (context): EventTimes => {
      indexClaimsAndNodes(context);
      return new Map();
    },
    subscribe: (enqueue, context, eventTimes) => {
      const startedAt = context.clock.now();
      return podView(context).subscribe((change) => {
        for (const nodeName of nodeNamesOfPodEvent(change, startedAt)) {
          eventTimes.set(nodeName, context.clock.now());
          enqueue(nodeName);
        }
      });
    },
    reconcile: requeueOnConflict(async (nodeName: string, context: KarpenterContext, eventTimes: EventTimes) => {
      const since = eventTimes.get(nodeName);
      const isLate = since !== undefined && context.clock.now() - since < lateForMs;
      if (isLate && isClaimUnknown(nodeName, context)) return { afterMs: lateRetryMs };
      await updateLastPodEventTime(nodeName, context);
      if (eventTimes.get(nodeName) === since) eventTimes.delete(nodeName);
      return undefined;
    }),
  });
}

/** When the last event of a node's pods was seen, until it is written. */
type EventTimes = Map<string, number>;

/** The Node is unknown, or it is of a pool and its claim is unknown. */
function isClaimUnknown(nodeName: string, context: KarpenterContext): boolean {
  const node = nodeView(context).get(nodeName);
  if (node === undefined) return true;
  return node.metadata.labels?.[labels.nodePool] !== undefined && claimForNode(node, context) === undefined;
}

async function updateLastPodEventTime(nodeName: string, context: KarpenterContext): Promise<void> {
  const node = nodeView(context).get(nodeName);
  const claim = node && claimForNode(node, context);
  if (claim === undefined || !isManagedClaim(claim, context.cloud)) return;
  const now = context.clock.now();
  const last = Date.parse(claim.status?.lastPodEventTime ?? "");
  if (now - last < dedupeMs) return;
  const body = { status: { lastPodEventTime: rfc3339(now) } };
  await mergePatchObject(context.client, karpenterTypes.NodeClaim, claim, { body, subresource: "status" });
}

/** The node a pod was bound to, ended on, or is being deleted from. DaemonSet pods do not count. (03:M-1) */
function nodeNamesOfPodEvent({ object, old }: ObjectChange<PodKubeObject>, startedAt: number): readonly string[] {
  const nodeName = object?.spec.nodeName ?? "";
  if (object === undefined || nodeName === "" || isOwnedByDaemonSet(object)) return [];
  const isNew = old === undefined ? wasBoundSince(object, startedAt) : isPodEvent(old, object);
  return isNew ? [nodeName] : [];
}

function isPodEvent(old: Pod, pod: Pod): boolean {
  const isBound = (old.spec.nodeName ?? "") === "";
  return isBound || (!isTerminalPod(old) && isTerminalPod(pod)) || (!isTerminatingPod(old) && isTerminatingPod(pod));
}

/** After a start every pod is new to us; pods bound before do not count, or each restart would delay consolidation. (03:M-3) */
function wasBoundSince({ metadata, status }: Pod, startedAt: number): boolean {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled")?.lastTransitionTime;
  const boundAt = Date.parse(scheduled ?? metadata.creationTimestamp ?? "");
  return boundAt >= Math.floor(startedAt / 1_000) * 1_000; // timestamps of the API are whole seconds
}
