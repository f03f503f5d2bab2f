import type { PersistentVolume, PersistentVolumeClaim } from "../api/kubernetes/cluster-objects.ts";
import { isRecord, namespacedName } from "../api/object.ts";
import { Quantity } from "../util/quantity.ts";

/** Which volumes serve which claims, as the controller that binds them decides. */

/** The claim a volume's claimRef names. */
export function claimRefOf(volume: PersistentVolume): { readonly key: string; readonly uid: string } | undefined {
  const ref = fieldOf(volume, "claimRef");
  return isRecord(ref) ? { key: `${text(ref["namespace"])}/${text(ref["name"])}`, uid: text(ref["uid"]) } : undefined;
}

export function accessModesOf(volume: PersistentVolume): readonly unknown[] {
  const modes = fieldOf(volume, "accessModes");
  return Array.isArray(modes) ? modes : [];
}

export function requestedStorage({ spec }: PersistentVolumeClaim): Quantity {
  return Quantity.tryParse(spec?.resources?.requests?.["storage"] ?? "0") ?? Quantity.zero;
}

/**
 * The smallest matching volume that is unclaimed or pre-bound to this claim, and reachable if that is asked for. Ties go
 * to the first.
 */
export function matchingVolume<V extends PersistentVolume>(
  claim: PersistentVolumeClaim,
  volumes: Iterable<V>,
  isReachable: (volume: V) => boolean = () => true,
): V | undefined {
  let best: V | undefined;
  for (const volume of volumes) {
    if (!satisfiesClaim(claim, volume) || !isReachable(volume)) continue;
    if (isPreBoundTo(claim, volume)) return volume;
    if (best === undefined || volumeSize(volume).cmp(volumeSize(best)) < 0) best = volume;
  }
  return best;
}

/** Whether a volume is reserved for this claim. */
export function isPreBoundTo({ metadata }: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const ref = claimRefOf(volume);
  if (ref === undefined) return false;
  return ref.key === namespacedName(metadata) && (ref.uid === "" || ref.uid === metadata.uid);
}

function satisfiesClaim(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  if (volume.metadata.deletionTimestamp !== undefined) return false;
  if (claimRefOf(volume) !== undefined && !isPreBoundTo(claim, volume)) return false;
  const { spec = {} } = claim;
  if ((spec.storageClassName ?? "") !== text(fieldOf(volume, "storageClassName"))) return false;
  const wantedMode = text((spec as Readonly<Record<string, unknown>>)["volumeMode"]) || "Filesystem";
  if (wantedMode !== (text(fieldOf(volume, "volumeMode")) || "Filesystem")) return false;
  const offered = accessModesOf(volume);
  if (!(spec.accessModes ?? []).every((mode) => offered.includes(mode))) return false;
  return volumeSize(volume).cmp(requestedStorage(claim)) >= 0;
}

function volumeSize(volume: PersistentVolume): Quantity {
  const capacity = fieldOf(volume, "capacity");
  const written = isRecord(capacity) ? capacity["storage"] : undefined;
  const size = typeof written === "string" || typeof written === "number" ? Quantity.tryParse(written) : undefined;
  return size ?? Quantity.zero;
}

function fieldOf({ spec }: { readonly spec?: unknown }, name: string): unknown {
  return isRecord(spec) && Object.hasOwn(spec, name) ? spec[name] : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
