import type { ResourceClaim } from "../../api/devices/device-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import type { DeviceRefusal } from "./device-refusal.ts";

/** The keys of a pod's resource claims; one that was not generated has none, and needs nothing. (02:D-2) */
function podClaimKeys({ metadata, spec, status }: Pod): readonly string[] {
  const generated = new Map(
    status?.resourceClaimStatuses?.map(({ name, resourceClaimName }) => [name, resourceClaimName]),
  );
  const names = (spec.resourceClaims ?? []).map((one) => one.resourceClaimName ?? generated.get(one.name));
  const { namespace } = metadata;
  return [...new Set(names.filter((name) => name !== undefined))].map((name) => namespacedName({ namespace, name }));
}

/** The resource claims of a pod; one that does not exist yet defers the pod. (02:D-2) */
export function podClaims(
  pod: Pod,
  claims: ReadonlyMap<string, ResourceClaim>,
): readonly ResourceClaim[] | DeviceRefusal {
  const found: ResourceClaim[] = [];
  for (const key of podClaimKeys(pod)) {
    const claim = claims.get(key);
    if (claim === undefined) return { reason: "claim-not-found", claim: key };
    found.push(claim);
  }
  return found;
}
