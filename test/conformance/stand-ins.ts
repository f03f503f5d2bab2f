import type { KubeObject } from "../../src/api/object.ts";

const pod = "karpenter-0";
const node = "system";
const labels = { "app.kubernetes.io/name": "karpenter", "app.kubernetes.io/instance": "karpenter" };
const container = { name: "controller", image: "none" };

/** Where the objects are made, in this order. */
export const standIns: readonly { readonly collection: string; readonly object: KubeObject }[] = [
  {
    collection: "/api/v1/nodes",
    object: {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: node,
        labels: { "kwok-partition": "a", "kubernetes.io/os": "linux", "kubernetes.io/hostname": node },
      },
      spec: { taints: [{ key: "CriticalAddonsOnly", effect: "NoSchedule" }] },
      status: {
        allocatable: { cpu: "4", memory: "8Gi", pods: "10" },
        capacity: { cpu: "4", memory: "8Gi", pods: "10" },
      },
    },
  },
  {
    // Its address is its node's, so the API server's pod proxy reaches the metrics of the process it stands for.
    collection: "/api/v1/namespaces/kube-system/pods",
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: pod, namespace: "kube-system", labels },
      spec: {
        nodeName: node,
        hostNetwork: true,
        tolerations: [{ operator: "Exists" }],
        containers: [container],
      },
    },
  },
  {
    // The suites find the leader's pod by its lease. Nobody renews it, as leader election is off.
    collection: "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
    object: {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "karpenter-leader-election", namespace: "kube-system" },
      spec: { holderIdentity: `${pod}_1`, leaseDurationSeconds: 15 },
    },
  },
  {
    collection: "/apis/apps/v1/namespaces/kube-system/deployments",
    object: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "karpenter", namespace: "kube-system" },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "none" } },
        template: { metadata: { labels: { app: "none" } }, spec: { containers: [container] } },
      },
    },
  },
  {
    // A kind cluster has a small network agent on every node, and one spec counts on it.
    collection: "/apis/apps/v1/namespaces/kube-system/daemonsets",
    object: {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "agent", namespace: "kube-system" },
      spec: {
        selector: { matchLabels: { app: "agent" } },
        template: {
          metadata: { labels: { app: "agent" } },
          spec: {
            hostNetwork: true,
            tolerations: [{ operator: "Exists" }],
            containers: [{ name: "agent", image: "none", resources: { requests: { cpu: "100m", memory: "50Mi" } } }],
          },
        },
      },
    },
  },
];

/** The pod that stands for the controller. */
export const controllerPodPath = `/api/v1/namespaces/kube-system/pods/${pod}`;
