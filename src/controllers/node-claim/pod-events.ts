import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { isOwnedByDaemonSet, isTerminalPod, isTerminatingPod } from "../../core/pod-predicates.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { perRunState } from "../per-run-state.ts";
import { mergePatchObject, requeueOnConflict } from "../writes.ts";
import { claimForNode, indexClaimsAndNodes, isManagedClaim, nodeView } from "./claim-lookups.ts";

type PodKubeObject = Pod & KubeObject;

/** Shorter than the wait before a disruption is carried out, so that no event slips through between the two. (03:M-2) */
const dedupeMs = 10_000;
const concurrency = 10;

/** Notes on claims when a pod last came to their node or left it. (03:M-1) */
export function podEventsController(dependencies: ControllerDependencies): Controller {
  const startedAt = perRunState((context) => context.clock.now());
  return reconcileController({
    name: "nodeclaim.podevents",
    triggers: [
      triggerOn<PodKubeObject>(builtInTypes.Pod, (change, context) => nodeNamesOfPodEvent(change, startedAt(context))),
    ],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    prepare: (context) => {
      startedAt(context);
      indexClaimsAndNodes(context);
    },
    concurrency,
    reconcile: requeueOnConflict(async (nodeName: string, context: ControllerContext) => {
      await updateLastPodEventTime(nodeName, context, dependencies);
      return undefined;
    }),
  });
}

async function updateLastPodEventTime(
  nodeName: string,
  context: ControllerContext,
  { cloud }: ControllerDependencies,
): Promise<void> {
  const node = nodeView(context).get(nodeName);
  const claim = node && claimForNode(node, context);
  if (claim === undefined || !isManagedClaim(claim, cloud)) return;
  const now = context.clock.now();
  const last = Date.parse(claim.status?.lastPodEventTime ?? "");
  if (now - last < dedupeMs) return;
  const body = { status: { lastPodEventTime: rfc3339(now) } };
  await mergePatchObject(context.client, karpenterTypes.NodeClaim, claim, { body, subresource: "status" });
}

/** The node something happened on: a pod was bound to it, ended on it or is asked to go. Daemons do not count. (03:M-1) */
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

/** At a start every pod is new to us; those bound before are no event, or each restart would delay consolidation. (03:M-3) */
function wasBoundSince({ metadata, status }: Pod, startedAt: number): boolean {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled")?.lastTransitionTime;
  const boundAt = Date.parse(scheduled ?? metadata.creationTimestamp ?? "");
  return boundAt >= Math.floor(startedAt / 1_000) * 1_000; // times on objects are whole seconds
}
