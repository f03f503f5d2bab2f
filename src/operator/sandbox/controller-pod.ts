import type { KubeObject } from "../../api/object.ts";
import { type DefaultInstanceOptions, defaultInstance, type SimulatedInstance } from "../../cloud/instance-source.ts";
import { workloadLabels } from "../../control-plane/controllers/workloads/workload-labels.ts";

const controllerName = "karpenter";
const controlPlaneNodeName = "control-plane";
const roleTaint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" } as const;

/** The node of control plane and controller; its taint keeps user pods away. */
export function controlPlaneInstance(options: DefaultInstanceOptions): SimulatedInstance {
  const plain = defaultInstance(1, options);
  return {
    ...plain,
    id: controlPlaneNodeName,
    nodeName: controlPlaneNodeName,
    providerId: `simulated:///${controlPlaneNodeName}`,
    labels: { ...plain.labels, "kubernetes.io/hostname": controlPlaneNodeName, [roleTaint.key]: "" },
    taints: [roleTaint],
  };
}

const selectorLabels = { "app.kubernetes.io/name": controllerName, "app.kubernetes.io/instance": controllerName };

/** The label that the controller's objects have. */
export const controllerSelector = `app.kubernetes.io/name=${controllerName}`;

/** What the controller runs as, and where. */
export interface ControllerIdentity {
  readonly version: string;
  readonly namespace: string;
}

/** The controller's Deployment as the chart would create it. */
export function controllerDeployment({ version, namespace }: ControllerIdentity): KubeObject {
  const labels = { ...selectorLabels, "app.kubernetes.io/version": version };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: controllerName, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: selectorLabels },
      template: { metadata: { labels }, spec: { ...podSpec(version), nodeSelector: { [roleTaint.key]: "" } } },
    },
  };
}

/** Its pod, with a name people can remember; the Deployment's ReplicaSet adopts it by its hash. `kubectl logs` shows our log. */
export function controllerPod({ version, namespace }: ControllerIdentity, hash: string): KubeObject {
  const labels = { ...selectorLabels, "app.kubernetes.io/version": version, [workloadLabels.podTemplateHash]: hash };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${controllerName}-0`, namespace, labels },
    spec: { ...podSpec(version), nodeName: controlPlaneNodeName },
  };
}

function podSpec(version: string) {
  return {
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
  };
}

export function isControllerPod({ metadata }: KubeObject, controllerNamespace: string): boolean {
  const { namespace, labels = {} } = metadata;
  return (
    namespace === controllerNamespace && Object.entries(selectorLabels).every(([key, value]) => labels[key] === value)
  );
}
