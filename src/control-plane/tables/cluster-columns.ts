import type { KubeObject } from "../../api/object.ts";
import { fieldAt, itemsAt, numberOrZero, recordOrEmpty, statusCondition, textAt } from "../object-fields.ts";
import { ageOf } from "./age.ts";
import { ageColumn, column, integerColumn, type KindColumns, nameColumn, wideColumn } from "./table-column.ts";

export const clusterColumns: KindColumns = {
  "/Node": [
    nameColumn,
    column("Status", (node) => nodeStatus(node)),
    column("Roles", (node) => nodeRoles(node)),
    ageColumn,
    column("Version", (node) => textAt(node, "status", "nodeInfo", "kubeletVersion")),
    wideColumn("Internal-IP", (node) => addressOf(node, "InternalIP")),
    wideColumn("External-IP", (node) => addressOf(node, "ExternalIP")),
    wideColumn("OS-Image", (node) => textAt(node, "status", "nodeInfo", "osImage") || "<unknown>"),
    wideColumn("Kernel-Version", (node) => kernelVersion(node)),
    wideColumn(
      "Container-Runtime",
      (node) => textAt(node, "status", "nodeInfo", "containerRuntimeVersion") || "<unknown>",
    ),
  ],
  "/Namespace": [nameColumn, column("Status", (object) => textAt(object, "status", "phase")), ageColumn],
  "/Event": [
    column("Last Seen", (event, now) => lastSeen(event, now)),
    column("Type", (event) => textAt(event, "type")),
    column("Reason", (event) => textAt(event, "reason")),
    column("Object", (event) => involvedObject(event)),
    wideColumn("Subobject", (event) => textAt(event, "involvedObject", "fieldPath")),
    wideColumn("Source", (event) => sourceOf(event)),
    column("Message", (event) => textAt(event, "message").trim()),
    wideColumn("First Seen", (event, now) => firstSeen(event, now)),
    wideColumn("Count", (event) => numberOrZero(event, "series", "count") || numberOrZero(event, "count") || 1),
    wideColumn("Name", (event) => event.metadata.name ?? ""),
  ],
  "coordination.k8s.io/Lease": [
    nameColumn,
    column("Holder", (lease) => textAt(lease, "spec", "holderIdentity")),
    ageColumn,
  ],
  "scheduling.k8s.io/PriorityClass": [
    nameColumn,
    integerColumn("Value", (object) => numberOrZero(object, "value")),
    column("Global-Default", (object) => fieldAt(object, "globalDefault") === true, { type: "boolean" }),
    ageColumn,
    column("PreemptionPolicy", (object) => textAt(object, "preemptionPolicy")),
  ],
  "node.k8s.io/RuntimeClass": [nameColumn, column("Handler", (object) => textAt(object, "handler")), ageColumn],
  "apiextensions.k8s.io/CustomResourceDefinition": [
    nameColumn,
    column("Created At", (object) => textAt(object, "metadata", "creationTimestamp"), { type: "date" }),
  ],
  "/ConfigMap": [
    nameColumn,
    column("Data", (object) => sizeOf(object, "data") + sizeOf(object, "binaryData")),
    ageColumn,
  ],
  "/Secret": [
    nameColumn,
    column("Type", (object) => textAt(object, "type")),
    column("Data", (object) => sizeOf(object, "data")),
    ageColumn,
  ],
  "/ResourceQuota": [
    nameColumn,
    column("Request", (object) => quota(object, (resource) => !resource.startsWith("limits."))),
    column("Limit", (object) => quota(object, (resource) => resource.startsWith("limits."))),
    ageColumn,
  ],
  "/LimitRange": [nameColumn, column("Created At", (object) => textAt(object, "metadata", "creationTimestamp"))],
};

function sizeOf(object: KubeObject, field: string): number {
  return Object.keys(recordOrEmpty(object, field)).length;
}

function nodeStatus(node: KubeObject): string {
  const ready = statusCondition(node, "Ready");
  const word = ready === undefined ? "Unknown" : textAt(ready, "status") === "True" ? "Ready" : "NotReady";
  return fieldAt(node, "spec", "unschedulable") === true ? `${word},SchedulingDisabled` : word;
}

const rolePrefix = "node-role.kubernetes.io/";

function nodeRoles(node: KubeObject): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === "kubernetes.io/role" ? [value] : [];
  });
  return (
    [...new Set(roles)]
      .filter((role) => role !== "")
      .sort()
      .join(",") || "<none>"
  );
}

function addressOf(node: KubeObject, type: string): string {
  const found = itemsAt(node, "status", "addresses").find((address) => textAt(address, "type") === type);
  return textAt(found, "address") || "<none>";
}

function kernelVersion(node: KubeObject): string {
  const version = textAt(node, "status", "nodeInfo", "kernelVersion") || "<unknown>";
  const architecture = textAt(node, "status", "nodeInfo", "architecture");
  return architecture === "" ? version : `${version} (${architecture})`;
}

function firstSeen(event: KubeObject, now: number): string {
  return ageOf(textAt(event, "firstTimestamp") || textAt(event, "eventTime"), now);
}

function lastSeen(event: KubeObject, now: number): string {
  const series = fieldAt(event, "series");
  if (series !== undefined && series !== null) return ageOf(textAt(series, "lastObservedTime"), now);
  const last = textAt(event, "lastTimestamp");
  return last === "" ? firstSeen(event, now) : ageOf(last, now);
}

function involvedObject(event: KubeObject): string {
  const kind = textAt(event, "involvedObject", "kind").toLowerCase();
  const name = textAt(event, "involvedObject", "name");
  return name === "" ? kind : `${kind}/${name}`;
}

function sourceOf(event: KubeObject): string {
  const component = textAt(event, "source", "component") || textAt(event, "reportingComponent");
  const instance = textAt(event, "source", "host") || textAt(event, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}

function quota(object: KubeObject, wanted: (resource: string) => boolean): string {
  const hard = recordOrEmpty(object, "status", "hard");
  return Object.keys(hard)
    .filter(wanted)
    .sort()
    .map((resource) => `${resource}: ${textAt(object, "status", "used", resource) || "0"}/${String(hard[resource])}`)
    .join(", ");
}
