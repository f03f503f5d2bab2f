import type { PersistentVolume } from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { fnv1a32 } from "../../../util/hash.ts";
import { recordAt, textAt } from "../../object-fields.ts";

/** A persistent volume and the node it is, or is to be, attached to. */
export interface AttachmentPair {
  readonly volume: string;
  readonly node: string;
}

export function attachmentPairOf({ spec }: KubeObject): AttachmentPair {
  return { volume: textAt(spec, "source", "persistentVolumeName"), node: textAt(spec, "nodeName") };
}

/** Neither name contains a slash. */
export function attachmentPairKey({ volume, node }: AttachmentPair): string {
  return `${volume}/${node}`;
}

/** The driver that must attach the volume; undefined if none has to. */
export function attacherOf(volume: PersistentVolume, view: ControllerContext["view"]): string | undefined {
  const driver = volume.spec?.csi?.driver;
  if (driver === undefined) return undefined;
  const registered = view(builtInTypes.CSIDriver).get(driver);
  return recordAt(registered?.spec)?.["attachRequired"] === false ? undefined : driver;
}

/** Derived from the pair, so that two creators produce one object. */
export function attachmentName(pair: AttachmentPair): string {
  const hex = (salt: string): string =>
    fnv1a32(`${salt}${attachmentPairKey(pair)}`)
      .toString(16)
      .padStart(8, "0");
  return `csi-${["a", "b", "c", "d"].map(hex).join("")}`;
}

const pairIndex = "attachment-pair";

/** The attachment of a volume to a node, whatever its name. */
export function attachmentAt(pair: AttachmentPair, view: ControllerContext["view"]): KubeObject | undefined {
  const attachments = view(builtInTypes.VolumeAttachment);
  attachments.addIndex(pairIndex, (one) => attachmentPairKey(attachmentPairOf(one)));
  return attachments.byIndex(pairIndex, attachmentPairKey(pair))[0];
}

/** Whether pods on the node can mount the volume. */
export function isAttached(volume: PersistentVolume, node: string, view: ControllerContext["view"]): boolean {
  if (attacherOf(volume, view) === undefined) return true;
  const found = attachmentAt({ volume: volume.metadata.name ?? "", node }, view);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return false;
  return recordAt(found.status)?.["attached"] === true;
}
