import { defaultStorageClassAnnotation } from "../api/kubernetes/default-storage-class.ts";
import type { KubeObject } from "../api/object.ts";

/** What people expect of a cluster beside what every API server has: a place for Karpenter, and volumes for claims. */
export const initialObjects: readonly KubeObject[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "karpenter" } },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "standard", annotations: { [defaultStorageClassAnnotation]: "true" } },
    provisioner: "disk.sim.karpenter.sh",
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
  } as KubeObject,
];
