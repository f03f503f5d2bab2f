import { describe, expect, it } from "vitest";
import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { podLimits, podRequests } from "../../src/core/pod-requests.ts";
import type { ResourceType } from "../../src/kube/client.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { viewProjections } from "../../src/state/view-projections.ts";
import { written } from "./objects.ts";

function projector(type: ResourceType): (object: object) => KubeObject {
  const project = viewProjections().get(type);
  if (project === undefined) throw new Error(`no projection of ${type.kind}`);
  return (object) => project(structuredClone(object) as KubeObject);
}

interface WireOptions {
  readonly nodeName?: string;
  readonly spec?: object;
  readonly status?: object;
  readonly annotations?: object;
}

const tolerations = [{ key: "dedicated", operator: "Exists", tolerationSeconds: 300 }];

/** As an API server would send it, with what nobody here reads. */
function wirePod(name: string, { nodeName, spec, status, annotations }: WireOptions = {}): object {
  const volume = `kube-api-access-${name}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "team",
      uid: `uid-${name}`,
      resourceVersion: "7",
      generateName: "web-",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "web" },
      annotations: { "example.com/noise": "x", ...annotations },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: "web",
          uid: "u",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [{ manager: "kubelet" }],
    },
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      containers: [
        {
          name: "app",
          image: "web:1",
          env: [{ name: "POD", value: name }],
          ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81 }],
          resources: { requests: { cpu: "1" }, limits: { cpu: "2" } },
          volumeMounts: [{ name: volume, mountPath: "/x" }],
        },
      ],
      initContainers: [
        { name: "sidecar", image: "s:1", restartPolicy: "Always", resources: { requests: { cpu: "500m" } } },
      ],
      serviceAccountName: "default",
      schedulerName: "default-scheduler",
      tolerations,
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: volume, projected: { sources: [] } }],
      ...spec,
    },
    status: {
      phase: "Running",
      podIP: "10.0.0.1",
      startTime: "2026-01-01T00:00:05Z",
      conditions: [
        { type: "Initialized", status: "True" },
        {
          type: "Ready",
          status: "True",
          lastProbeTime: null,
          lastTransitionTime: "2026-01-01T00:00:09Z",
          message: "m",
        },
        { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "long story" },
      ],
      containerStatuses: [{ name: "app", ready: true, imageID: "sha256:1" }],
      ...status,
    },
  };
}

describe("projections: pods", () => {
  const project = (object: object) => projector(builtInTypes.Pod)(object) as unknown as Pod;

  it("keeps what is read, and nothing else", () => {
    expect(JSON.parse(JSON.stringify(project(wirePod("a", { nodeName: "n" }))))).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "a",
        namespace: "team",
        uid: "uid-a",
        resourceVersion: "7",
        creationTimestamp: "2026-01-01T00:00:00Z",
        labels: { app: "web" },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true }],
      },
      spec: {
        nodeName: "n",
        containers: [
          {
            name: "app",
            ports: [{ containerPort: 81, hostPort: 81 }],
            resources: { requests: { cpu: "1" }, limits: { cpu: "2" } },
          },
        ],
        initContainers: [{ name: "sidecar", restartPolicy: "Always", resources: { requests: { cpu: "500m" } } }],
        schedulerName: "default-scheduler",
        tolerations,
        terminationGracePeriodSeconds: 30,
      },
      status: {
        phase: "Running",
        startTime: "2026-01-01T00:00:05Z",
        conditions: [
          { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:09Z" },
          { type: "PodScheduled", status: "False", reason: "Unschedulable" },
        ],
      },
    });
  });

  it("keeps the annotations somebody reads", () => {
    const read = {
      "karpenter.sh/do-not-disrupt": "true",
      "controller.kubernetes.io/pod-deletion-cost": "5",
      "karpenter.sh/capacity-buffer-name": "b",
    };
    expect(project(wirePod("a", { annotations: read })).metadata.annotations).toEqual(read);
  });

  it("keeps every field of a spec the engine describes", () => {
    const spec = {
      nodeSelector: { a: "b" },
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] } },
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
      resources: { requests: { cpu: "3" } },
      overhead: { cpu: "10m" },
      resourceClaims: [{ name: "gpu" }],
      schedulingGates: [{ name: "gate" }],
      hostNetwork: true,
      priority: 5,
      priorityClassName: "high",
      preemptionPolicy: "Never",
    };
    expect(project(wirePod("a", { spec })).spec).toMatchObject(spec);
  });

  it("02:S-55 keeps volumes that are claims or become one", () => {
    const volumes = [
      { name: "a", persistentVolumeClaim: { claimName: "data", readOnly: true } },
      { name: "b", ephemeral: { volumeClaimTemplate: { spec: { storageClassName: "fast" } } } },
      { name: "c", configMap: { name: "x" } },
    ];
    expect(project(wirePod("a", { spec: { volumes } })).spec.volumes).toEqual([
      { name: "a", persistentVolumeClaim: { claimName: "data" } },
      volumes[1],
    ]);
  });

  it("lets replicas share their spec, and those that are bound its parts", () => {
    const projectOne = projector(builtInTypes.Pod) as unknown as (object: object) => Pod;
    const [a, b] = [projectOne(wirePod("a")), projectOne(wirePod("b"))];
    expect(b.spec).toBe(a.spec);
    expect(b.metadata.labels).toBe(a.metadata.labels);
    expect(b.metadata.ownerReferences).toBe(a.metadata.ownerReferences);
    const [c, d] = [projectOne(wirePod("c", { nodeName: "n" })), projectOne(wirePod("d", { nodeName: "m" }))];
    expect([c.spec.nodeName, d.spec.nodeName]).toEqual(["n", "m"]);
    expect(a.spec.nodeName).toBeUndefined();
    expect(d.spec.containers).toBe(c.spec.containers);
    const own = projectOne(
      wirePod("e", { spec: { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "e" } }] } }),
    );
    expect(own.spec.containers).toBe(a.spec.containers);
    expect(own.spec).not.toBe(a.spec);
  });

  it("02:A-6 keeps what containers hold where that is not what they ask for", () => {
    const held = (cpu: string) => ({ requests: { cpu } });
    const statuses = (cpu: string) => ({
      containerStatuses: [{ name: "app", resources: held(cpu), allocatedResources: { cpu } }],
      initContainerStatuses: [{ name: "sidecar", resources: held("500m") }],
    });
    expect(project(wirePod("a", { status: statuses("1") })).status?.containerStatuses).toBeUndefined();
    for (const status of [
      statuses("1"),
      statuses("3"),
      statuses("500m"),
      { ...statuses("500m"), conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible" }] },
    ]) {
      const wire = wirePod("a", { status }) as unknown as Pod;
      expect(written(podRequests(project(wire)))).toEqual(written(podRequests(wire)));
      expect(written(podLimits(project(wire)))).toEqual(written(podLimits(wire)));
    }
  });
});

describe("projections: sidecars", () => {
  const project = (object: object) => projector(builtInTypes.Pod)(object) as unknown as Pod;
  const sidecar = (cpu: string, allocated = cpu) => ({
    name: "sidecar",
    resources: { requests: { cpu } },
    allocatedResources: { cpu: allocated },
  });
  const app = { name: "app", resources: { requests: { cpu: "1" } } };
  it.each([
    ["grows", { initContainerStatuses: [sidecar("2")] }, "3"],
    [
      "grows beside a container that does not",
      { containerStatuses: [app], initContainerStatuses: [sidecar("2")] },
      "3",
    ],
    ["has been promised more", { initContainerStatuses: [sidecar("500m", "4")] }, "5"],
    ["shrinks", { initContainerStatuses: [sidecar("100m")] }, "1500m"],
  ])("02:A-6 a sidecar that %s counts with what it holds", (_, status, cpu) => {
    const wire = wirePod("a", { status }) as unknown as Pod;
    expect(written(podRequests(project(wire)))).toMatchObject({ cpu });
    expect(written(podRequests(project(wire)))).toEqual(written(podRequests(wire)));
  });
});

describe("projections: other kinds", () => {
  it("nodes keep what is read; a heartbeat says nothing new", () => {
    const wire = (heartbeat: string) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: "n",
        uid: "u",
        resourceVersion: heartbeat,
        labels: { a: "b" },
        annotations: { c: "d" },
        finalizers: ["f"],
        managedFields: [],
      },
      spec: {
        providerID: "id",
        podCIDR: "10.0.0.0/24",
        unschedulable: true,
        taints: [{ key: "t", effect: "NoSchedule" }],
      },
      status: {
        capacity: { cpu: "4" },
        allocatable: { cpu: "3" },
        images: [{ names: ["x"] }],
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        nodeInfo: { kubeletVersion: "v1.33.0", architecture: "amd64", bootID: "x", machineID: "y" },
        conditions: [
          {
            type: "Ready",
            status: "True",
            reason: "Ok",
            message: "m",
            lastHeartbeatTime: heartbeat,
            lastTransitionTime: "t",
          },
        ],
      },
    });
    const project = projector(builtInTypes.Node);
    const [first, second] = [project(wire("1")) as unknown as Node, project(wire("2")) as unknown as Node];
    expect(JSON.parse(JSON.stringify(first))).toEqual({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: "n",
        uid: "u",
        resourceVersion: "1",
        labels: { a: "b" },
        annotations: { c: "d" },
        finalizers: ["f"],
      },
      spec: { providerID: "id", unschedulable: true, taints: [{ key: "t", effect: "NoSchedule" }] },
      status: {
        capacity: { cpu: "4" },
        allocatable: { cpu: "3" },
        nodeInfo: { kubeletVersion: "v1.33.0", architecture: "amd64" },
        conditions: [{ type: "Ready", status: "True", reason: "Ok", lastTransitionTime: "t" }],
      },
    });
    expect({ ...second, metadata: undefined }).toEqual({ ...first, metadata: undefined });
    expect(second.status?.capacity).toBe(first.status?.capacity);
  });

  it.each([
    [karpenterTypes.NodeClaim],
    [karpenterTypes.NodePool],
    [builtInTypes.PersistentVolumeClaim],
    [builtInTypes.DaemonSet],
  ])("%j loses its managed fields alone", (type) => {
    const object = { apiVersion: "v1", kind: type.kind, metadata: { name: "n", labels: { a: "b" } }, spec: { x: 1 } };
    const project = projector(type);
    expect(project({ ...object, metadata: { ...object.metadata, managedFields: [{}] } })).toEqual(object);
    expect(project(object)).toEqual(object);
  });

  it("share nothing between two calls", () => {
    expect(viewProjections().get(builtInTypes.Pod)).not.toBe(viewProjections().get(builtInTypes.Pod));
  });
});
