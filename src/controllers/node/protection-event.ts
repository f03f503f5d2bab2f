import { type PodProtection, podProtection, protectionEvents } from "../../api/validation/do-not-disrupt.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { PodKubeObject } from "./pods-of-node.ts";

/** Explains what `karpenter.sh/do-not-disrupt` on a pod means, unless its value says it all. (03 §6.2) */
export function recordProtectionEvent(pod: PodKubeObject, context: ControllerContext): void {
  const protection = podProtection(pod, context.clock.now());
  if (protection.kind === "none" || protection.kind === "forever") return;
  const message = messageOf(protection);
  if (message === undefined) return;
  const dedupe = { values: [pod.metadata.uid ?? "", message] };
  context.recordEvent(pod, { ...protectionEvents[protection.kind], message, dedupe });
}

function messageOf(protection: Exclude<PodProtection, { readonly kind: "none" | "forever" }>): string | undefined {
  switch (protection.kind) {
    case "until":
      // The time counts from the start of the pod.
      return protection.untilMs === undefined
        ? undefined
        : `Protected by do-not-disrupt until ${rfc3339(protection.untilMs)}`;
    case "elapsed":
      return "do-not-disrupt has expired";
    case "invalid":
      return `Ignoring do-not-disrupt: ${protection.value} is neither true nor a positive duration`;
  }
}
