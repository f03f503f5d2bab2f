import type { Draw } from "./draw.ts";
import { keys } from "./names.ts";
import type { PlainObject } from "./problem.ts";
import type { RandomCatalogue } from "./random-catalogue.ts";

/** Claims v0 to v2 in both namespaces, some bound to volumes of a zone, some waiting for their first consumer. */
export function randomVolumes(draw: Draw, catalogue: RandomCatalogue): readonly PlainObject[] {
  return [storageClass(draw, catalogue), ...["v0", "v1", "v2"].flatMap((name) => volume(draw, name, catalogue))];
}

function storageClass(draw: Draw, { zones }: RandomCatalogue): PlainObject {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast" },
    provisioner: "disk.example.com",
    volumeBindingMode: "WaitForFirstConsumer",
    ...draw.maybe(0.5, () => ({
      allowedTopologies: draw.times(draw.pick([1, 1, 2]), () => ({
        matchLabelExpressions: [{ key: keys.zone, values: draw.some(zones, 1, 2) }],
      })),
    })),
  };
}

function volume(draw: Draw, name: string, { zones }: RandomCatalogue): readonly PlainObject[] {
  const isBound = draw.chance(0.6);
  const claims = ["default", "other"].map((namespace): PlainObject => {
    const volumeName = isBound ? { volumeName: `pv-${name}-${namespace}` } : {};
    return {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name, namespace },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "fast",
        ...volumeName,
      },
    };
  });
  if (!isBound) return claims;
  const terms = draw.times(draw.pick([1, 1, 2]), () => ({
    matchExpressions: [{ key: keys.zone, operator: "In", values: draw.some([...zones, "test-zone-z"], 1, 2) }],
  }));
  const volumes = ["default", "other"].map(
    (namespace): PlainObject => ({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `pv-${name}-${namespace}` },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        storageClassName: "fast",
        csi: { driver: "disk.example.com", volumeHandle: name },
        ...draw.maybe(0.8, () => ({ nodeAffinity: { required: { nodeSelectorTerms: terms } } })),
      },
    }),
  );
  return [...claims, ...volumes];
}
