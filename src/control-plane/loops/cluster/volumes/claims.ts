import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../../api/kubernetes/cluster.ts";
import { isRecord } from "../../../../api/object.ts";
import { Quantity } from "../../../../util/quantity.ts";
import { type Json, recordAt, textAt } from "../../../kinds/draft.ts";
import { anyTerm, type LabelledNode } from "../node-terms.ts";

/** Where the scheduler says which node a claim's volume is to be made for. */
export const selectedNodeAnnotation = "volume.kubernetes.io/selected-node";
/** A class whose volumes are only ever made by people. */
export const noProvisioner = "kubernetes.io/no-provisioner";

export function isWaitingForConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === "WaitForFirstConsumer";
}

export function selectedNode({ metadata }: PersistentVolumeClaim): string | undefined {
  return metadata.annotations?.[selectedNodeAnnotation];
}

/** Whose claim a volume is, as far as it says. */
export function claimRefOf(volume: PersistentVolume): { readonly key: string; readonly uid: string } | undefined {
  const ref = recordAt(volume.spec, "claimRef");
  return ref && { key: `${textAt(ref, "namespace")}/${textAt(ref, "name")}`, uid: textAt(ref, "uid") };
}

/**
 * The smallest volume that does for a claim and nobody has, or that is kept for it; with a node, one that can be
 * reached from there. Of equals the first by name.
 */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  node?: LabelledNode,
): PersistentVolume | undefined {
  let best: PersistentVolume | undefined;
  for (const volume of volumes) {
    if (!suits(claim, volume) || (node !== undefined && !isReachable(volume, node))) continue;
    if (isKeptFor(claim, volume)) return volume;
    if (best === undefined || sizeOf(volume).cmp(sizeOf(best)) < 0) best = volume;
  }
  return best;
}

export function isReachable({ spec }: PersistentVolume, node: LabelledNode): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || anyTerm(terms)(node);
}

function isKeptFor({ metadata }: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const ref = claimRefOf(volume);
  if (ref === undefined) return false;
  return ref.key === `${metadata.namespace}/${metadata.name}` && (ref.uid === "" || ref.uid === metadata.uid);
}

function suits(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  if (volume.metadata.deletionTimestamp !== undefined) return false;
  if (claimRefOf(volume) !== undefined && !isKeptFor(claim, volume)) return false;
  const { spec = {} } = claim;
  if ((spec.storageClassName ?? "") !== textAt(volume.spec, "storageClassName")) return false;
  if ((textAt(spec, "volumeMode") || "Filesystem") !== (textAt(volume.spec, "volumeMode") || "Filesystem"))
    return false;
  const offered = accessModesOf(volume);
  if (!(spec.accessModes ?? []).every((mode) => offered.includes(mode))) return false;
  return sizeOf(volume).cmp(requestedStorage(claim)) >= 0;
}

export function accessModesOf({ spec }: PersistentVolume): readonly unknown[] {
  const modes = isRecord(spec) ? (spec as Json)["accessModes"] : undefined;
  return Array.isArray(modes) ? modes : [];
}

export function requestedStorage({ spec }: PersistentVolumeClaim): Quantity {
  return Quantity.tryParse(spec?.resources?.requests?.["storage"] ?? "0") ?? Quantity.zero;
}

function sizeOf({ spec }: PersistentVolume): Quantity {
  const written = recordAt(spec, "capacity")?.["storage"];
  const size = typeof written === "string" || typeof written === "number" ? Quantity.tryParse(written) : undefined;
  return size ?? Quantity.zero;
}
