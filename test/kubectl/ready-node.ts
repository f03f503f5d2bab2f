import type { KubeObject } from "../../src/api/object.ts";
import { rfc3339 } from "../../src/util/timestamp.ts";

/** A Node of four cores as a kubelet would register it, one of three zones by turns. */
export function readyNode(ordinal: number, now: number): KubeObject {
  const name = `node-${ordinal}`;
  const zone = "abc"[(ordinal - 1) % 3] ?? "a";
  const resources = { cpu: "4", memory: "16Gi", "ephemeral-storage": "100Gi", pods: "110" };
  const time = rfc3339(now);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "simulated-4x",
        "topology.kubernetes.io/region": "simulated",
        "topology.kubernetes.io/zone": `simulated-${zone}`,
      },
    },
    spec: { providerID: `simulated:///${name}` },
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: "InternalIP", address: `10.${(ordinal >> 16) & 255}.${(ordinal >> 8) & 255}.${ordinal & 255}` },
        { type: "Hostname", address: name },
      ],
      nodeInfo: nodeInfo(name),
      conditions: [
        condition("MemoryPressure", { status: "False", reason: "KubeletHasSufficientMemory", time }),
        condition("DiskPressure", { status: "False", reason: "KubeletHasNoDiskPressure", time }),
        condition("PIDPressure", { status: "False", reason: "KubeletHasSufficientPID", time }),
        condition("Ready", { status: "True", reason: "KubeletReady", time }),
      ],
    },
  };
}

function nodeInfo(name: string): Readonly<Record<string, string>> {
  return {
    architecture: "amd64",
    bootID: name,
    containerRuntimeVersion: "simulated://1.0.0",
    kernelVersion: "6.1.0-simulated",
    kubeProxyVersion: "",
    kubeletVersion: "v1.36.1",
    machineID: name,
    operatingSystem: "linux",
    osImage: "karpenter-ts simulated node",
    systemUUID: name,
  };
}

function condition(type: string, { status, reason, time }: { status: string; reason: string; time: string }): unknown {
  const message = `this node is simulated`;
  return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime: time };
}
