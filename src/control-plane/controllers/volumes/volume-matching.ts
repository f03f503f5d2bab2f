import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../api/kubernetes/cluster-objects.ts";
import { type LabelledNode, nodeSelectorTest } from "../node-selector.ts";

/** Set by the scheduler: the node a claim's volume is to be provisioned for. */
export const selectedNodeAnnotation = "volume.kubernetes.io/selected-node";
/** A class whose volumes are created by hand. */
export const noProvisioner = "kubernetes.io/no-provisioner";

export function isWaitingForConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === "WaitForFirstConsumer";
}

export function selectedNode({ metadata }: PersistentVolumeClaim): string | undefined {
  return metadata.annotations?.[selectedNodeAnnotation];
}

/** The claimRef of a volume bound to the claim. */
export function claimReference({ metadata }: PersistentVolumeClaim) {
  const { namespace, name, uid } = metadata;
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
}

export function isVolumeReachable({ spec }: PersistentVolume, node: LabelledNode): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || nodeSelectorTest(terms)(node);
}
