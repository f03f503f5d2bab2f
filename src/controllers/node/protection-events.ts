import { timestamp } from "../../api/conditions/engine.ts";
import { type Protection, podProtection, protectionEvents } from "../../api/validation/do-not-disrupt.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import type { LivePod } from "./node-scene.ts";

/** What `karpenter.sh/do-not-disrupt` on a pod comes to, where that is not plain from its value. (03 §6.2) */
export function tellProtection(pod: LivePod, world: LoopWorld): void {
  const protection = podProtection(pod, world.clock.now());
  if (protection.kind === "none" || protection.kind === "forever") return;
  const message = messageOf(protection);
  if (message === undefined) return;
  const dedupe = { values: [pod.metadata.uid ?? "", message] };
  world.tell(pod, { ...protectionEvents[protection.kind], message, dedupe });
}

function messageOf(protection: Exclude<Protection, { readonly kind: "none" | "forever" }>): string | undefined {
  switch (protection.kind) {
    case "until":
      // Before the pod has started nobody knows the end.
      return protection.untilMs === undefined
        ? undefined
        : `Protected by do-not-disrupt until ${timestamp(protection.untilMs)}`;
    case "elapsed":
      return "The time of do-not-disrupt is over";
    case "invalid":
      return `Ignoring do-not-disrupt: ${protection.value} is neither true nor a positive duration`;
  }
}
