import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName, namespaceOf, type ObjectMeta } from "../../api/object.ts";
import { scenarioKind } from "../../core/scenario/kinds.ts";
import { claimName } from "../../core/volumes.ts";

/** What stands for a claim whose name is made of others; undefined for one with a name of its own. */
export type ClaimNames = (claim: string, token: (text: string) => string) => string | undefined;

/**
 * Names of claims that are put together from other names, by namespace: a pod's ephemeral volume has the claim POD-VOLUME,
 * a StatefulSet's template CLAIM-SET-0. The engine puts them together again, and so from what stands for the parts. (02:V-5)
 */
export function claimNamesOf(objects: readonly KubeObject[]): (namespace: string) => ClaimNames {
  const ephemeral = ephemeralClaims(objects);
  const sets = setClaims(objects);
  return (namespace) => (claim, token) => {
    const own = ephemeral.get(`${namespace}/${claim}`);
    if (own !== undefined) return `${token(own.pod)}-${token(own.volume)}`;
    for (const { template, set } of sets.get(namespace) ?? []) {
      const prefix = `${template}-${set}-`;
      const ordinal = claim.slice(prefix.length);
      if (claim.startsWith(prefix) && /^\d+$/.test(ordinal)) return `${token(template)}-${token(set)}-${ordinal}`;
    }
    return undefined;
  };
}

interface EphemeralClaim {
  readonly pod: string;
  readonly volume: string;
}

function ephemeralClaims(objects: readonly KubeObject[]): ReadonlyMap<string, EphemeralClaim> {
  const found = new Map<string, EphemeralClaim>();
  for (const object of objects) {
    if (scenarioKind(object) !== "Pod") continue;
    const pod = object as KubeObject & Pod;
    for (const volume of pod.spec.volumes ?? []) {
      if (volume.ephemeral === undefined) continue;
      const name = claimName(pod, volume);
      found.set(namespacedName({ ...pod.metadata, name }), { pod: pod.metadata.name ?? "", volume: volume.name });
    }
  }
  return found;
}

interface SetClaim {
  readonly template: string;
  readonly set: string;
}

function setClaims(objects: readonly KubeObject[]): ReadonlyMap<string, readonly SetClaim[]> {
  const found = new Map<string, SetClaim[]>();
  for (const { kind, metadata, spec } of objects) {
    if (kind !== "StatefulSet") continue;
    const { volumeClaimTemplates = [] } = (spec ?? {}) as {
      readonly volumeClaimTemplates?: readonly { readonly metadata: ObjectMeta }[];
    };
    const namespace = namespaceOf(metadata);
    const claims = volumeClaimTemplates.map((one) => ({ template: one.metadata.name ?? "", set: metadata.name ?? "" }));
    found.set(namespace, [...(found.get(namespace) ?? []), ...claims]);
  }
  return found;
}
