import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { isKeyInDomains } from "../../../api/label-policy.ts";
import { type CapacityType, labels, type Taint, taints } from "../../../api/labels.ts";
import type { AmiFamily } from "../../../api/vocabulary.ts";

/** A kubelet may not set labels of these domains on its own Node. */
const restrictedDomains = ["kubernetes.io", "k8s.io"];

/** The labels a node registers with. Karpenter copies the others later. (04 §1.9) */
export function registrationLabels(
  { metadata }: Pick<NodeClaim, "metadata">,
  { amiFamily, capacityType }: { readonly amiFamily: AmiFamily; readonly capacityType: CapacityType },
): Readonly<Record<string, string>> {
  const all = {
    ...metadata.labels,
    [labels.capacityType]: capacityType,
    // Taints are registered by the kubelet. What a Custom image registers is not known, so its taints are synced.
    ...(amiFamily !== "Custom" && { [labels.doNotSyncTaints]: "true" }),
  };
  return Object.fromEntries(Object.entries(all).filter(([key]) => !isKeyInDomains(key, restrictedDomains)));
}

/** The taints a node registers with. Nothing may run on it before Karpenter has seen it. (04 §1.9) */
export function registrationTaints({ spec }: Pick<NodeClaim, "spec">): readonly Taint[] {
  const own: readonly Taint[] = [...(spec.taints ?? []), ...(spec.startupTaints ?? [])];
  const unregistered: Taint = taints.unregistered;
  const isThere = own.some(({ key, effect }) => key === unregistered.key && effect === unregistered.effect);
  return (isThere ? own : [...own, unregistered]).map(({ key, value, effect }) => ({
    key,
    ...(value && { value }),
    effect,
  }));
}
