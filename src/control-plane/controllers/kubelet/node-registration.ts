import { labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { SimulatedInstance } from "../../../cloud/instance-source.ts";
import { fnv1a32 } from "../../../util/hash.ts";
import { rfc3339, rfc3339Micro } from "../../../util/timestamp.ts";
import type { StatusCondition } from "../api-pod-and-node.ts";
import { leaseDurationSeconds, nodeLeaseNamespace } from "./lease-times.ts";

/** What a kubelet reports about its node. */
export interface NodeReadiness {
  readonly isReady: boolean;
  readonly reason: string;
  readonly message: string;
}

const notReadyTaint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" } as const;

/** What the kubelet reports now; undefined while it is silent. */
export function nodeReadiness(instance: SimulatedInstance, now: number): NodeReadiness | undefined {
  const { kubelet, launchedAt, bootMs, readyMs = 0 } = instance;
  if (kubelet === "silent") return undefined;
  if (kubelet === "not-ready") {
    return { isReady: false, reason: "KubeletNotReady", message: "container runtime is down" };
  }
  if (now < launchedAt + bootMs + readyMs) {
    const message = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady";
    return { isReady: false, reason: "KubeletNotReady", message };
  }
  return { isReady: true, reason: "KubeletReady", message: "kubelet is posting ready status" };
}

/** The Node a kubelet registers. */
export function newNodeObject(
  instance: SimulatedInstance,
  { readiness, now }: { readonly readiness: NodeReadiness; readonly now: number },
) {
  const { nodeName, providerId, capacity, allocatable } = instance;
  const taints = readiness.isReady ? instance.taints : [...instance.taints, notReadyTaint];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: nodeName,
      labels: { [labels.hostname]: nodeName, ...instance.labels },
      ...(instance.annotations === undefined ? {} : { annotations: instance.annotations }),
    },
    spec: { providerID: providerId, ...(taints.length === 0 ? {} : { taints }) },
    status: {
      capacity,
      allocatable,
      ...nodeAddressesAndInfo(instance),
      conditions: kubeletNodeConditions(readiness, { now, before: [] }),
    },
  } satisfies KubeObject;
}

/** The parts of node status that the kubelet knows on its own. */
export function nodeAddressesAndInfo({ nodeName, labels: own }: Pick<SimulatedInstance, "nodeName" | "labels">) {
  const architecture = own[labels.arch] ?? "amd64";
  const operatingSystem = own[labels.os] ?? "linux";
  return {
    addresses: [
      { type: "InternalIP", address: nodeAddress(nodeName) },
      { type: "Hostname", address: nodeName },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture,
      bootID: nodeName,
      containerRuntimeVersion: "simulated://1.0.0",
      kernelVersion: "6.1.0-simulated",
      kubeProxyVersion: "",
      kubeletVersion: "v1.36.1",
      machineID: nodeName,
      operatingSystem,
      osImage: "karpenter-ts simulated node",
      systemUUID: nodeName,
    },
  };
}

/** The address in an EC2-style name, else a stable one in 10.0.0.0/9. Nothing is routed, so two nodes may share one. */
export function nodeAddress(nodeName: string): string {
  const [, ...octets] = /^ip-(\d+)-(\d+)-(\d+)-(\d+)\./.exec(nodeName) ?? [];
  if (octets.length > 0) return octets.join(".");
  const offset = fnv1a32(nodeName) % (2 ** 23 - 2);
  return `10.${offset >> 16}.${(offset >> 8) & 255}.${offset & 255}`;
}

const pressureConditions = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
] as const;

/** All conditions a kubelet reports; unchanged ones keep their transition time. */
export function kubeletNodeConditions(
  { isReady, reason, message }: NodeReadiness,
  { now, before }: { readonly now: number; readonly before: readonly StatusCondition[] },
): readonly StatusCondition[] {
  const time = rfc3339(now);
  const reported = [
    ...pressureConditions.map(([type, why, text]) => ({ type, status: "False", reason: why, message: text })),
    { type: "Ready", status: isReady ? "True" : "False", reason, message },
  ];
  return reported.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? time) : time;
    return { ...condition, lastHeartbeatTime: time, lastTransitionTime };
  });
}

/** The Lease a kubelet renews. */
export function leaseObject(node: KubeObject, now: number): KubeObject {
  const { name = "", uid = "" } = node.metadata;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name,
      namespace: nodeLeaseNamespace,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime: rfc3339Micro(now) },
  };
}

/** The CSINode with the volume limits of the node's drivers. */
export function csiNodeObject(node: KubeObject, limits: Readonly<Record<string, number>> = {}): KubeObject {
  const { name = "", uid = "" } = node.metadata;
  const drivers = Object.entries(limits).map(([driver, count]) => ({
    name: driver,
    nodeID: name,
    topologyKeys: [labels.zone],
    allocatable: { count },
  }));
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
    spec: { drivers },
  };
}
