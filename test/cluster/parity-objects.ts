import type { KubeObject } from "../../src/api/object.ts";

/** Objects both servers take. */

const containers = [{ name: "main", image: "example.com/main" }];
const labels = { app: "x" };
const template = { metadata: { labels }, spec: { containers } };
const selector = { matchLabels: labels };

function object(apiVersion: string, kind: string, name: string, rest: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name }, ...rest } as KubeObject;
}

function podOf(name: string, spec: object): KubeObject {
  return object("v1", "Pod", name, {
    spec: { serviceAccountName: "pods", automountServiceAccountToken: false, containers, ...spec },
  });
}

const richPod = podOf("rich", {
  initContainers: [{ name: "init", image: "init:1", restartPolicy: "Always" }],
  containers: [
    {
      name: "main",
      image: "main:latest",
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP", hostPort: 53 }],
      env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      resources: { limits: { cpu: "1500m", memory: "1024Mi" }, requests: { cpu: 0.5 } },
      readinessProbe: { httpGet: { port: 80 } },
      livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 3 },
      startupProbe: { exec: { command: ["true"] } },
      volumeMounts: [{ name: "empty", mountPath: "/e" }],
      lifecycle: { preStop: { httpGet: { port: 80 } } },
    },
    { name: "digest", image: "a/b:1@sha256:0000000000000000000000000000000000000000000000000000000000000000" },
  ],
  volumes: [
    { name: "empty" },
    { name: "config", configMap: { name: "c" } },
    { name: "secret", secret: { secretName: "s" } },
    { name: "down", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.labels" } }] } },
    { name: "host", hostPath: { path: "/" } },
    { name: "proj", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
    {
      name: "eph",
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      },
    },
  ],
  tolerations: [{ key: "a", operator: "Exists" }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: selector },
  ],
});

export const accepted: readonly KubeObject[] = [
  podOf("plain", {}),
  richPod,
  podOf("gated", { schedulingGates: [{ name: "g" }] }),
  podOf("guaranteed", {
    containers: [{ name: "a", image: "a", resources: { limits: { cpu: "1", memory: "1Gi" } } }],
  }),
  podOf("host", { hostNetwork: true, containers: [{ name: "a", image: "a", ports: [{ containerPort: 80 }] }] }),
  podOf("critical", { priorityClassName: "system-node-critical" }),
  podOf("tolerant", { tolerations: [{ operator: "Exists" }] }),
  object("v1", "Namespace", "parity-2"),
  object("v1", "Node", "node-1", {
    spec: { taints: [{ key: "a", effect: "NoSchedule" }] },
    status: { capacity: { cpu: "4", memory: "16Gi" } },
  }),
  object("v1", "ConfigMap", "config", { data: { a: "1" } }),
  object("v1", "Secret", "secret", { stringData: { a: "1" } }),
  object("v1", "ServiceAccount", "account"),
  object("v1", "Service", "cluster", { spec: { selector: labels, ports: [{ port: 80 }] } }),
  object("v1", "Service", "headless", {
    spec: { clusterIP: "None", selector: labels, ports: [{ port: 80, targetPort: "http" }] },
  }),
  object("v1", "Service", "node-port", { spec: { type: "NodePort", ports: [{ port: 80 }] } }),
  object("v1", "Service", "balancer", { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } }),
  object("v1", "Service", "external", { spec: { type: "ExternalName", externalName: "example.com" } }),
  object("v1", "PersistentVolumeClaim", "claim", {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } }, storageClassName: "fast" },
  }),
  object("v1", "PersistentVolume", "volume", {
    spec: {
      capacity: { storage: "10Gi" },
      accessModes: ["ReadWriteOnce"],
      csi: { driver: "d.example.com", volumeHandle: "h" },
    },
  }),
  object("v1", "ReplicationController", "rc", { spec: { template } }),
  object("v1", "LimitRange", "range", {
    spec: { limits: [{ type: "Container", max: { cpu: "2" }, min: { memory: "1Mi" }, defaultRequest: { cpu: "1" } }] },
  }),
  object("v1", "ResourceQuota", "quota", { spec: { hard: { cpu: "10", pods: 5 } } }),
  object("v1", "PodTemplate", "template", { template }),
  object("v1", "Event", "event", {
    involvedObject: { kind: "Pod", name: "p", namespace: "parity" },
    reason: "R",
    message: "m",
    type: "Normal",
    source: { component: "c" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    count: 1,
  }),
  object("apps/v1", "Deployment", "deployment", { spec: { selector, template } }),
  object("apps/v1", "Deployment", "recreate", {
    spec: { replicas: 0, strategy: { type: "Recreate" }, selector, template },
  }),
  object("apps/v1", "ReplicaSet", "rs", { spec: { selector, template } }),
  object("apps/v1", "DaemonSet", "ds", { spec: { selector, template } }),
  object("apps/v1", "StatefulSet", "sts", {
    spec: {
      serviceName: "s",
      selector,
      template,
      volumeClaimTemplates: [
        {
          metadata: { name: "v" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  }),
  object("batch/v1", "Job", "job", { spec: { template: { spec: { restartPolicy: "Never", containers } } } }),
  object("batch/v1", "Job", "parallel", {
    spec: { parallelism: 3, template: { spec: { restartPolicy: "OnFailure", containers } } },
  }),
  object("batch/v1", "CronJob", "cron", {
    spec: {
      schedule: "*/5 * * * *",
      jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers } } } },
    },
  }),
  object("policy/v1", "PodDisruptionBudget", "pdb", { spec: { maxUnavailable: "25%", selector } }),
  object("coordination.k8s.io/v1", "Lease", "lease", {
    spec: { holderIdentity: "h", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.500000Z" },
  }),
  object("scheduling.k8s.io/v1", "PriorityClass", "pc", { value: 5 }),
  object("storage.k8s.io/v1", "StorageClass", "sc", { provisioner: "p.example.com" }),
  object("storage.k8s.io/v1", "CSINode", "csi", {
    spec: { drivers: [{ name: "d.example.com", nodeID: "n", topologyKeys: ["z"] }] },
  }),
  object("storage.k8s.io/v1", "CSIDriver", "driver.example.com", { spec: { attachRequired: false } }),
  object("storage.k8s.io/v1", "VolumeAttachment", "va", {
    spec: { attacher: "d.example.com", nodeName: "n", source: { persistentVolumeName: "v" } },
  }),
  object("networking.k8s.io/v1", "NetworkPolicy", "np", { spec: { podSelector: {} } }),
  object("networking.k8s.io/v1", "Ingress", "ing", {
    spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
  }),
  object("rbac.authorization.k8s.io/v1", "ClusterRole", "parity:role", {
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  }),
  object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "parity:binding", {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "parity:role" },
    subjects: [{ kind: "User", name: "u" }],
  }),
  object("autoscaling/v2", "HorizontalPodAutoscaler", "hpa", {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
  }),
  object("node.k8s.io/v1", "RuntimeClass", "rtc", { handler: "h" }),
  object("discovery.k8s.io/v1", "EndpointSlice", "slice", {
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"] }],
    ports: [{ port: 80 }],
  }),
];

/** Objects both servers refuse, with the same code, reason and fields. */
export const refused: readonly (readonly [title: string, object: KubeObject])[] = [
  ["a name in capitals", object("v1", "ConfigMap", "Nope")],
  ["an unknown field", object("v1", "ConfigMap", "c", { colour: 1 })],
  ["a field of the wrong type", object("v1", "ConfigMap", "c", { data: "x" })],
  ["a pod without containers", podOf("p", { containers: [] })],
  ["a pod without image", podOf("p", { containers: [{ name: "a" }] })],
  ["two containers of one name", podOf("p", { containers: [...containers, ...containers] })],
  ["an odd restart policy", podOf("p", { restartPolicy: "Sometimes" })],
  ["an odd quantity", podOf("p", { containers: [{ name: "a", image: "a", resources: { requests: { cpu: "x" } } }] })],
  [
    "a request above its limit",
    podOf("p", {
      containers: [{ name: "a", image: "a", resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }],
    }),
  ],
  [
    "a mount without its volume",
    podOf("p", { containers: [{ name: "a", image: "a", volumeMounts: [{ name: "v", mountPath: "/v" }] }] }),
  ],
  ["an unknown priority class", podOf("p", { priorityClassName: "none" })],
  ["an unknown runtime class", podOf("p", { runtimeClassName: "none" })],
  [
    "a bad spread constraint",
    podOf("p", { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "x" }] }),
  ],
  ["a deployment without selector", object("apps/v1", "Deployment", "d", { spec: { template } })],
  [
    "a selector that misses its template",
    object("apps/v1", "Deployment", "d", { spec: { selector: { matchLabels: { a: "b" } }, template } }),
  ],
  ["negative replicas", object("apps/v1", "Deployment", "d", { spec: { replicas: -1, selector, template } })],
  ["a job that restarts always", object("batch/v1", "Job", "j", { spec: { template: { spec: { containers } } } })],
  ["a service without ports", object("v1", "Service", "s", { spec: {} })],
  ["a service of an odd type", object("v1", "Service", "s", { spec: { type: "Odd", ports: [{ port: 80 }] } })],
  ["a claim without size", object("v1", "PersistentVolumeClaim", "c", { spec: { accessModes: ["ReadWriteOnce"] } })],
  [
    "a budget with both bounds",
    object("policy/v1", "PodDisruptionBudget", "b", { spec: { minAvailable: 1, maxUnavailable: 1, selector } }),
  ],
  [
    "a budget of an odd percentage",
    object("policy/v1", "PodDisruptionBudget", "b", { spec: { minAvailable: "150%", selector } }),
  ],
  ["a class without provisioner", object("storage.k8s.io/v1", "StorageClass", "s")],
  [
    "a lease renewed at an odd precision",
    object("coordination.k8s.io/v1", "Lease", "l", { spec: { renewTime: "2026-01-01T00:00:00Z" } }),
  ],
  ["a label with spaces", { ...object("v1", "ConfigMap", "c"), metadata: { name: "c", labels: { a: "b c" } } }],
  [
    "a definition of another name",
    object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "other.example.com", {
      spec: {
        group: "example.com",
        names: { plural: "gadgets", kind: "Gadget" },
        scope: "Cluster",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    }),
  ],
];
