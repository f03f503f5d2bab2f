import { type KubeObject, namespacedName, namespaceOf, type ObjectMeta } from "../../api/object.ts";
import { volumeClaimName } from "../../core/volumes.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";

/** The replacement of a claim name that is built from other names; undefined for any other claim. */
export type VolumeClaimNamer = (claim: string, token: (text: string) => string) => string | undefined;

/**
 * Claim names that are built from other names, by namespace: a pod's ephemeral volume has the claim POD-VOLUME, a
 * StatefulSet's template CLAIM-SET-0. Scheduling builds them again, so they are built from the replaced parts. (02:V-5)
 */
export function volumeClaimNamers(objects: readonly KubeObject[]): (namespace: string) => VolumeClaimNamer {
  const ephemeral = ephemeralVolumeClaims(objects);
  const sets = statefulSetClaims(objects);
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

interface EphemeralVolumeClaim {
  readonly pod: string;
  readonly volume: string;
}

function ephemeralVolumeClaims(objects: readonly KubeObject[]): ReadonlyMap<string, EphemeralVolumeClaim> {
  const found = new Map<string, EphemeralVolumeClaim>();
  for (const pod of new ObjectsByKind(objects).ofKind("Pod")) {
    for (const volume of pod.spec.volumes ?? []) {
      if (volume.ephemeral === undefined) continue;
      const name = volumeClaimName(pod, volume);
      found.set(namespacedName({ ...pod.metadata, name }), { pod: pod.metadata.name ?? "", volume: volume.name });
    }
  }
  return found;
}

interface StatefulSetClaim {
  readonly template: string;
  readonly set: string;
}

function statefulSetClaims(objects: readonly KubeObject[]): ReadonlyMap<string, readonly StatefulSetClaim[]> {
  const found = new Map<string, StatefulSetClaim[]>();
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
