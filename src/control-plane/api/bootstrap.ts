import type { KubeObject } from "../../api/object.ts";
import { textAt } from "../object-fields.ts";
import type { CollectionIndex } from "../store/collection.ts";

/** Index of pods by node: drain, kubelets and the scheduler use it. (05 §4) */
export const podsByNode: CollectionIndex = {
  name: "spec.nodeName",
  valueOf: ({ spec }) => textAt(spec, "nodeName"),
};

/** The objects every cluster starts with. */
export function bootstrapObjects(): readonly KubeObject[] {
  return [
    ...["default", "kube-node-lease", "kube-public", "kube-system"].map(namespace),
    priorityClass("system-node-critical", {
      value: 2_000_001_000,
      description: "Used for system critical pods that must not be moved from their current node.",
    }),
    priorityClass("system-cluster-critical", {
      value: 2_000_000_000,
      description:
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    }),
    apiService,
  ];
}

function namespace(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

function priorityClass(name: string, fields: { readonly value: number; readonly description: string }): KubeObject {
  return { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, ...fields } as KubeObject;
}

const apiService: KubeObject = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "kubernetes",
    namespace: "default",
    labels: { component: "apiserver", provider: "kubernetes" },
  },
  spec: { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }] },
};
