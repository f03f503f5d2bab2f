import type { Pod } from "../src/api/kubernetes/pod.ts";
import { Quantity } from "../src/util/quantity.ts";

/** 500 small and 500 large pods, as the Go project's performance suite has them. */
export const mixedPods = [
  { name: "small", replicas: 500, cpu: "900m", memory: "3100Mi" },
  { name: "large", replicas: 500, cpu: "3500m", memory: "28Gi" },
] as const;

export const mixedCount = mixedPods.reduce((sum, { replicas }) => sum + replicas, 0);

/** What a core and a gigabyte cost where nothing is wasted, on demand. */
const dollars = { core: 0.025, gigabyte: 0.001 };

export function resourcePrice(cores: number, bytes: number): number {
  return cores * dollars.core + (bytes / 1e9) * dollars.gigabyte;
}

interface Requests {
  readonly cpu?: string;
  readonly memory?: string;
}

function priceOfRequests({ cpu = "0", memory = "0" }: Requests): number {
  const gigabytes = Quantity.parse(memory).toNumber() / 1e9;
  return Quantity.parse(cpu).toNumber() * dollars.core + gigabytes * dollars.gigabyte;
}

/** Dollars an hour for exactly what the mixed pods ask for. */
export function resourceBound(): number {
  return mixedPods.reduce((sum, { replicas, ...requests }) => sum + replicas * priceOfRequests(requests), 0);
}

/** Dollars an hour for exactly what pods with one container ask for. */
export function requestsBound(pods: readonly Pod[]): number {
  const requests = pods.map(({ spec }) => (spec.containers?.[0]?.resources?.requests ?? {}) as Requests);
  return requests.reduce((sum, one) => sum + priceOfRequests(one), 0);
}

export const mixedObjects: readonly object[] = [
  { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: "default" }, spec: {} },
  {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "default" },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
          requirements: [
            { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
            { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
            { key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["32"] },
          ],
          expireAfter: "Never",
        },
      },
    },
  },
  ...mixedPods.map(({ name, replicas, cpu, memory }) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "main", image: "app", resources: { requests: { cpu, memory } } }] },
      },
    },
  })),
];
