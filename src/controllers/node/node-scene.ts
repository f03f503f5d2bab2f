import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { builtIn } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { Logger } from "../../util/logger.ts";
import { indexMachines, type LiveNode } from "../node-claim/lookups.ts";
import type { Parts } from "../parts.ts";
import type { EvictionQueue } from "./eviction-queue.ts";

export type LivePod = Pod & KubeObject;

/** What the steps of a Node's end have to work with. */
export interface NodeScene {
  readonly node: LiveNode;
  /** Its claim, where there is exactly one. */
  readonly claim?: NodeClaim | undefined;
  /** When everything must be over, whatever holds it. */
  readonly deadlineMs?: number | undefined;
  readonly world: LoopWorld;
  readonly parts: Parts;
  readonly queue: EvictionQueue;
  readonly log: Logger;
}

/** What one step of a Node's end came to; without `afterMs` the next one may be taken. */
export interface NodeStep {
  readonly claim?: NodeClaim | undefined;
  readonly afterMs?: number | undefined;
}

const byNode = "node";

export function podsIn(world: LoopWorld): View<LivePod> {
  return world.view<LivePod>(builtIn.Pod);
}

/** For `prepare` of a loop that looks up what is on a node. */
export function indexNodes(world: LoopWorld): void {
  indexMachines(world);
  podsIn(world).index(byNode, ({ spec }) => spec.nodeName || undefined);
}

export function podsOn(node: LiveNode, world: LoopWorld): readonly LivePod[] {
  return podsIn(world).by(byNode, node.metadata.name ?? "");
}
