import type { KubeObject } from "../../../api/object.ts";
import { isTerminalPod } from "../../../core/pod-predicates.ts";
import { fieldAt, listAt, numberAt, textAt } from "../../object-fields.ts";
import type { ApiNode, ApiPod } from "../api-pod-and-node.ts";
import { isPodReady } from "../workloads/pods.ts";

/** A port of a Service as its pods serve it. */
interface EndpointPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
}

/** A pod behind a Service. */
export interface ServiceEndpoint {
  readonly pod: ApiPod;
  readonly address: string;
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  readonly zone?: string | undefined;
}

/** Endpoints that serve the same ports; named ports may have another number in another pod. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly ServiceEndpoint[];
}

/** The pods that can be reached, ready or not, in the order of their names. (05:CP-L15) */
export function endpointGroups(
  service: KubeObject,
  pods: readonly ApiPod[],
  nodeNamed: (name: string) => ApiNode | undefined,
): readonly EndpointGroup[] {
  const groups = new Map<string, { ports: readonly EndpointPort[]; endpoints: ServiceEndpoint[] }>();
  for (const pod of [...pods].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))) {
    const address = textAt(pod.status, "podIP");
    if (address === "" || isTerminalPod(pod)) continue;
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    group.endpoints.push(endpointOf(service, pod, { address, node: nodeNamed(pod.spec.nodeName ?? "") }));
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function endpointOf(
  service: KubeObject,
  pod: ApiPod,
  { address, node }: { readonly address: string; readonly node: ApiNode | undefined },
): ServiceEndpoint {
  const isServing = isPodReady(pod);
  const isTerminating = pod.metadata.deletionTimestamp !== undefined;
  const isPublishedAnyway = fieldAt(service.spec, "publishNotReadyAddresses") === true;
  return {
    pod,
    address,
    isServing,
    isTerminating,
    isReady: isPublishedAnyway || (isServing && !isTerminating),
    zone: node?.metadata.labels?.["topology.kubernetes.io/zone"],
  };
}

/** A port whose name no container of the pod has is left out. */
function portsOf(service: KubeObject, pod: ApiPod): readonly EndpointPort[] {
  return listAt(service.spec, "ports").flatMap((written) => {
    const protocol = textAt(written, "protocol") || "TCP";
    const target = written["targetPort"] ?? written["port"];
    const port = typeof target === "number" ? target : containerPort(pod, { name: String(target), protocol });
    return port === undefined ? [] : [{ name: textAt(written, "name"), port, protocol }];
  });
}

function containerPort(
  { spec }: ApiPod,
  { name, protocol }: { readonly name: string; readonly protocol: string },
): number | undefined {
  const ports = listAt(spec, "containers").flatMap((container) => listAt(container, "ports"));
  const found = ports.find((port) => textAt(port, "name") === name && (textAt(port, "protocol") || "TCP") === protocol);
  return numberAt(found, "containerPort");
}
