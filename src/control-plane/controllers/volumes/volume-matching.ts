import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../api/kubernetes/cluster-objects.ts";
import { Quantity } from "../../../util/quantity.ts";
import { recordAt, textAt } from "../../object-fields.ts";
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

/** The claim a volume's claimRef names. */
export function claimRefOf(volume: PersistentVolume): { readonly key: string; readonly uid: string } | undefined {
  const ref = recordAt(volume.spec, "claimRef");
  return ref && { key: `${textAt(ref, "namespace")}/${textAt(ref, "name")}`, uid: textAt(ref, "uid") };
}

/**
 * The smallest matching volume that is unclaimed or pre-bound to this claim; with a node, one reachable from it. Ties go
 * to the first by name.
 */
export function matchingVolume<V extends PersistentVolume>(
  claim: PersistentVolumeClaim,
  volumes: readonly V[],
  node?: LabelledNode,
): V | undefined {
  let best: V | undefined;
  for (const volume of volumes) {
    if (!satisfiesClaim(claim, volume) || (node !== undefined && !isVolumeReachable(volume, node))) continue;
    if (isPreBoundTo(claim, volume)) return volume;
    if (best === undefined || volumeSize(volume).cmp(volumeSize(best)) < 0) best = volume;
  }
  return best;
}

export function isVolumeReachable({ spec }: PersistentVolume, node: LabelledNode): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || nodeSelectorTest(terms)(node);
}

function isPreBoundTo({ metadata }: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const ref = claimRefOf(volume);
  if (ref === undefined) return false;
  return ref.key === `${metadata.namespace}/${metadata.name}` && (ref.uid === "" || ref.uid === metadata.uid);
}

function satisfiesClaim(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  if (volume.metadata.deletionTimestamp !== undefined) return false;
  if (claimRefOf(volume) !== undefined && !isPreBoundTo(claim, volume)) return false;
  const { spec = {} } = claim;
  if ((spec.storageClassName ?? "") !== textAt(volume.spec, "storageClassName")) return false;
  if ((textAt(spec, "volumeMode") || "Filesystem") !== (textAt(volume.spec, "volumeMode") || "Filesystem"))
    return false;
  const offered = accessModesOf(volume);
  if (!(spec.accessModes ?? []).every((mode) => offered.includes(mode))) return false;
  return volumeSize(volume).cmp(requestedStorage(claim)) >= 0;
}

export function accessModesOf({ spec }: PersistentVolume): readonly unknown[] {
  const modes = recordAt(spec)?.["accessModes"];
  return Array.isArray(modes) ? modes : [];
}

export function requestedStorage({ spec }: PersistentVolumeClaim): Quantity {
  return Quantity.tryParse(spec?.resources?.requests?.["storage"] ?? "0") ?? Quantity.zero;
}

function volumeSize({ spec }: PersistentVolume): Quantity {
  const written = recordAt(spec, "capacity")?.["storage"];
  const size = typeof written === "string" || typeof written === "number" ? Quantity.tryParse(written) : undefined;
  return size ?? Quantity.zero;
}
