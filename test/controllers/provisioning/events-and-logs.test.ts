import { expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { CloudError } from "../../../src/cloud/cloud-error.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { nodePool } from "../../builders/node-pool.ts";
import { pod } from "../../builders/pod.ts";
import { podObject, provisioningWorld, unschedulable } from "./provisioning-world.ts";

it("02:V-3 V-4 V-5 pods that cannot be scheduled are told why, and keep no other from being scheduled", async () => {
  const { pend, create, status, round, claims, events, logged, metrics, podsOf } = await provisioningWorld();
  const matchFields = [{ key: "metadata.name", operator: "In", values: ["node-1"] }];
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  await pend(
    pod().named("restricted").on("karpenter.sh/registered", "true"),
    pod().named("homeless").volume("missing"),
    pod().named("fine"),
  );
  await status(
    await create<KubeObject>(podObject(pod().named("pinned"), { affinity: { nodeAffinity } })),
    unschedulable,
  );
  await round();

  expect(await claims()).toHaveLength(1);
  expect((await events("fine")).map(({ reason }) => reason)).toEqual(["Nominated"]);
  expect(await events("pinned")).toEqual([
    {
      type: "Warning",
      reason: "FailedScheduling",
      message: "Failed to schedule pod, node selector term with matchFields is not supported",
    },
  ]);
  expect((await events("homeless"))[0]?.message).toBe(
    'Failed to schedule pod, getting persistent volume claim, persistentvolumeclaims "missing" not found (PersistentVolumeClaim=missing)',
  );
  expect((await events("restricted"))[0]?.message).toMatch(
    /^Failed to schedule pod, using label karpenter.sh\/registered is not allowed as it might interfere/,
  );
  expect(logged("ignoring pod")).toHaveLength(3);
  expect(logged("ignoring pod")[0]).toMatchObject({ level: "debug", Pod: { namespace: "default" } });
  expect(metrics.value("scheduler_ignored_pods_count")).toBe(3);
  expect(podsOf("pinned").decision).toBeDefined();
});

it("02:V-1 a pod that asked to be left alone is, without a word", async () => {
  const { provision, events, logged, metrics } = await provisioningWorld();

  const claims = await provision(pod().named("karpenter").needs(["pool", "DoesNotExist"]));

  expect(claims).toEqual([]);
  expect(await events("karpenter")).toEqual([]);
  expect(logged("ignoring pod")[0]?.error).toBe(
    "ignoring pod, configured to not run on a Karpenter provisioned node (requirement=karpenter.sh/nodepool DoesNotExist)",
  );
  expect(metrics.value("scheduler_ignored_pods_count")).toBe(1);
});

it("02:V-5i V-5j volumes the provider cannot serve keep their pods out", async () => {
  const { create, provision, events } = await provisioningWorld({
    wrapProvider: (cloud) => ({
      ...cloud,
      unsupportedVolumes: { drivers: ["old.csi.example.com"], topologyKeys: ["topology.old.example.com/zone"] },
    }),
  });
  const storageClass = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    volumeBindingMode: "WaitForFirstConsumer",
  };
  const claim = (name: string) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default" },
    spec: { storageClassName: name, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const allowedTopologies = [{ matchLabelExpressions: [{ key: "topology.old.example.com/zone", values: ["a"] }] }];
  await create(
    { ...storageClass, metadata: { name: "driver" }, provisioner: "old.csi.example.com" },
    { ...storageClass, metadata: { name: "topology" }, provisioner: "new.csi.example.com", allowedTopologies },
    claim("driver"),
    claim("topology"),
  );

  expect(await provision(pod().named("a").volume("driver"), pod().named("b").volume("topology"))).toEqual([]);

  expect((await events("a"))[0]?.message).toContain("failed to validate pvc, provisioner is not supported");
  expect((await events("b"))[0]?.message).toContain("storage class uses unsupported topology key");
});

it("02:L-20 a pod that finds no place is told once in five minutes, and the log each time", async () => {
  const { provision, pass, client, logged } = await provisioningWorld();
  const told = async () => {
    const { items } = await client.list<KubeObject & { reason: string; count: number }>(builtInTypes.Event);
    return items.filter(({ reason }) => reason === "FailedScheduling").reduce((sum, { count }) => sum + count, 0);
  };
  await provision(pod().named("huge").cpu("1000"));
  await pass(4 * 60);
  expect(await told()).toBe(1);
  expect(logged("could not schedule pod").length).toBeGreaterThan(20);
  expect(logged("could not schedule pod")[0]).toMatchObject({
    level: "error",
    Pod: { name: "huge", namespace: "default" },
    error: expect.stringContaining("no instance type has enough resources"),
  });

  await pass(2 * 60);
  expect(await told()).toBe(2);
});

it("02:L-21 S-30 pods are told of the claim, then of the node; that node is left alone for a while", async () => {
  const { provision, launchAll, join, claims, pass, events, cluster, client } = await provisioningWorld();
  const [claim] = await provision(pod().named("web"));
  const name = claim?.metadata.name ?? "";
  expect(await events("web")).toEqual([
    { type: "Normal", reason: "Nominated", message: `Pod should schedule on: nodeclaim/${name}` },
  ]);
  expect(cluster.isNominated(`test:///${name}`)).toBe(false);

  await launchAll();
  await join((await claims())[0] as never);
  await pass(130);
  expect((await events("web")).map(({ message }) => message)).toContain(
    `Pod should schedule on: nodeclaim/${name}, node/node-of-${name}`,
  );
  expect(cluster.isNominated(`test:///${name}`)).toBe(true);

  await client.delete(builtInTypes.Pod, { name: "web", namespace: "default" }, { gracePeriodSeconds: 0 });
  await pass(21);
  expect(cluster.isNominated(`test:///${name}`)).toBe(false);
  expect(await claims()).toHaveLength(1);
});

it("02:L-21 nominations are told at five a second, the first ten at once", async () => {
  const { provision, client } = await provisioningWorld();

  await provision(...Array.from({ length: 30 }, (_, index) => pod().named(`web-${index}`).cpu("10m")));

  const { items } = await client.list<KubeObject & { reason: string }>(builtInTypes.Event);
  expect(items.filter(({ reason }) => reason === "Nominated")).toHaveLength(10);
});

it("02:L-22 T-6 a pool whose requirements leave nothing to buy is told", async () => {
  const { provision, events, logged } = await provisioningWorld({
    pools: [nodePool().requires("type", "In", "imaginary")],
  });

  await provision(pod().named("web"));

  expect(await events("default")).toEqual([
    {
      type: "Warning",
      reason: "NoCompatibleInstanceTypes",
      message: "NodePool requirements filtered out all compatible available instance types",
    },
  ]);
  expect((await events("web"))[0]?.message).toBe(
    "Failed to schedule pod, nodepool requirements filtered out all available instance types",
  );
  expect(logged("skipping, nodepool requirements filtered out all instance types")).toMatchObject([
    { NodePool: { name: "default" } },
  ]);
});

it.each([
  {
    what: "is not evaluated",
    answer: () => Promise.reject(new CloudError("unevaluated", 'nodepool "odd" is awaiting evaluation')),
    line: { level: "debug", message: "skipping, awaiting nodeoverlay evaluation" },
  },
  {
    what: "fails",
    answer: () => Promise.reject(new Error("no such region")),
    line: { level: "error", message: "skipping, unable to resolve instance types" },
  },
  {
    what: "is empty",
    answer: () => Promise.resolve([]),
    line: { level: "info", message: "skipping, no resolved instance types found" },
  },
])("02:P-34 a pool whose catalogue $what is skipped, others are not", async ({ answer, line }) => {
  const { provision, lines, events } = await provisioningWorld({
    pools: [nodePool("odd").weight(10), nodePool("even")],
    wrapProvider: (cloud) => ({
      ...cloud,
      instanceTypes: (pool) => (pool.metadata.name === "odd" ? answer() : cloud.instanceTypes(pool)),
    }),
  });

  const claims = await provision(pod().named("web"));

  expect(claims.map(({ metadata }) => metadata.labels?.["karpenter.sh/nodepool"])).toEqual(["even"]);
  expect(lines).toContainEqual(expect.objectContaining({ ...line, NodePool: { name: "odd" } }));
  expect((await events("odd")).map(({ reason }) => reason)).toEqual(["NoCompatibleInstanceTypes"]);
});

it("02:P-40 pods whose wishes can hold up consolidation are pointed out once a day", async () => {
  const antiAffine = "pod(s) have a preferred Anti-Affinity which can prevent consolidation";
  const spread = "pod(s) have a preferred TopologySpreadConstraint which can prevent consolidation";
  const wishful = [
    pod().named("apart").label("app", "a").apart("host", { app: "a" }, { weight: 1 }),
    pod().named("even").label("app", "b").spread("zone", { whenUnsatisfiable: "ScheduleAnyway" }),
    pod().named("strict").label("app", "c").spread("zone"),
  ];
  const { provision, launchAll, pass, logged } = await provisioningWorld();
  await provision(...wishful);
  await launchAll();
  await pass(60);
  expect(logged(antiAffine)).toMatchObject([{ level: "info", pods: "default/apart" }]);
  expect(logged(spread)).toMatchObject([{ level: "info", pods: "default/even" }]);

  const ignoring = await provisioningWorld({ settings: { preferencePolicy: "Ignore" } });
  await ignoring.provision(...wishful);
  expect([...ignoring.logged(antiAffine), ...ignoring.logged(spread)]).toEqual([]);
});

it("02:Y-5 a pod that waits for reserved capacity is neither refused nor told", async () => {
  const reserved = instanceType("m").cpu(4).reserved("r-1", { zone: "a", capacity: 1 });
  const { provision, events, logged, metrics } = await provisioningWorld({ types: [reserved] });

  await provision(pod().named("a").cpu("3"), pod().named("b").cpu("3"));

  expect(await events("b")).toEqual([]);
  expect(logged("could not schedule pod")).toEqual([]);
  expect(
    logged(
      "deferring scheduling decision for provisionable pod(s) to future simulation due to limited reserved offering capacity",
    ),
  ).toMatchObject([{ level: "debug", Pods: "default/b" }]);
  expect(metrics.value("scheduler_unschedulable_pods_count", { controller: "provisioner" })).toBe(0);
});

it("02:D-1 a pod that claims devices is told that we cannot help", async () => {
  const { provision, events, logged } = await provisioningWorld();

  expect(await provision(pod().named("gpu").resourceClaim("device"))).toEqual([]);

  expect((await events("gpu"))[0]?.message).toBe(
    "Failed to schedule pod, pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter",
  );
  expect(logged("could not schedule pod")).toEqual([]);
});
