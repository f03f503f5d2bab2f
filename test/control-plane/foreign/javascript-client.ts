import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from "@kubernetes/client-node";
import { beforeAll, expect, it } from "vitest";

function configMap(name: string, data: Record<string, string> = {}): V1ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { made: "js" } }, data };
}

/** Resolves when a condition that changes from outside holds. */
async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue() && tries < 500; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(isTrue()).toBe(true);
}

/** What programs do with the official JavaScript client; it must not matter whose server answers. */
export function javascriptClientScenario(kubeconfig: () => string): void {
  const namespace = "js-client";
  const config = new KubeConfig();

  beforeAll(async () => {
    config.loadFromString(kubeconfig());
    const body = { metadata: { name: namespace } };
    await config.makeApiClient(CoreV1Api).createNamespace({ body });
  });

  it("05 §5 the official JavaScript client lists, page by page and by label", async () => {
    const core = config.makeApiClient(CoreV1Api);
    const { items } = await core.listNamespace();
    expect(items.map(({ metadata }) => metadata?.name)).toContain("default");
    for (const name of ["a", "b", "c"]) await core.createNamespacedConfigMap({ namespace, body: configMap(name) });
    const first = await core.listNamespacedConfigMap({ namespace, labelSelector: "made=js", limit: 2 });
    const rest = await core.listNamespacedConfigMap({
      namespace,
      labelSelector: "made=js",
      limit: 2,
      ...(first.metadata?._continue !== undefined && { _continue: first.metadata._continue }),
    });
    expect([...first.items, ...rest.items].map(({ metadata }) => metadata?.name)).toEqual(["a", "b", "c"]);
    expect(first.items[0]?.metadata?.creationTimestamp).toBeInstanceOf(Date);
  });

  it("05 §5 it patches: JSON, merge, strategic, server-side apply", async () => {
    const core = config.makeApiClient(CoreV1Api);
    const apps = config.makeApiClient(AppsV1Api);
    await core.createNamespacedConfigMap({ namespace, body: configMap("patched", { a: "1" }) });
    const as = (strategy: PatchStrategy) => setHeaderOptions("Content-Type", strategy);
    const target = { namespace, name: "patched" };
    await core.patchNamespacedConfigMap(
      { ...target, body: [{ op: "replace", path: "/data/a", value: "2" }] },
      as(PatchStrategy.JsonPatch),
    );
    await core.patchNamespacedConfigMap({ ...target, body: { data: { b: "3" } } }, as(PatchStrategy.MergePatch));
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "patched" }, data: { c: "4" } };
    const applied = await core.patchNamespacedConfigMap(
      { ...target, body, fieldManager: "js" },
      as(PatchStrategy.ServerSideApply),
    );
    expect(applied.data).toEqual({ a: "2", b: "3", c: "4" });
    expect(applied.metadata?.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).toContain(
      "js Apply",
    );

    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } };
    await apps.createNamespacedDeployment({
      namespace,
      body: { metadata: { name: "web" }, spec: { selector: { matchLabels: labels }, template } },
    });
    const strategic = { spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } } };
    const web = await apps.patchNamespacedDeployment(
      { namespace, name: "web", body: strategic },
      as(PatchStrategy.StrategicMergePatch),
    );
    expect(web.spec?.template.spec?.containers.map(({ name }) => name).sort()).toEqual(["main", "side"]);
  });

  it("05 §5 it watches, and is told where it cannot", async () => {
    const core = config.makeApiClient(CoreV1Api);
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const seen: string[] = [];
    const watching = await new Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { resourceVersion: metadata?.resourceVersion, labelSelector: "made=js" },
      (type: string, object: V1ConfigMap) => seen.push(`${type} ${object.metadata?.name}`),
      () => {},
    );
    await core.createNamespacedConfigMap({ namespace, body: configMap("watched") });
    await core.replaceNamespacedConfigMap({ namespace, name: "watched", body: configMap("watched", { a: "1" }) });
    await core.deleteNamespacedConfigMap({ namespace, name: "watched" });
    await until(() => seen.length >= 3);
    watching.abort();
    expect(seen).toEqual(["ADDED watched", "MODIFIED watched", "DELETED watched"]);

    const error = await core.readNamespacedConfigMap({ namespace, name: "missing" }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiException);
    expect((error as ApiException<unknown>).code).toBe(404);
  });

  it("05 §5 its informer keeps a copy", async () => {
    const core = config.makeApiClient(CoreV1Api);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }));
    await informer.start();
    await core.createNamespacedConfigMap({ namespace, body: configMap("informed") });
    await until(() => informer.get("informed", namespace) !== undefined);
    await core.deleteNamespacedConfigMap({ namespace, name: "informed" });
    await until(() => informer.get("informed", namespace) === undefined);
    await informer.stop();
  });
}
