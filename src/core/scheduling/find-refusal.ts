import { type DeviceRefusal, describeDeviceRefusal } from "../devices/device-refusal.ts";
import { newNodeCandidate } from "./commit.ts";
import { fitOnPlannedNode, type PodAttempt } from "./fit-on-planned-node.ts";
import { newNodeVerdict } from "./new-node-verdict.ts";
import type { Pass, QueuedPod } from "./pass-state.ts";
import type { PoolVerdict, Refusal, RefusalCause } from "./refusal.ts";
import { variantAt } from "./variants.ts";

/** A refusal without the pod it is of. */
export type ClassRefusal = Omit<Refusal, "pod">;

/** Why the pods of a class were not placed; computed once the pass has ended. (02 §10.3-11) */
export function findClassRefusal(pass: Pass, queuedPod: QueuedPod): ClassRefusal {
  const { podClass } = queuedPod;
  const devices = podClass.usesDra ? deviceRefusalOfPod(pass, queuedPod) : undefined;
  if (devices !== undefined) return { code: "dynamic-resources", message: describeDeviceRefusal(devices), pools: [] };
  if (podClass.volumeError !== undefined) {
    return {
      code: "volume-requirements",
      message: podClass.volumeError,
      pools: [],
    };
  }
  if (pass.poolTemplates.length === 0) {
    return {
      code: "no-templates",
      message: "nodepool requirements filtered out all available instance types",
      pools: [],
    };
  }
  const variant = lastTriedVariant(pass, queuedPod);
  const verdicts: (PoolVerdict & { readonly text: string })[] = [];
  for (const poolTemplate of pass.poolTemplates) {
    const verdict = newNodeVerdict(pass, { queuedPod, variant }, poolTemplate);
    verdicts.push({ pool: poolTemplate.nodeClaimTemplate.pool, ...verdict });
    if (verdict.cause.code === "reserved-capacity") break;
  }
  const message = verdicts.map(({ text }) => text).join("; ");
  const nearest = verdicts.reduce((best, one) => (checkRank(one.cause) > checkRank(best.cause) ? one : best));
  return { code: nearest.cause.code, message, pools: verdicts.map(({ pool, cause }) => ({ pool, cause })) };
}

/** Why no node is tried for a pod with resource claims. */
function deviceRefusalOfPod({ devices }: Pass, queuedPod: QueuedPod): DeviceRefusal | undefined {
  if (devices === undefined) return { reason: "ignored" };
  const claims = devices.claimsOf(queuedPod);
  return "reason" in claims ? claims : undefined;
}

/** The position of a check: the later it refused, the nearer the pod came. */
function checkRank({ code }: RefusalCause): number {
  const order: readonly RefusalCause["code"][] = [
    "node-limit",
    "limits",
    "taint",
    "requirements",
    "host-port",
    "volume-limit",
    "volume-requirements",
    "dynamic-resources",
    "topology",
    "instance-types",
    "resources",
    "min-values",
    "reserved-capacity",
  ];
  return order.indexOf(code);
}

/** The message is that of the last attempt: the most relaxed variant, or the first that waits for a reservation. */
export function lastTriedVariant(pass: Pass, queuedPod: QueuedPod): PodAttempt["variant"] {
  for (let level = 0; ; level++) {
    const variant = variantAt(queuedPod.podClass, level, pass.variantContext);
    if (variant === undefined) throw new Error("a pod class has at least one variant");
    const isLast = variantAt(queuedPod.podClass, level + 1, pass.variantContext) === undefined;
    if (isLast || isWaitingForReservation(pass, { queuedPod, variant })) return variant;
  }
}

function isWaitingForReservation(pass: Pass, podAttempt: PodAttempt): boolean {
  if (pass.reservations.isEmpty) return false;
  for (const poolTemplate of pass.poolTemplates) {
    const candidate = newNodeCandidate(pass, poolTemplate);
    if (typeof candidate === "string") continue;
    if (fitOnPlannedNode(pass, podAttempt, candidate) !== undefined) return false;
    if (pass.refusedByReservation) return true;
  }
  return false;
}
