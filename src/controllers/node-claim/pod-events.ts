import { timestamp } from "../../api/conditions/engine.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { isOwnedByDaemonSet, isTerminal, isTerminating } from "../../core/provisionable.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import type { Change } from "../../kube/view.ts";
import { memory } from "../memory.ts";
import type { Parts } from "../parts.ts";
import { patch, quietly } from "../writes.ts";
import { claimOf, indexMachines, isManaged, nodesIn } from "./lookups.ts";

type LivePod = Pod & KubeObject;

/** Shorter than the wait before a disruption is carried out, so that no event slips through between the two. (03:M-2) */
const dedupeMs = 10_000;
const concurrency = 10;

/** Notes on claims when a pod last came to their node or left it. (03:M-1) */
export function podEvents(parts: Parts): Loop {
  const startedAt = memory((world) => world.clock.now());
  return reconcileLoop({
    name: "nodeclaim.podevents",
    triggers: [on<LivePod>(builtIn.Pod, (change, world) => nodeOfEvent(change, startedAt(world)))],
    kinds: [custom.NodeClaim, builtIn.Node],
    prepare: (world) => {
      startedAt(world);
      indexMachines(world);
    },
    concurrency,
    reconcile: quietly(async (nodeName: string, world: LoopWorld) => {
      await note(nodeName, world, parts);
      return undefined;
    }),
  });
}

async function note(nodeName: string, world: LoopWorld, { cloud }: Parts): Promise<void> {
  const node = nodesIn(world).get(nodeName);
  const claim = node && claimOf(node, world);
  if (claim === undefined || !isManaged(claim, cloud)) return;
  const now = world.clock.now();
  const last = Date.parse(claim.status?.lastPodEventTime ?? "");
  if (now - last < dedupeMs) return;
  const body = { status: { lastPodEventTime: timestamp(now) } };
  await patch(world.client, custom.NodeClaim, claim, { body, subresource: "status" });
}

/** The node something happened on: a pod was bound to it, ended on it or is asked to go. Daemons do not count. (03:M-1) */
function nodeOfEvent({ object, old }: Change<LivePod>, startedAt: number): readonly string[] {
  const nodeName = object?.spec.nodeName ?? "";
  if (object === undefined || nodeName === "" || isOwnedByDaemonSet(object)) return [];
  const isNews = old === undefined ? wasBoundSince(object, startedAt) : isEvent(old, object);
  return isNews ? [nodeName] : [];
}

function isEvent(old: Pod, pod: Pod): boolean {
  const isBound = (old.spec.nodeName ?? "") === "";
  return isBound || (!isTerminal(old) && isTerminal(pod)) || (!isTerminating(old) && isTerminating(pod));
}

/** At a start every pod is new to us; those bound before are no event, or each restart would delay consolidation. (03:M-3) */
function wasBoundSince({ metadata, status }: Pod, startedAt: number): boolean {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled")?.lastTransitionTime;
  const boundAt = Date.parse(scheduled ?? metadata.creationTimestamp ?? "");
  return boundAt >= Math.floor(startedAt / 1_000) * 1_000; // times on objects are whole seconds
}
