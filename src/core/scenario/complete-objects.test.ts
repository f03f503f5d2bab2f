import { describe, expect, it } from "vitest";
import { instanceType } from "../../../test/builders/instance-type.ts";
import type { KubeObject, ObjectMeta } from "../../api/object.ts";
import { completeObjects } from "./complete-objects.ts";

const nowMs = Date.parse("2026-01-15T12:00:00Z");
const world = {
  nowMs,
  typesFor: () => [instanceType("m.large").cpu(4).label("example.com/tier", "gold").build()],
  defaultNodeClass: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
};

function completed(...objects: readonly KubeObject[]): readonly KubeObject[] {
  return completeObjects(objects, world);
}

function object(kind: string, spec?: unknown, more: Partial<KubeObject> = {}): KubeObject {
  const ours = kind === "NodePool" || kind === "NodeClaim";
  return {
    apiVersion: ours ? "karpenter.sh/v1" : "v1",
    kind,
    metadata: { name: "x" },
    ...(spec !== undefined && { spec }),
    ...more,
  };
}

const container = (more: Readonly<Record<string, unknown>> = {}) => ({ containers: [{ name: "app", ...more }] });
const withMeta = (one: KubeObject, metadata: ObjectMeta): KubeObject => ({
  ...one,
  metadata: { ...one.metadata, ...metadata },
});

describe("completing what a cluster fills in", () => {
  it("gives everything an identity and an age by its place, and adds missing namespaces", () => {
    const all = completed(
      object("Pod", container()),
      withMeta(object("Pod", container()), { name: "y", namespace: "shop" }),
    );
    expect(
      all.map(({ kind, metadata }) => [
        kind,
        metadata.name,
        metadata.namespace,
        metadata.uid?.at(-1),
        metadata.creationTimestamp,
      ]),
    ).toEqual([
      ["Pod", "x", "default", "0", "1970-01-01T00:00:00Z"],
      ["Pod", "y", "shop", "1", "1970-01-01T00:00:01Z"],
      ["Namespace", "default", undefined, "2", "1970-01-01T00:00:02Z"],
      ["Namespace", "shop", undefined, "3", "1970-01-01T00:00:03Z"],
    ]);
    expect(all[3]?.metadata.labels).toEqual({ "kubernetes.io/metadata.name": "shop" });
  });

  it("never changes what is said", () => {
    const metadata = {
      name: "x",
      namespace: "n",
      uid: "u",
      creationTimestamp: "2020-01-01T00:00:00Z",
      deletionTimestamp: "2021-01-01T00:00:00Z",
      finalizers: ["f"],
    };
    const [pod] = completed({
      ...object("Pod", container()),
      metadata,
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "True" }] },
    });
    expect(pod?.metadata).toEqual(metadata);
    expect(pod?.status).toEqual({ phase: "Pending", conditions: [{ type: "PodScheduled", status: "True" }] });
  });

  it("puts a finalizer on what is being deleted: without one it would be gone", () => {
    const [pod] = completed(withMeta(object("Pod", container()), { deletionTimestamp: "2026-01-01T00:00:00Z" }));
    expect(pod?.metadata.finalizers).toEqual(["karpenter.sh/termination"]);
  });

  it.each([
    ["waits for a node", {}, "Pending", "Unschedulable"],
    ["waits for its gates", { schedulingGates: [{ name: "g" }] }, "Pending", "SchedulingGated"],
    ["runs where it is bound", { nodeName: "n" }, "Running", undefined],
  ])("02:P-1 a pod %s", (_, spec, phase, reason) => {
    const [pod] = completed(object("Pod", { ...container(), ...spec }));
    const conditions = reason && [{ type: "PodScheduled", status: "False", reason }];
    expect(pod?.status).toEqual({ phase, ...(conditions && { conditions }) });
  });

  it("fills requests from limits, TCP, host ports and priorities", () => {
    const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 9, protocol: "UDP" }];
    const spec = {
      ...container({ resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "1" } }, ports }),
      initContainers: [{ name: "init", ports: [{ containerPort: 7 }] }],
      hostNetwork: true,
      priorityClassName: "vip",
    };
    const classes: KubeObject = {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "vip" },
      ...({ value: 7 } as object),
    };
    const [pod] = completed(object("Pod", spec), classes);
    expect(pod?.spec).toMatchObject({
      priority: 7,
      containers: [
        {
          resources: { requests: { cpu: "1", memory: "1Gi" } },
          ports: [
            { containerPort: 80, hostPort: 80, protocol: "TCP" },
            { containerPort: 81, hostPort: 9, protocol: "UDP" },
          ],
        },
      ],
      initContainers: [{ ports: [{ containerPort: 7, protocol: "TCP" }] }],
    });
    const [critical] = completed(object("Pod", { ...container(), priorityClassName: "system-node-critical" }));
    expect(critical?.spec).toMatchObject({ priority: 2_000_001_000 });
  });

  it("01 §1.2 gives a pool its defaults and the conditions of a healthy one; what it is told decides Ready", () => {
    const given = { type: "NodeClassReady", status: "False", reason: "NodeClassNotFound", message: "" };
    const spec = { template: { spec: { requirements: [] } }, disruption: { budgets: [{ schedule: "@daily" }] } };
    const [healthy, sick] = completed(object("NodePool", spec), {
      ...object("NodePool", spec),
      status: { conditions: [given] },
    });
    expect(healthy?.spec).toEqual({
      template: { spec: { requirements: [], expireAfter: "720h" } },
      disruption: {
        consolidateAfter: "0s",
        consolidationPolicy: "WhenEmptyOrUnderutilized",
        budgets: [{ schedule: "@daily", nodes: "10%" }],
      },
    });
    const statuses = (pool: KubeObject | undefined) =>
      Object.fromEntries(conditionsOf(pool).map(({ type, status }) => [type, status]));
    expect(statuses(healthy)).toEqual({
      ValidationSucceeded: "True",
      NodeClassReady: "True",
      NodeRegistrationHealthy: "True",
      Ready: "True",
    });
    expect(statuses(sick)).toMatchObject({ NodeClassReady: "False", Ready: "False" });
  });

  it("makes one machine of a claim and the Node of its name, sized and labelled by its type", () => {
    const labels = { "node.kubernetes.io/instance-type": "m.large", "karpenter.sh/nodepool": "p" };
    const [claim, node] = completed(withMeta(object("NodeClaim"), { labels }), object("Node"));
    expect(claim).toMatchObject({
      metadata: {
        creationTimestamp: "2026-01-14T12:00:00Z",
        labels: { ...labels, "karpenter.kwok.sh/kwoknodeclass": "default", "example.com/tier": "gold" },
      },
      spec: { nodeClassRef: world.defaultNodeClass, requirements: [] },
      status: { nodeName: "x", providerID: "plan://x", capacity: { cpu: "4" } },
    });
    expect(node).toMatchObject({
      metadata: {
        labels: {
          ...labels,
          "kubernetes.io/hostname": "x",
          "karpenter.sh/registered": "true",
          "karpenter.sh/initialized": "true",
          "example.com/tier": "gold",
        },
      },
      spec: { providerID: "plan://x" },
      status: { capacity: { cpu: "4" }, conditions: [{ type: "Ready", status: "True" }] },
    });
  });

  it("finds the Node by status.nodeName or provider ID as well, and marks it only as far as the claim has come", () => {
    const young = { conditions: [{ type: "Initialized", status: "False" }] };
    const byName = { ...object("NodeClaim"), metadata: { name: "c1" }, status: { ...young, nodeName: "x" } };
    const [, node] = completed(byName, object("Node"));
    expect(node?.metadata.labels).toMatchObject({ "karpenter.sh/registered": "true" });
    expect(node?.metadata.labels).not.toHaveProperty(["karpenter.sh/initialized"]);
    const byId = { ...object("NodeClaim"), metadata: { name: "c2" }, status: { providerID: "id://1" } };
    const [claim] = completed(byId, object("Node", { providerID: "id://1" }));
    expect(claim?.status).toMatchObject({ nodeName: "x", providerID: "id://1" });
  });

  it("keeps a claim without a Node in flight", () => {
    const [claim] = completed(object("NodeClaim"));
    expect(conditionsOf(claim).map(({ type }) => type)).toEqual(["Launched"]);
    expect(claim?.status).toMatchObject({ providerID: "plan://x" });
    const failed = { conditions: [{ type: "Launched", status: "False" }] };
    expect(completed({ ...object("NodeClaim"), status: failed })[0]?.status).not.toHaveProperty("providerID");
  });
});

interface TypeAndStatus {
  readonly type: string;
  readonly status: string;
}

function conditionsOf(one: KubeObject | undefined): readonly TypeAndStatus[] {
  const { conditions = [] } = (one?.status ?? {}) as { readonly conditions?: readonly TypeAndStatus[] };
  return conditions;
}
