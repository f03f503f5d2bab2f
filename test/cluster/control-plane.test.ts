import { afterAll, expect, it } from "vitest";
import { isRecord } from "../../src/api/object.ts";
import { startControlPlane } from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { applyCrds, connect, deleteAll, itemsOf } from "./kube.ts";
import { describeOnCluster } from "./shared.ts";

describeOnCluster("control plane", (cluster) => {
  const kube = connect(cluster);
  afterAll(() => kube.close());

  it("is Kubernetes v1.36.1", async () => {
    const { status, body } = await kube.request("GET", "/version");

    expect(status).toBe(200);
    expect(body).toMatchObject({ major: "1", minor: "36", gitVersion: "v1.36.1" });
  });

  it("lets nobody in without its token", async () => {
    const stranger = connect({ ...cluster, token: "guessed" });
    const { status } = await stranger.request("GET", "/api/v1/namespaces");
    stranger.close();

    expect(status).toBe(401);
  });

  it("makes the pods of a Deployment, which stay pending without nodes", async () => {
    await kube.request("POST", "/api/v1/namespaces", namespace("deployed"));
    const created = await kube.request("POST", "/apis/apps/v1/namespaces/deployed/deployments", deployment("web", 3));
    expect(created.status).toBe(201);

    const replicaSets = await list("/apis/apps/v1/namespaces/deployed/replicasets", 1);
    expect(replicaSets.map(({ metadata }) => metadata.ownerReferences?.[0]?.name)).toEqual(["web"]);
    const pods = "/api/v1/namespaces/deployed/pods";
    await list(pods, 3);
    const judged = await eventually("the scheduler judges every pod", async () => {
      const reasons = itemsOf((await kube.request("GET", pods)).body).map(({ status }) => schedulingOf(status));
      return reasons.every((reason) => reason !== undefined) ? reasons : undefined;
    });
    expect(judged).toEqual(Array(3).fill({ phase: "Pending", status: "False", reason: "Unschedulable" }));

    await deleteAll(cluster, "/apis/apps/v1/deployments");
    await eventually("the pods of the deleted Deployment are collected", async () =>
      itemsOf((await kube.request("GET", pods)).body).length === 0 ? true : undefined,
    );
  });

  it("serves a definition once applyCrds returns, and its new schema after a second time", async () => {
    await applyCrds(cluster, [widgetCrd({ maximum: 1 })]);
    const create = (size: number) =>
      kube.request("POST", "/apis/test.karpenter.sh/v1/widgets", widget("w", size), { query: { dryRun: "All" } });
    expect((await create(1)).status).toBe(201);
    expect((await create(2)).status).toBe(422);

    await applyCrds(cluster, [widgetCrd({ maximum: 2 })]);
    await eventually("the new schema is in force", async () => (await create(2)).status === 201 || undefined);
  });

  it("deleteAll empties a collection, finalizers or not", async () => {
    const widgets = "/apis/test.karpenter.sh/v1/widgets";
    await applyCrds(cluster, [widgetCrd({ maximum: 1 })]);
    for (const name of ["a", "b"]) expect((await kube.request("POST", widgets, widget(name, 1))).status).toBe(201);

    await deleteAll(cluster, widgets);

    expect(itemsOf((await kube.request("GET", widgets)).body)).toEqual([]);
  });

  const list = (path: string, atLeast: number) =>
    eventually(`${atLeast} objects at ${path}`, async () => {
      const items = itemsOf((await kube.request("GET", path)).body);
      return items.length >= atLeast ? items : undefined;
    });
});

describeOnCluster("startControlPlane", () => {
  it("starts all four programs, and stop() leaves none of them", async () => {
    const { pids, stop } = await startControlPlane();
    expect(pids.map(isRunning)).toEqual([true, true, true, true]);

    await stop();

    expect(pids.map(isRunning)).toEqual([false, false, false, false]);
  });

  it("starts a component anew, which goes on with its work", async () => {
    const { pids, restart, stop, ...connection } = await startControlPlane();
    await restart("kube-controller-manager", "fast");
    expect(pids.filter(isRunning)).toHaveLength(3);

    const kube = connect(connection);
    await kube.request("POST", "/api/v1/namespaces", namespace("new"));
    await eventually("the controller manager makes a service account", async () => {
      const { status } = await kube.request("GET", "/api/v1/namespaces/new/serviceaccounts/default");
      return status === 200 || undefined;
    });
    kube.close();
    await stop();
  });

  it("without a controller manager accepts pods whose namespace has no service account", async () => {
    const { pids, stop, ...connection } = await startControlPlane({ components: [] });
    const kube = connect(connection);
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "lone" }, spec: podSpec };
    const { status } = await kube.request("POST", "/api/v1/namespaces/default/pods", pod);
    kube.close();
    await stop();

    expect({ status, programs: pids.length }).toEqual({ status: 201, programs: 2 });
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function schedulingOf(status: unknown): unknown {
  if (!isRecord(status) || !Array.isArray(status.conditions)) return undefined;
  const condition = status.conditions.find((one: unknown) => isRecord(one) && one.type === "PodScheduled");
  return condition && { phase: status.phase, status: condition.status, reason: condition.reason };
}

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

const podSpec = { containers: [{ name: "main", image: "example.test/main" }] };

const deployment = (name: string, replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: podSpec,
    },
  },
});

const widget = (name: string, size: number) => ({
  apiVersion: "test.karpenter.sh/v1",
  kind: "Widget",
  metadata: { name, finalizers: ["test.karpenter.sh/held"] },
  spec: { size },
});

const widgetCrd = ({ maximum }: { readonly maximum: number }) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.test.karpenter.sh" },
  spec: {
    group: "test.karpenter.sh",
    scope: "Cluster",
    names: { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: widgetSchema(maximum) } }],
  },
});

const widgetSchema = (maximum: number) => ({
  type: "object",
  properties: { spec: { type: "object", properties: { size: { type: "integer", maximum } } } },
});
