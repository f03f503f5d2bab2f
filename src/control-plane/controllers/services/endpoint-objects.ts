import type { KubeObject } from "../../../api/object.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { textAt } from "../../object-fields.ts";
import { newControllerReference } from "../workloads/ownership.ts";
import { templateHash } from "../workloads/template-hash.ts";
import type { EndpointGroup, ServiceEndpoint } from "./service-endpoints.ts";

export const serviceNameLabel = "kubernetes.io/service-name";
const headlessLabel = "service.kubernetes.io/headless";
const sliceManager = {
  "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
};
const endpointsManager = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };
/** As kube-controller-manager fills them. */
const maxEndpointsPerSlice = 100;

/** The EndpointSlices of a Service; one without endpoints if it has none. (05:CP-L15) */
export function endpointSlicesOf(service: KubeObject, groups: readonly EndpointGroup[]): readonly KubeObject[] {
  const chunks = groups.flatMap(({ ports, endpoints }) =>
    Array.from({ length: Math.ceil(endpoints.length / maxEndpointsPerSlice) }, (_, index) => ({
      ports,
      index,
      endpoints: endpoints.slice(index * maxEndpointsPerSlice, (index + 1) * maxEndpointsPerSlice),
    })),
  );
  const all = chunks.length === 0 ? [{ ports: [], index: 0, endpoints: [] }] : chunks;
  return all.map(({ ports, index, endpoints }) => {
    const { name = "", namespace, uid } = service.metadata;
    return {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        // The same ports have the same slice; Kubernetes draws the end of the name.
        name: `${name}-${templateHash({ uid, ports, index })}`,
        namespace,
        labels: { ...service.metadata.labels, ...headless(service), ...sliceManager, [serviceNameLabel]: name },
        ownerReferences: [newControllerReference(builtInTypes.Service, service)],
      },
      addressType: "IPv4",
      // The server drops empty lists.
      ...(endpoints.length > 0 && { endpoints: endpoints.map((endpoint) => sliceEndpoint(service, endpoint)) }),
      ...(ports.length > 0 && { ports }),
    } as KubeObject;
  });
}

function sliceEndpoint(service: KubeObject, endpoint: ServiceEndpoint): Readonly<Record<string, unknown>> {
  const { pod, address, isReady, isServing, isTerminating, zone } = endpoint;
  const hostname = textAt(pod.spec, "hostname");
  const isNamed = hostname !== "" && textAt(pod.spec, "subdomain") === service.metadata.name;
  return {
    addresses: [address],
    conditions: { ready: isReady, serving: isServing, terminating: isTerminating },
    ...(isNamed && { hostname }),
    nodeName: pod.spec.nodeName,
    targetRef: targetOf(endpoint),
    ...(zone !== undefined && { zone }),
  };
}

/** The Endpoints object of a Service, which older clients read. Pods that end are not in it. */
export function endpointsOf(service: KubeObject, groups: readonly EndpointGroup[]): KubeObject {
  const { name = "", namespace, labels } = service.metadata;
  const subsets = subsetsOf(groups);
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name, namespace, labels: { ...labels, ...headless(service), ...endpointsManager } },
    ...(subsets.length > 0 && { subsets }),
  } as KubeObject;
}

function subsetsOf(groups: readonly EndpointGroup[]): readonly unknown[] {
  return groups.flatMap(({ ports, endpoints }) => {
    const shown = endpoints.filter(({ isReady, isTerminating }) => isReady || !isTerminating);
    const ready = shown.filter(({ isReady }) => isReady).map(endpointAddress);
    const notReady = shown.filter(({ isReady }) => !isReady).map(endpointAddress);
    if (shown.length === 0) return [];
    return [
      {
        ...(ready.length > 0 && { addresses: ready }),
        ...(notReady.length > 0 && { notReadyAddresses: notReady }),
        ports: ports.map(({ name: portName, ...port }) => ({ ...(portName !== "" && { name: portName }), ...port })),
      },
    ];
  });
}

/** Whether our controller made the Endpoints; others are the user's. */
export function isManagedEndpoints({ metadata }: KubeObject): boolean {
  return Object.entries(endpointsManager).every(([key, value]) => metadata.labels?.[key] === value);
}

function endpointAddress(endpoint: ServiceEndpoint): Readonly<Record<string, unknown>> {
  return { ip: endpoint.address, nodeName: endpoint.pod.spec.nodeName, targetRef: targetOf(endpoint) };
}

function targetOf({ pod }: ServiceEndpoint): Readonly<Record<string, unknown>> {
  const { name, namespace, uid } = pod.metadata;
  return { kind: "Pod", namespace, name, uid };
}

function headless({ spec }: KubeObject): Readonly<Record<string, string>> {
  return textAt(spec, "clusterIP") === "None" ? { [headlessLabel]: "" } : {};
}
