import { afterEach, describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import type { ControllerRevision, StatefulSet } from "../../../../src/control-plane/controllers/workloads/types.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { brokenImage } from "./test-kubelet.ts";
import { newImage, template, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

let cluster: WorkloadWorld;
afterEach(() => cluster.stop());

function statefulSet(spec: object = {}, image = "app:1") {
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db" },
    spec: {
      replicas: 3,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: template("db", { image }),
      volumeClaimTemplates: [claim],
      ...spec,
    },
  };
}

async function pods(): Promise<readonly ApiPod[]> {
  return cluster.list<ApiPod>(builtInTypes.Pod);
}

async function images(): Promise<Readonly<Record<string, string | undefined>>> {
  return Object.fromEntries((await pods()).map(({ metadata, spec }) => [metadata.name, spec.containers?.[0]?.image]));
}

describe("stateful sets on the embedded control plane", () => {
  it("05:CP-L3 makes pods in order, each with its name, labels and claim", async () => {
    cluster = await workloadWorld({ readyAfterMs: 10_000 });
    await cluster.create(statefulSet());
    await cluster.pass(5);
    expect((await pods()).map(({ metadata }) => metadata.name)).toEqual(["db-0"]);
    await cluster.pass(10);
    expect((await pods()).map(({ metadata }) => metadata.name)).toEqual(["db-0", "db-1"]);
    await cluster.pass(20);
    const all = await pods();
    expect(all.map(({ metadata }) => metadata.name)).toEqual(["db-0", "db-1", "db-2"]);
    const set = await cluster.get<StatefulSet>(builtInTypes.StatefulSet, "db");
    const revision = set?.status?.currentRevision ?? "";
    expect(revision).toMatch(/^db-[a-z0-9]+$/);
    expect(all[1]?.metadata.labels).toEqual({
      app: "db",
      "apps.kubernetes.io/pod-index": "1",
      "controller-revision-hash": revision,
      "statefulset.kubernetes.io/pod-name": "db-1",
    });
    expect(all[1]?.spec).toMatchObject({
      hostname: "db-1",
      subdomain: "db",
      volumes: expect.arrayContaining([{ name: "data", persistentVolumeClaim: { claimName: "data-db-1" } }]),
    });
    const claims = await cluster.list(builtInTypes.PersistentVolumeClaim);
    expect(claims.map(({ metadata }) => metadata.name)).toEqual(["data-db-0", "data-db-1", "data-db-2"]);
    expect(set?.status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: revision,
      updateRevision: revision,
      collisionCount: 0,
    });
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L3 scales down from the highest, keeps the claims, and finds them again", async () => {
    cluster = await workloadWorld();
    await cluster.create(statefulSet());
    await cluster.pass(20);
    const claim = await cluster.get(builtInTypes.PersistentVolumeClaim, "data-db-2");
    await cluster.patch(builtInTypes.StatefulSet, "db", { spec: { replicas: 1 } });
    await cluster.pass(0.5);
    const leaving = (await pods()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(leaving.map(({ metadata }) => metadata.name)).toEqual(["db-2"]);
    await cluster.pass(20);
    expect(Object.keys(await images())).toEqual(["db-0"]);
    await cluster.patch(builtInTypes.StatefulSet, "db", { spec: { replicas: 3 } });
    await cluster.pass(20);
    const again = await cluster.get(builtInTypes.PersistentVolumeClaim, "data-db-2");
    expect(again?.metadata.uid).toBe(claim?.metadata.uid);
    expect(Object.keys(await images())).toEqual(["db-0", "db-1", "db-2"]);
  });

  it("05:CP-L3 rolls from the highest down to the partition, and lost pods below it come back as they were", async () => {
    cluster = await workloadWorld();
    await cluster.create(statefulSet({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }));
    await cluster.pass(20);
    await cluster.patch(builtInTypes.StatefulSet, "db", newImage("app:2"));
    await cluster.pass(20);
    expect(await images()).toEqual({ "db-0": "app:1", "db-1": "app:1", "db-2": "app:2" });
    await cluster.delete(builtInTypes.Pod, "db-0");
    await cluster.pass(20);
    expect(await images()).toEqual({ "db-0": "app:1", "db-1": "app:1", "db-2": "app:2" });
    const half = await cluster.get<StatefulSet>(builtInTypes.StatefulSet, "db");
    expect(half?.status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
    expect(half?.status?.currentRevision).not.toBe(half?.status?.updateRevision);

    const rolling = { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } };
    await cluster.patch(builtInTypes.StatefulSet, "db", rolling);
    await cluster.pass(30);
    expect(await images()).toEqual({ "db-0": "app:2", "db-1": "app:2", "db-2": "app:2" });
    const done = await cluster.get<StatefulSet>(builtInTypes.StatefulSet, "db");
    expect(done?.status?.currentRevision).toBe(done?.status?.updateRevision);
    const revisions = await cluster.list<ControllerRevision>(builtInTypes.ControllerRevision);
    expect(revisions.map(({ revision }) => revision).sort()).toEqual([1, 2]);
  });

  it("05:CP-L3 a broken version stops at the first pod", async () => {
    cluster = await workloadWorld();
    await cluster.create(statefulSet());
    await cluster.pass(20);
    await cluster.patch(builtInTypes.StatefulSet, "db", newImage(brokenImage));
    await cluster.pass(60);
    expect(await images()).toEqual({ "db-0": "app:1", "db-1": "app:1", "db-2": brokenImage });
  });

  it("05:CP-L3 parallel sets make all pods at once, from the ordinal they start at", async () => {
    cluster = await workloadWorld({ readyAfterMs: 60_000 });
    await cluster.create(statefulSet({ podManagementPolicy: "Parallel", ordinals: { start: 5 } }));
    await cluster.pass(1);
    expect(Object.keys(await images())).toEqual(["db-5", "db-6", "db-7"]);
  });

  it("05:CP-L3 claims go with scaled down pods or with the set where they are told to", async () => {
    cluster = await workloadWorld();
    await cluster.create(
      statefulSet({ persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" } }),
    );
    await cluster.pass(20);
    await cluster.patch(builtInTypes.StatefulSet, "db", { spec: { replicas: 2 } });
    await cluster.pass(20);
    const left = await cluster.list(builtInTypes.PersistentVolumeClaim);
    expect(left.map(({ metadata }) => metadata.name)).toEqual(["data-db-0", "data-db-1"]);
    await cluster.delete(builtInTypes.StatefulSet, "db");
    await cluster.pass(20);
    expect(await pods()).toEqual([]);
    expect(await cluster.list(builtInTypes.PersistentVolumeClaim)).toEqual([]);
  });
});
