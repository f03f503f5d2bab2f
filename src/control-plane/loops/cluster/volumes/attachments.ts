import type { PersistentVolume } from "../../../../api/kubernetes/cluster.ts";
import type { KubeObject } from "../../../../api/object.ts";
import type { LoopWorld } from "../../../../kube/loop.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { recordAt, textAt } from "../../../kinds/draft.ts";
import { textHash } from "../kubelet/node-object.ts";

/** Which volume is, or is to be, attached to which node. */
export interface Place {
  readonly volume: string;
  readonly node: string;
}

export function placeOf({ spec }: KubeObject): Place {
  return { volume: textAt(spec, "source", "persistentVolumeName"), node: textAt(spec, "nodeName") };
}

/** Neither has a slash in its name. */
export function placeKey({ volume, node }: Place): string {
  return `${volume}/${node}`;
}

/** Who attaches the volume to nodes; undefined where nobody has to. */
export function attacherOf(volume: PersistentVolume, view: LoopWorld["view"]): string | undefined {
  const driver = volume.spec?.csi?.driver;
  if (driver === undefined) return undefined;
  const registered = view(builtIn.CSIDriver).get(driver);
  return recordAt(registered?.spec)?.["attachRequired"] === false ? undefined : driver;
}

/** The same place has the same name, so that two who want it do not make two. */
export function attachmentName(place: Place): string {
  const hex = (salt: string): string =>
    textHash(`${salt}${placeKey(place)}`)
      .toString(16)
      .padStart(8, "0");
  return `csi-${["a", "b", "c", "d"].map(hex).join("")}`;
}

/** The attachment of a volume to a node, whoever named it. */
export function attachmentAt(place: Place, view: LoopWorld["view"]): KubeObject | undefined {
  const attachments = view(builtIn.VolumeAttachment);
  attachments.index("place", (one) => placeKey(placeOf(one)));
  return attachments.by("place", placeKey(place))[0];
}

/** Whether pods on the node can mount the volume. */
export function isAttached(volume: PersistentVolume, node: string, view: LoopWorld["view"]): boolean {
  if (attacherOf(volume, view) === undefined) return true;
  const found = attachmentAt({ volume: volume.metadata.name ?? "", node }, view);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return false;
  return recordAt(found.status)?.["attached"] === true;
}
