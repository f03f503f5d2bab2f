import { isDefaultStorageClass } from "../../api/kubernetes/default-storage-class.ts";
import type { KubeObject } from "../../api/object.ts";
import { fieldAt, itemsAt, stringsAt, textAt } from "../object-fields.ts";
import { ageColumn, column, integerColumn, type KindColumns, nameColumn, wideColumn } from "./table-column.ts";

const unsetOr = (object: KubeObject, ...path: readonly string[]) => textAt(object, ...path) || "<unset>";
const volumeMode = wideColumn("VolumeMode", (object) => unsetOr(object, "spec", "volumeMode"));
const attributesClass = column("VolumeAttributesClass", (object) =>
  unsetOr(object, "spec", "volumeAttributesClassName"),
);
const isTrue = (object: KubeObject, field: string) => fieldAt(object, "spec", field) === true;

/** The deprecated annotation still counts. */
const storageClassOf = (object: KubeObject) =>
  object.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ??
  textAt(object, "spec", "storageClassName");

export const storageColumns: KindColumns = {
  "/PersistentVolume": [
    nameColumn,
    column("Capacity", (volume) => textAt(volume, "spec", "capacity", "storage") || "0"),
    column("Access Modes", (volume) => accessModes(stringsAt(volume, "spec", "accessModes"))),
    column("Reclaim Policy", (volume) => textAt(volume, "spec", "persistentVolumeReclaimPolicy")),
    column("Status", (volume) => phaseOf(volume)),
    column("Claim", (volume) => claimOf(volume)),
    column("StorageClass", storageClassOf),
    attributesClass,
    column("Reason", (volume) => textAt(volume, "status", "reason")),
    ageColumn,
    volumeMode,
  ],
  "/PersistentVolumeClaim": [
    nameColumn,
    column("Status", (claim) => phaseOf(claim)),
    column("Volume", (claim) => textAt(claim, "spec", "volumeName")),
    column("Capacity", (claim) => (isBound(claim) ? textAt(claim, "status", "capacity", "storage") || "0" : "")),
    column("Access Modes", (claim) => (isBound(claim) ? accessModes(stringsAt(claim, "status", "accessModes")) : "")),
    column("StorageClass", storageClassOf),
    attributesClass,
    ageColumn,
    volumeMode,
  ],
  "storage.k8s.io/StorageClass": [
    { ...nameColumn, cell: (object) => `${object.metadata.name}${isDefaultStorageClass(object) ? " (default)" : ""}` },
    column("Provisioner", (object) => textAt(object, "provisioner")),
    column("ReclaimPolicy", (object) => textAt(object, "reclaimPolicy") || "Delete"),
    column("VolumeBindingMode", (object) => textAt(object, "volumeBindingMode") || "Immediate"),
    column("AllowVolumeExpansion", (object) => fieldAt(object, "allowVolumeExpansion") === true),
    ageColumn,
  ],
  "storage.k8s.io/CSINode": [
    nameColumn,
    integerColumn("Drivers", (object) => itemsAt(object, "spec", "drivers").length),
    ageColumn,
  ],
  "storage.k8s.io/CSIDriver": [
    nameColumn,
    column("AttachRequired", (object) => fieldAt(object, "spec", "attachRequired") !== false, { type: "boolean" }),
    column("PodInfoOnMount", (object) => isTrue(object, "podInfoOnMount"), { type: "boolean" }),
    column("StorageCapacity", (object) => isTrue(object, "storageCapacity"), { type: "boolean" }),
    column("TokenRequests", (object) => tokenRequests(object)),
    column("RequiresRepublish", (object) => isTrue(object, "requiresRepublish"), { type: "boolean" }),
    column("Modes", (object) => stringsAt(object, "spec", "volumeLifecycleModes").join(",") || "<none>"),
    ageColumn,
  ],
  "storage.k8s.io/VolumeAttachment": [
    nameColumn,
    { ...column("Attacher", (object) => textAt(object, "spec", "attacher")), format: "name" },
    column("PV", (object) => textAt(object, "spec", "source", "persistentVolumeName")),
    column("Node", (object) => textAt(object, "spec", "nodeName")),
    column("Attached", (object) => fieldAt(object, "status", "attached") === true, { type: "boolean" }),
    ageColumn,
  ],
};

function isBound(claim: KubeObject): boolean {
  return textAt(claim, "spec", "volumeName") !== "";
}

function phaseOf(object: KubeObject): string {
  const isGoing = fieldAt(object, "metadata", "deletionTimestamp") !== undefined;
  return isGoing ? "Terminating" : textAt(object, "status", "phase");
}

const modeLetters = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

function accessModes(modes: readonly string[]): string {
  return modeLetters
    .filter(([mode]) => modes.includes(mode))
    .map(([, letters]) => letters)
    .join(",");
}

function claimOf(volume: KubeObject): string {
  const claim = fieldAt(volume, "spec", "claimRef");
  return claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`;
}

function tokenRequests(driver: KubeObject): string {
  const requests = fieldAt(driver, "spec", "tokenRequests");
  return Array.isArray(requests) ? requests.map((one) => textAt(one, "audience")).join(",") : "<unset>";
}
