import { labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";

/** The demo's namespace and NodePool. */
export const demoName = "demo";

/** Nothing is consolidated until load falls: each scene shows one thing. */
const keptNodes = { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "Never" };
/** All nodes may go at once. */
export const consolidatedNodes = { ...keptNodes, consolidateAfter: "15s", budgets: [{ nodes: "100%" }] };

/** Nodes of at most 16 cores, so that the demo has several. */
export const demoInfrastructure: readonly KubeObject[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: demoName } },
  { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: demoName } },
  {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: demoName },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: demoName },
          requirements: [
            { key: labels.os, operator: "In", values: ["linux"] },
            { key: labels.arch, operator: "In", values: ["amd64"] },
            { key: labels.capacityType, operator: "In", values: ["spot", "on-demand"] },
            { key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["17"] },
          ],
        },
      },
      limits: { cpu: 500 },
      disruption: keptNodes,
    },
  },
];

export interface DemoWorkload {
  readonly replicas: number;
  readonly cpu: string;
  readonly memory: string;
}

/** Keeps the pods on the demo's own nodes, so that the demo is the same on a cluster with others. */
const onDemoNodes = { nodeSelector: { [labels.nodePool]: demoName } };

export function demoDeployment(name: string, { replicas, ...size }: DemoWorkload): KubeObject {
  const own = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: demoName },
    spec: {
      replicas,
      selector: { matchLabels: own },
      template: { metadata: { labels: own }, spec: { ...onDemoNodes, containers: [container(size)] } },
    },
  };
}

/** A pod larger than any instance type. */
export const oversizedPod: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "giant", namespace: demoName },
  spec: { ...onDemoNodes, containers: [container({ cpu: "1000", memory: "1Gi" })] },
};

function container(requests: { readonly cpu: string; readonly memory: string }) {
  return { name: "app", image: "nginx", resources: { requests } };
}
