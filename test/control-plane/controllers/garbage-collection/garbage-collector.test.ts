import { afterEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../src/api/object.ts";
import {
  unwatchedKinds,
  watchedKinds,
} from "../../../../src/control-plane/controllers/garbage-collection/watched-kinds.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { deployment, type WorkloadWorld, workloadWorld } from "../workloads/workload-world.ts";

let cluster: WorkloadWorld;
afterEach(() => cluster.stop());

function configMap(name: string, owners: readonly KubeObject[], more: object = {}) {
  const ownerReferences = owners.map(({ apiVersion, kind, metadata }) => ({
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    ...more,
  }));
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences } };
}

async function names(type = builtInTypes.ConfigMap): Promise<readonly (string | undefined)[]> {
  return (await cluster.list(type)).map(({ metadata }) => metadata.name);
}

describe("owner garbage collection", () => {
  it("05:CP-L7 background: the deployment goes at once, then its sets, then its pods", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web"));
    await cluster.pass(5);
    await cluster.delete(builtInTypes.Deployment, "web", "Background");
    expect(await cluster.get(builtInTypes.Deployment, "web")).toBeUndefined();
    await cluster.pass(10);
    expect(await names(builtInTypes.ReplicaSet)).toEqual([]);
    expect(await names(builtInTypes.Pod)).toEqual([]);
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L7 foreground: the deployment stays until all that blocks it is gone", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web"));
    await cluster.pass(5);
    await cluster.delete(builtInTypes.Deployment, "web", "Foreground");
    await cluster.pass(0.5);
    expect((await cluster.get(builtInTypes.Deployment, "web"))?.metadata.finalizers).toEqual(["foregroundDeletion"]);
    const sets = await cluster.list(builtInTypes.ReplicaSet);
    expect(sets.map(({ metadata }) => metadata.finalizers)).toEqual([["foregroundDeletion"]]);
    const pods = await cluster.list(builtInTypes.Pod);
    expect(pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
    expect(pods).toHaveLength(3);
    await cluster.pass(10);
    expect(await cluster.get(builtInTypes.Deployment, "web")).toBeUndefined();
    expect(await names(builtInTypes.ReplicaSet)).toEqual([]);
    expect(await names(builtInTypes.Pod)).toEqual([]);
  });

  it("05:CP-L7 orphan: what belonged to it stays and belongs to nobody", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web"));
    await cluster.pass(5);
    await cluster.delete(builtInTypes.Deployment, "web", "Orphan");
    await cluster.pass(10);
    expect(await cluster.get(builtInTypes.Deployment, "web")).toBeUndefined();
    const [set] = await cluster.list(builtInTypes.ReplicaSet);
    expect(set?.metadata.ownerReferences ?? []).toEqual([]);
    expect(await names(builtInTypes.Pod)).toHaveLength(3);
  });

  it("05:CP-L7 an object goes with its last owner; owners that are gone are forgotten", async () => {
    cluster = await workloadWorld();
    const one = await cluster.create(configMap("one", []));
    const two = await cluster.create(configMap("two", []));
    await cluster.create(configMap("both", [one, two]));
    await cluster.create(configMap("lost", [{ ...one, metadata: { name: "never", uid: "0000" } }]));
    await cluster.create(
      configMap("stranger", [{ apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "x", uid: "1" } }]),
    );
    await cluster.create(configMap("renamed", [{ ...one, metadata: { ...one.metadata, uid: "another" } }]));
    await cluster.pass(1);
    // An owner of a kind nobody knows is no reason to delete anything.
    expect(await names()).toEqual(["both", "one", "stranger", "two"]);
    await cluster.delete(builtInTypes.ConfigMap, "one");
    await cluster.pass(1);
    const both = await cluster.get(builtInTypes.ConfigMap, "both");
    expect(both?.metadata.ownerReferences?.map(({ name }) => name)).toEqual(["two"]);
    await cluster.delete(builtInTypes.ConfigMap, "two");
    await cluster.pass(1);
    expect(await names()).toEqual(["stranger"]);
  });

  it("05:CP-L7 foreground waits for those that block alone", async () => {
    cluster = await workloadWorld();
    const owner = await cluster.create(configMap("owner", []));
    const held = configMap("held", [owner], { blockOwnerDeletion: true });
    await cluster.create({ ...held, metadata: { ...held.metadata, finalizers: ["test/hold"] } });
    const free = configMap("free", [owner]);
    await cluster.create({ ...free, metadata: { ...free.metadata, finalizers: ["test/hold"] } });
    await cluster.pass(1);
    await cluster.delete(builtInTypes.ConfigMap, "owner", "Foreground");
    await cluster.pass(5);
    expect(await names()).toEqual(["free", "held", "owner"]);
    await cluster.patch(builtInTypes.ConfigMap, "held", { metadata: { finalizers: null } });
    await cluster.pass(1);
    expect(await names()).toEqual(["free"]);
  });

  it("05:CP-L7 follows kinds that are defined at runtime, and leases of nodes that nobody watches", async () => {
    cluster = await workloadWorld();
    const names_ = { plural: "things", kind: "Thing", singular: "thing" };
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await cluster.create({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: names_,
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    await cluster.pass(1);
    const thing = await cluster.create({ apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "x" } });
    await cluster.create(configMap("of-thing", [thing]));
    const node = await cluster.get(builtInTypes.Node, "n1");
    const reference = { apiVersion: "v1", kind: "Node", name: "n1", uid: node?.metadata.uid };
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "n1", namespace: "kube-node-lease", ownerReferences: [reference] },
      spec: {},
    };
    await cluster.create(lease);
    await cluster.pass(1);
    expect(await names()).toEqual(["of-thing"]);
    expect(cluster.api.watcherCount(cluster.api.kinds.get(builtInTypes.Lease))).toBe(0);
    const type = { group: "example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true };
    await cluster.delete(type, "x");
    await cluster.delete(builtInTypes.Node, "n1");
    await cluster.pass(1);
    expect(await names()).toEqual([]);
    expect((await cluster.client.list(builtInTypes.Lease, { namespace: "kube-node-lease" })).items).toEqual([]);
    expect(cluster.failures).toEqual([]);
  });

  it("05 §5 no kind that can be listed and deleted is left out", async () => {
    cluster = await workloadWorld();
    const known = new Set([...watchedKinds, ...unwatchedKinds].map(({ plural, group }) => `${plural}.${group}`));
    const served = cluster.api.kinds
      .all()
      .filter(
        ({ verbs, conversion }) => verbs.includes("delete") && verbs.includes("watch") && conversion === undefined,
      );
    expect(served.length).toBeGreaterThan(40);
    expect(served.map(({ plural, group }) => `${plural}.${group}`).filter((one) => !known.has(one))).toEqual([]);
    const missing = watchedKinds.filter(
      ({ plural, group }) => !served.some((one) => one.plural === plural && one.group === group),
    );
    expect(missing).toEqual([]);
  });
});

describe("namespaces", () => {
  it("05:CP-L8 a namespace goes when all in it is gone, and says meanwhile what is left", async () => {
    cluster = await workloadWorld();
    await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    const web = deployment("web");
    await cluster.create({ ...web, metadata: { name: "web", namespace: "team" } });
    await cluster.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "held", namespace: "team", finalizers: ["test/hold"] },
    });
    await cluster.pass(5);
    await cluster.delete(builtInTypes.Namespace, "team");
    await cluster.pass(10);
    const leaving = await cluster.get<
      KubeObject & {
        status?: { phase?: string; conditions?: readonly { type: string; status: string; message: string }[] };
      }
    >(builtInTypes.Namespace, "team");
    expect(leaving?.status?.phase).toBe("Terminating");
    const remaining = leaving?.status?.conditions?.filter(({ status }) => status === "True");
    expect(remaining?.map(({ type, message }) => [type, message])).toEqual([
      ["NamespaceContentRemaining", "Some resources are remaining: configmaps. has 1 resource instances"],
      [
        "NamespaceFinalizersRemaining",
        "Some content in the namespace has finalizers remaining: test/hold in 1 resource instances",
      ],
    ]);
    await cluster.client.patch(
      builtInTypes.ConfigMap,
      { name: "held", namespace: "team" },
      { kind: "merge", body: { metadata: { finalizers: null } } },
    );
    await cluster.pass(10);
    expect(await cluster.get(builtInTypes.Namespace, "team")).toBeUndefined();
    for (const type of [builtInTypes.Pod, builtInTypes.ReplicaSet, builtInTypes.Deployment, builtInTypes.Event]) {
      expect((await cluster.client.list(type, { namespace: "team" })).items).toEqual([]);
    }
  });
});
