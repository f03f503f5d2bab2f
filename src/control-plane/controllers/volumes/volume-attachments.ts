import type { PersistentVolume } from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { fnv1a32 } from "../../../util/hash.ts";
import { recordAt, textAt } from "../../kinds/object-draft.ts";

/** Which volume is, or is to be, attached to which node. */
export interface AttachmentPair {
  readonly volume: string;
  readonly node: string;
}

export function attachmentPairOf({ spec }: KubeObject): AttachmentPair {
  return { volume: textAt(spec, "source", "persistentVolumeName"), node: textAt(spec, "nodeName") };
}

/** Neither has a slash in its name. */
export function attachmentPairKey({ volume, node }: AttachmentPair): string {
  return `${volume}/${node}`;
}

/** Who attaches the volume to nodes; undefined where nobody has to. */
export function attacherOf(volume: PersistentVolume, view: ControllerContext["view"]): string | undefined {
  const driver = volume.spec?.csi?.driver;
  if (driver === undefined) return undefined;
  const registered = view(builtInTypes.CSIDriver).get(driver);
  return recordAt(registered?.spec)?.["attachRequired"] === false ? undefined : driver;
}

/** The same place has the same name, so that two who want it do not make two. */
export function attachmentName(pair: AttachmentPair): string {
  const hex = (salt: string): string =>
    fnv1a32(`${salt}${attachmentPairKey(pair)}`)
      .toString(16)
      .padStart(8, "0");
  return `csi-${["a", "b", "c", "d"].map(hex).join("")}`;
}

/** The attachment of a volume to a node, whoever named it. */
export function attachmentAt(pair: AttachmentPair, view: ControllerContext["view"]): KubeObject | undefined {
  const attachments = view(builtInTypes.VolumeAttachment);
  attachments.addIndex("place", (one) => attachmentPairKey(attachmentPairOf(one)));
  return attachments.byIndex("place", attachmentPairKey(pair))[0];
}

/** Whether pods on the node can mount the volume. */
export function isAttached(volume: PersistentVolume, node: string, view: ControllerContext["view"]): boolean {
  if (attacherOf(volume, view) === undefined) return true;
  const found = attachmentAt({ volume: volume.metadata.name ?? "", node }, view);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return false;
  return recordAt(found.status)?.["attached"] === true;
}
