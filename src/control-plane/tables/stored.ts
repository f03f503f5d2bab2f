import type { KubeObject } from "../../api/object.ts";
import { ageColumn, type Column, column, count, nameColumn, type Printer, wide } from "./column.ts";
import { firstFew, labelsPhrase, selectorPhrase } from "./phrases.ts";
import { at, listAt, numberAt, textAt, textsAt } from "./read.ts";

const subjects = (kind: string, name: (subject: unknown) => string) => (object: KubeObject) =>
  listAt(object, "subjects")
    .filter((subject) => textAt(subject, "kind") === kind)
    .map(name)
    .join(", ");
const nameOf = (subject: unknown) => textAt(subject, "name");
const webhooks = count("Webhooks", (object) => listAt(object, "webhooks").length);
const createdAt = column("Created At", (object) => textAt(object, "metadata", "creationTimestamp"));

const bindingColumns: readonly Column[] = [
  nameColumn,
  column("Role", (object) => `${textAt(object, "roleRef", "kind")}/${textAt(object, "roleRef", "name")}`),
  ageColumn,
  wide("Users", subjects("User", nameOf)),
  wide("Groups", subjects("Group", nameOf)),
  wide(
    "ServiceAccounts",
    subjects("ServiceAccount", (one) => `${textAt(one, "namespace")}/${nameOf(one)}`),
  ),
];

/** Kinds that are stored and nothing more. (05 §5) */
export const storedPrinters: Readonly<Record<string, Printer>> = {
  "/Service": {
    columns: [
      nameColumn,
      column("Type", (service) => textAt(service, "spec", "type")),
      column("Cluster-IP", (service) => textsAt(service, "spec", "clusterIPs")[0] ?? "<none>"),
      column("External-IP", (service) => externalIp(service)),
      column("Port(s)", (service) => servicePorts(service) || "<none>"),
      ageColumn,
      wide("Selector", (service) => labelsPhrase(at(service, "spec", "selector"))),
    ],
  },
  "/Endpoints": { columns: [nameColumn, column("Endpoints", (object) => endpoints(object)), ageColumn] },
  "discovery.k8s.io/EndpointSlice": {
    columns: [
      nameColumn,
      column("AddressType", (slice) => textAt(slice, "addressType")),
      column("Ports", (slice) => firstFew(listAt(slice, "ports").map(portOf), 3) || "<unset>"),
      column("Endpoints", (slice) => firstFew(addressesOf(slice), 3) || "<unset>"),
      ageColumn,
    ],
  },
  "autoscaling/HorizontalPodAutoscaler": {
    columns: [
      nameColumn,
      column("Reference", (object) => reference(object)),
      column("Targets", (object) => targets(object)),
      column("MinPods", (object) => String(at(object, "spec", "minReplicas") ?? "<unset>")),
      column("MaxPods", (object) => numberAt(object, "spec", "maxReplicas")),
      column("Replicas", (object) => numberAt(object, "status", "currentReplicas")),
      ageColumn,
    ],
  },
  "networking.k8s.io/Ingress": {
    columns: [
      nameColumn,
      column("Class", (ingress) => textAt(ingress, "spec", "ingressClassName") || "<none>"),
      column("Hosts", (ingress) => hosts(ingress)),
      column("Address", (ingress) => loadBalancer(ingress)),
      column("Ports", (ingress) => (listAt(ingress, "spec", "tls").length > 0 ? "80, 443" : "80")),
      ageColumn,
    ],
  },
  "networking.k8s.io/IngressClass": {
    columns: [
      nameColumn,
      column("Controller", (object) => textAt(object, "spec", "controller")),
      column("Parameters", (object) => parameters(object)),
      ageColumn,
    ],
  },
  "networking.k8s.io/NetworkPolicy": {
    columns: [
      nameColumn,
      column("Pod-Selector", (object) => selectorPhrase(at(object, "spec", "podSelector"))),
      ageColumn,
    ],
  },
  "rbac.authorization.k8s.io/RoleBinding": { columns: bindingColumns },
  "rbac.authorization.k8s.io/ClusterRoleBinding": { columns: bindingColumns },
  "rbac.authorization.k8s.io/Role": { columns: [nameColumn, createdAt] },
  "rbac.authorization.k8s.io/ClusterRole": { columns: [nameColumn, createdAt] },
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": { columns: [nameColumn, webhooks, ageColumn] },
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": { columns: [nameColumn, webhooks, ageColumn] },
  "resource.k8s.io/ResourceClaim": {
    columns: [nameColumn, column("State", (object) => claimState(object)), ageColumn],
  },
  "resource.k8s.io/ResourceSlice": {
    columns: [
      nameColumn,
      column("Node", (slice) => textAt(slice, "spec", "nodeName")),
      column("Driver", (slice) => textAt(slice, "spec", "driver")),
      column("Pool", (slice) => textAt(slice, "spec", "pool", "name")),
      ageColumn,
    ],
  },
};

function externalIp(service: KubeObject): string {
  const external = textsAt(service, "spec", "externalIPs");
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
  const ingress = listAt(object, "status", "loadBalancer", "ingress");
  const found = ingress.map((one) => textAt(one, "ip") || textAt(one, "hostname")).filter((one) => one !== "");
  return [...new Set(found)].sort().join(",");
}

function servicePorts(service: KubeObject): string {
  return listAt(service, "spec", "ports")
    .map((port) => {
      const nodePort = numberAt(port, "nodePort");
      return `${numberAt(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol") || "TCP"}`;
    })
    .join(",");
}

function endpoints(object: KubeObject): string {
  const all = listAt(object, "subsets").flatMap((subset) => {
    const ips = listAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = listAt(subset, "ports");
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => `${ip}:${numberAt(port, "port")}`));
  });
  return firstFew(all, 3) || "<none>";
}

function portOf(port: unknown): string {
  const number = at(port, "port");
  return typeof number === "number" ? String(number) : textAt(port, "name") || "*";
}

function addressesOf(slice: KubeObject): readonly string[] {
  return listAt(slice, "endpoints").flatMap((endpoint) => textsAt(endpoint, "addresses"));
}

function reference(object: KubeObject): string {
  return `${textAt(object, "spec", "scaleTargetRef", "kind")}/${textAt(object, "spec", "scaleTargetRef", "name")}`;
}

/** Resource metrics with their goals; nothing here ever measures them, so what is current is unknown. */
function targets(object: KubeObject): string {
  const metrics = listAt(object, "spec", "metrics").map((metric) => {
    if (textAt(metric, "type") !== "Resource") return "<unknown>";
    const utilization = at(metric, "resource", "target", "averageUtilization");
    const goal =
      typeof utilization === "number" ? `${utilization}%` : textAt(metric, "resource", "target", "averageValue");
    return `${textAt(metric, "resource", "name")}: <unknown>/${goal || "<auto>"}`;
  });
  if (metrics.length === 0) return "<none>";
  return metrics.length > 2 ? `${metrics.slice(0, 2).join(", ")} + ${metrics.length - 2} more...` : metrics.join(", ");
}

function hosts(ingress: KubeObject): string {
  const named = listAt(ingress, "spec", "rules")
    .map((rule) => textAt(rule, "host"))
    .filter((host) => host !== "");
  return firstFew(named, 3) || "*";
}

function parameters(object: KubeObject): string {
  const found = at(object, "spec", "parameters");
  if (found === undefined) return "<none>";
  const group = textAt(found, "apiGroup");
  return `${textAt(found, "kind")}${group === "" ? "" : `.${group}`}/${textAt(found, "name")}`;
}

function claimState(claim: KubeObject): string {
  const isGoing = at(claim, "metadata", "deletionTimestamp") !== undefined;
  const isAllocated = at(claim, "status", "allocation") !== undefined;
  const states = [
    ...(isGoing ? ["deleted"] : []),
    ...(isAllocated ? ["allocated"] : isGoing ? [] : ["pending"]),
    ...(isAllocated && listAt(claim, "status", "reservedFor").length > 0 ? ["reserved"] : []),
  ];
  return states.join(",");
}
