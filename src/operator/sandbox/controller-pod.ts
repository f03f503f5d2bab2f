import type { KubeObject } from "../../api/object.ts";
import { defaultInstance, type SimulatedInstance } from "../../cloud/instance-source.ts";

const controllerNamespace = "karpenter";
const controllerName = "karpenter";
const controlPlaneNodeName = "control-plane";
const roleTaint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" } as const;

/** The node of control plane and controller; its taint keeps user pods away. */
export function controlPlaneInstance({ launchedAt }: { readonly launchedAt: number }): SimulatedInstance {
  const plain = defaultInstance(1, { launchedAt });
  return {
    ...plain,
    id: controlPlaneNodeName,
    nodeName: controlPlaneNodeName,
    providerId: `simulated:///${controlPlaneNodeName}`,
    labels: { ...plain.labels, "kubernetes.io/hostname": controlPlaneNodeName, [roleTaint.key]: "" },
    taints: [roleTaint],
  };
}

/** The controller's pod as the chart would create it; `kubectl logs` shows our log. */
export function controllerPod(version: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${controllerName}-0`,
      namespace: controllerNamespace,
      labels: {
        "app.kubernetes.io/name": controllerName,
        "app.kubernetes.io/instance": controllerName,
        "app.kubernetes.io/version": version,
      },
    },
    spec: {
      nodeName: controlPlaneNodeName,
      priorityClassName: "system-cluster-critical",
      tolerations: [{ operator: "Exists" }],
      containers: [
        {
          name: "controller",
          image: `karpenter-ts:${version}`,
          ports: [
            { name: "http-metrics", containerPort: 8080 },
            { name: "http", containerPort: 8081 },
          ],
          resources: { requests: { cpu: "1", memory: "512Mi" } },
        },
      ],
    },
  };
}

export const controllerPodKey = { name: `${controllerName}-0`, namespace: controllerNamespace };

export function isControllerPod({ metadata }: KubeObject): boolean {
  return metadata.namespace === controllerPodKey.namespace && metadata.name === controllerPodKey.name;
}
