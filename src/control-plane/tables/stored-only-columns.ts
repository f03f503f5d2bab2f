import type { KubeObject } from "../../api/object.ts";
import { fieldAt, itemsAt, numberOrZero, stringsAt, textAt } from "../object-fields.ts";
import { firstAndMore, labelsPhrase, selectorPhrase } from "./phrases.ts";
import {
  ageColumn,
  column,
  integerColumn,
  type KindColumns,
  nameColumn,
  type TableColumnDefinition,
  wideColumn,
} from "./table-column.ts";

const subjects = (kind: string, name: (subject: unknown) => string) => (object: KubeObject) =>
  itemsAt(object, "subjects")
    .filter((subject) => textAt(subject, "kind") === kind)
    .map(name)
    .join(", ");
const nameOf = (subject: unknown) => textAt(subject, "name");
const webhooks = integerColumn("Webhooks", (object) => itemsAt(object, "webhooks").length);
const createdAt = column("Created At", (object) => textAt(object, "metadata", "creationTimestamp"));

const bindingColumns: readonly TableColumnDefinition[] = [
  nameColumn,
  column("Role", (object) => `${textAt(object, "roleRef", "kind")}/${textAt(object, "roleRef", "name")}`),
  ageColumn,
  wideColumn("Users", subjects("User", nameOf)),
  wideColumn("Groups", subjects("Group", nameOf)),
  wideColumn(
    "ServiceAccounts",
    subjects("ServiceAccount", (one) => `${textAt(one, "namespace")}/${nameOf(one)}`),
  ),
];

/** Kinds that are only stored. (05 §5) */
export const storedColumns: KindColumns = {
  "/Service": [
    nameColumn,
    column("Type", (service) => textAt(service, "spec", "type")),
    column("Cluster-IP", (service) => stringsAt(service, "spec", "clusterIPs")[0] ?? "<none>"),
    column("External-IP", (service) => externalIp(service)),
    column("Port(s)", (service) => servicePorts(service) || "<none>"),
    ageColumn,
    wideColumn("Selector", (service) => labelsPhrase(fieldAt(service, "spec", "selector"))),
  ],
  "/Endpoints": [nameColumn, column("Endpoints", (object) => endpoints(object)), ageColumn],
  "discovery.k8s.io/EndpointSlice": [
    nameColumn,
    column("AddressType", (slice) => textAt(slice, "addressType")),
    column("Ports", (slice) => firstAndMore(itemsAt(slice, "ports").map(portOf), 3) || "<unset>"),
    column("Endpoints", (slice) => firstAndMore(addressesOf(slice), 3) || "<unset>"),
    ageColumn,
  ],
  "autoscaling/HorizontalPodAutoscaler": [
    nameColumn,
    column("Reference", (object) => reference(object)),
    column("Targets", (object) => targets(object)),
    column("MinPods", (object) => String(fieldAt(object, "spec", "minReplicas") ?? "<unset>")),
    column("MaxPods", (object) => numberOrZero(object, "spec", "maxReplicas")),
    column("Replicas", (object) => numberOrZero(object, "status", "currentReplicas")),
    ageColumn,
  ],
  "networking.k8s.io/Ingress": [
    nameColumn,
    column("Class", (ingress) => textAt(ingress, "spec", "ingressClassName") || "<none>"),
    column("Hosts", (ingress) => hosts(ingress)),
    column("Address", (ingress) => loadBalancer(ingress)),
    column("Ports", (ingress) => (itemsAt(ingress, "spec", "tls").length > 0 ? "80, 443" : "80")),
    ageColumn,
  ],
  "networking.k8s.io/IngressClass": [
    nameColumn,
    column("Controller", (object) => textAt(object, "spec", "controller")),
    column("Parameters", (object) => parameters(object)),
    ageColumn,
  ],
  "networking.k8s.io/NetworkPolicy": [
    nameColumn,
    column("Pod-Selector", (object) => selectorPhrase(fieldAt(object, "spec", "podSelector"))),
    ageColumn,
  ],
  "rbac.authorization.k8s.io/RoleBinding": bindingColumns,
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingColumns,
  "rbac.authorization.k8s.io/Role": [nameColumn, createdAt],
  "rbac.authorization.k8s.io/ClusterRole": [nameColumn, createdAt],
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": [nameColumn, webhooks, ageColumn],
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": [nameColumn, webhooks, ageColumn],
  "resource.k8s.io/ResourceClaim": [nameColumn, column("State", (object) => claimState(object)), ageColumn],
  "resource.k8s.io/ResourceSlice": [
    nameColumn,
    column("Node", (slice) => textAt(slice, "spec", "nodeName")),
    column("Driver", (slice) => textAt(slice, "spec", "driver")),
    column("Pool", (slice) => textAt(slice, "spec", "pool", "name")),
    ageColumn,
  ],
};

function externalIp(service: KubeObject): string {
  const external = stringsAt(service, "spec", "externalIPs");
  switch (textAt(service, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return external.join(",") || "<none>";
    case "LoadBalancer":
      return [loadBalancer(service), ...external].filter((ip) => ip !== "").join(",") || "<pending>";
    case "ExternalName":
      return textAt(service, "spec", "externalName");
    default:
      return "<unknown>";
  }
}

function loadBalancer(object: KubeObject): string {
  const ingress = itemsAt(object, "status", "loadBalancer", "ingress");
  const found = ingress.map((one) => textAt(one, "ip") || textAt(one, "hostname")).filter((one) => one !== "");
  return [...new Set(found)].sort().join(",");
}

function servicePorts(service: KubeObject): string {
  return itemsAt(service, "spec", "ports")
    .map((port) => {
      const nodePort = numberOrZero(port, "nodePort");
      return `${numberOrZero(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol") || "TCP"}`;
    })
    .join(",");
}

function endpoints(object: KubeObject): string {
  const all = itemsAt(object, "subsets").flatMap((subset) => {
    const ips = itemsAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = itemsAt(subset, "ports");
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => `${ip}:${numberOrZero(port, "port")}`));
  });
  return firstAndMore(all, 3) || "<none>";
}

function portOf(port: unknown): string {
  const number = fieldAt(port, "port");
  return typeof number === "number" ? String(number) : textAt(port, "name") || "*";
}

function addressesOf(slice: KubeObject): readonly string[] {
  return itemsAt(slice, "endpoints").flatMap((endpoint) => stringsAt(endpoint, "addresses"));
}

function reference(object: KubeObject): string {
  return `${textAt(object, "spec", "scaleTargetRef", "kind")}/${textAt(object, "spec", "scaleTargetRef", "name")}`;
}

/** Resource metrics with their targets; the current value is never measured here. */
function targets(object: KubeObject): string {
  const metrics = itemsAt(object, "spec", "metrics").map((metric) => {
    if (textAt(metric, "type") !== "Resource") return "<unknown>";
    const utilization = fieldAt(metric, "resource", "target", "averageUtilization");
    const goal =
      typeof utilization === "number" ? `${utilization}%` : textAt(metric, "resource", "target", "averageValue");
    return `${textAt(metric, "resource", "name")}: <unknown>/${goal || "<auto>"}`;
  });
  if (metrics.length === 0) return "<none>";
  return metrics.length > 2 ? `${metrics.slice(0, 2).join(", ")} + ${metrics.length - 2} more...` : metrics.join(", ");
}

function hosts(ingress: KubeObject): string {
  const named = itemsAt(ingress, "spec", "rules")
    .map((rule) => textAt(rule, "host"))
    .filter((host) => host !== "");
  return firstAndMore(named, 3) || "*";
}

function parameters(object: KubeObject): string {
  const found = fieldAt(object, "spec", "parameters");
  if (found === undefined) return "<none>";
  const group = textAt(found, "apiGroup");
  return `${textAt(found, "kind")}${group === "" ? "" : `.${group}`}/${textAt(found, "name")}`;
}

function claimState(claim: KubeObject): string {
  const isGoing = fieldAt(claim, "metadata", "deletionTimestamp") !== undefined;
  const isAllocated = fieldAt(claim, "status", "allocation") !== undefined;
  const states = [
    ...(isGoing ? ["deleted"] : []),
    ...(isAllocated ? ["allocated"] : isGoing ? [] : ["pending"]),
    ...(isAllocated && itemsAt(claim, "status", "reservedFor").length > 0 ? ["reserved"] : []),
  ];
  return states.join(",");
}
