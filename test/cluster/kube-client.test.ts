import { afterAll, beforeAll, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import type { KubeClient, ObjectList, WatchEvent } from "../../src/kube/client.ts";
import { bearerHeaders, fixedCredentials } from "../../src/kube/connection.ts";
import { type Event, referenceTo } from "../../src/kube/event.ts";
import { EventRecorder } from "../../src/kube/event-recorder.ts";
import { systemHostEnvironment } from "../../src/kube/host-environment.ts";
import { httpClient } from "../../src/kube/http-client.ts";
import { Informer } from "../../src/kube/informer.ts";
import { isKubeError, type KubeError } from "../../src/kube/kube-error.ts";
import { loadConnection } from "../../src/kube/kubeconfig.ts";
import { runWhileLeader } from "../../src/kube/leader-election.ts";
import type { Lease } from "../../src/kube/lease.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { socketTransport } from "../../src/kube/socket-transport.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Random } from "../../src/util/random.ts";
import { eventually } from "./eventually.ts";
import { deleteAll } from "./kube.ts";
import { describeOnCluster } from "./shared.ts";

const namespace = "kube-client";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

describeOnCluster("httpClient on a real API server", (cluster) => {
  const clock = systemClock();
  const warnings: string[] = [];
  const { url: server, ca, token } = cluster;
  const credentials = fixedCredentials({ headers: bearerHeaders(token) });
  const transport = socketTransport({ server, tls: { ca }, credentials, namespace: "default" });
  const onWarning = (text: string) => warnings.push(text);
  const kube = httpClient({ transport, clock, userAgent: "karpenter/test", onWarning });

  beforeAll(async () => {
    await kube.create(builtInTypes.Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await eventually("the namespace has its service account", () =>
      kube.get(builtInTypes.ServiceAccount, { name: "default", namespace }),
    );
  });
  afterAll(async () => {
    await deleteAll(cluster, `/api/v1/namespaces/${namespace}/pods`);
    await kube.delete(builtInTypes.Namespace, { name: namespace });
    transport.close();
  });

  const named = (name: string) => ({ name, namespace });
  const configMap = (name: string, data: ConfigMap["data"] = {}): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: named(name),
    data,
  });
  const pod = (name: string): KubeObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...named(name), labels: { app: name } },
    spec: { containers: [{ name: "main", image: "example.test/main" }] },
  });

  it("connects by a kubeconfig file", async () => {
    const machine = systemHostEnvironment({ env: {}, homeDir: "/nowhere" });
    const connection = await loadConnection({ environment: machine, clock, path: cluster.kubeconfigPath });
    const other = socketTransport(connection);
    const client = httpClient({ transport: other, clock, userAgent: "karpenter/test" });
    expect((await client.get(builtInTypes.Namespace, { name: "default" })).kind).toBe("Namespace");
    other.close();
  });

  it("creates, gets, replaces and deletes", async () => {
    const created = await kube.create<ConfigMap>(builtInTypes.ConfigMap, configMap("crud", { a: "1" }));
    expect(created.data).toEqual({ a: "1" });
    expect(Object.isFrozen(created.metadata)).toBe(true);
    expect(await kube.get(builtInTypes.ConfigMap, named("crud"))).toEqual(created);

    const updated = await kube.update<ConfigMap>(builtInTypes.ConfigMap, { ...created, data: { a: "2" } } as ConfigMap);
    expect(updated.data).toEqual({ a: "2" });
    const stale = await errorOf(kube.update(builtInTypes.ConfigMap, { ...created, data: { a: "3" } } as ConfigMap));
    expect(stale.code).toBe("conflict");

    const preconditions = { resourceVersion: created.metadata.resourceVersion ?? "" };
    expect((await errorOf(kube.delete(builtInTypes.ConfigMap, named("crud"), { preconditions }))).code).toBe(
      "conflict",
    );
    expect(await kube.delete(builtInTypes.ConfigMap, named("crud"))).toBeUndefined();
    expect((await errorOf(kube.get(builtInTypes.ConfigMap, named("crud")))).code).toBe("not-found");
    expect((await errorOf(kube.delete(builtInTypes.ConfigMap, named("crud")))).code).toBe("not-found");
  });

  it("says what was wrong: 409 twice, 404, 422, 400, 403, and no trust", async () => {
    await kube.create(builtInTypes.ConfigMap, configMap("wrong"));
    expect((await errorOf(kube.create(builtInTypes.ConfigMap, configMap("wrong")))).code).toBe("already-exists");
    const invalid = await errorOf(kube.create(builtInTypes.ConfigMap, configMap("Not A Name")));
    expect(invalid).toMatchObject({ code: "invalid", status: { details: { causes: [{ field: "metadata.name" }] } } });
    const unknown = { ...configMap("strict"), dta: {} } as ConfigMap;
    expect((await errorOf(kube.create(builtInTypes.ConfigMap, unknown, { fieldValidation: "Strict" }))).code).toBe(
      "bad-request",
    );
    const nothing = { group: "example.test", version: "v1", kind: "No", plural: "nos", namespaced: false };
    expect((await errorOf(kube.list(nothing))).code).toBe("not-found");
    const stranger = httpClient({
      transport: socketTransport({ server, tls: { ca }, credentials: fixedCredentials({ headers: {} }), namespace }),
      clock,
      userAgent: "karpenter/test",
    });
    expect((await errorOf(stranger.list(builtInTypes.Node))).code).toBe("forbidden");
    const wrongCa = socketTransport({ server, tls: {}, credentials, namespace });
    const unsafe = httpClient({ transport: wrongCa, clock, userAgent: "karpenter/test" });
    expect(await errorOf(unsafe.list(builtInTypes.Node))).toMatchObject({ code: "unavailable", status: undefined });
  });

  it("tells warnings", async () => {
    warnings.length = 0;
    await kube.create(builtInTypes.ConfigMap, { ...configMap("warned"), dta: {} } as ConfigMap, {
      fieldValidation: "Warn",
    });
    expect(warnings).toEqual(['unknown field "dta"']);
  });

  it("writes nothing on a dry run", async () => {
    await kube.create(builtInTypes.ConfigMap, configMap("dry"), { dryRun: true });
    expect((await errorOf(kube.get(builtInTypes.ConfigMap, named("dry")))).code).toBe("not-found");
  });

  it("patches four ways; apply conflicts until it is forced", async () => {
    await kube.create(builtInTypes.ConfigMap, configMap("patched", { a: "1", b: "1" }), { fieldManager: "first" });
    const patch = async (
      ...args: Parameters<KubeClient["patch"]> extends [unknown, unknown, ...infer Rest] ? Rest : never
    ) => (await kube.patch<ConfigMap>(builtInTypes.ConfigMap, named("patched"), ...args)).data;

    expect(await patch({ kind: "json", body: [{ op: "replace", path: "/data/a", value: "2" }] })).toEqual({
      a: "2",
      b: "1",
    });
    expect(await patch({ kind: "merge", body: { data: { a: null, c: "3" } } })).toEqual({ b: "1", c: "3" });
    expect(await patch({ kind: "strategic", body: { data: { $patch: "replace", d: "4" } } })).toEqual({ d: "4" });
    const body = configMap("patched", { d: "5" });
    const conflict = await errorOf(patch({ kind: "apply", body, fieldManager: "second" }));
    expect(conflict).toMatchObject({ code: "conflict", status: { details: { causes: [{ field: ".data.d" }] } } });
    expect(await patch({ kind: "apply", body, fieldManager: "second", force: true })).toEqual({ d: "5" });
    expect((await errorOf(patch({ kind: "json", body: [{ op: "test", path: "/data/d", value: "x" }] }))).code).toBe(
      "invalid",
    );
  });

  it("writes status apart from the rest, and keeps what waits for a finalizer", async () => {
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "status-node", finalizers: ["example.test/held"] },
    };
    await kube.create(builtInTypes.Node, node);
    const key = { name: "status-node" };
    const body = { metadata: { labels: { ignored: "yes" } }, status: { capacity: { cpu: "4" } } };
    const patched = await kube.patch(builtInTypes.Node, key, { kind: "merge", body }, { subresource: "status" });
    expect(patched).toMatchObject({ status: { capacity: { cpu: "4" } } });
    const spec = { spec: { unschedulable: true }, status: { capacity: { cpu: "8" } } };
    const other = await kube.patch(builtInTypes.Node, key, { kind: "merge", body: spec });
    expect(other).toMatchObject({ spec: { unschedulable: true }, status: { capacity: { cpu: "4" } } });

    const going = await kube.delete(builtInTypes.Node, key);
    expect(going?.metadata.deletionTimestamp).toBeDefined();
    await kube.patch(builtInTypes.Node, key, { kind: "merge", body: { metadata: { finalizers: null } } });
    expect((await errorOf(kube.get(builtInTypes.Node, key))).code).toBe("not-found");
  });

  it("lists by selectors, page by page", async () => {
    for (const i of [0, 1, 2, 3, 4]) {
      const { metadata, ...rest } = configMap(`page-${i}`);
      await kube.create(builtInTypes.ConfigMap, { ...rest, metadata: { ...metadata, labels: { paged: `${i % 2}` } } });
    }
    const names: (string | undefined)[] = [];
    let pages = 0;
    for (let next: string | undefined = ""; next !== undefined; pages++) {
      const labelSelector = "paged in (0,1)";
      const page: ObjectList<KubeObject> = await kube.list(builtInTypes.ConfigMap, {
        namespace,
        labelSelector,
        limit: 2,
        continue: next || undefined,
      });
      names.push(...page.items.map(({ metadata }) => metadata.name));
      expect(page.items.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`)).toEqual(
        page.items.map(() => "v1 ConfigMap"),
      );
      next = page.continue;
    }
    expect([pages, names]).toEqual([3, ["page-0", "page-1", "page-2", "page-3", "page-4"]]);
    const one = await kube.list(builtInTypes.ConfigMap, { namespace, fieldSelector: "metadata.name=page-3" });
    expect(one.items).toHaveLength(1);
  });

  it("watches, resumes from a version, and hears bookmarks", async () => {
    const { resourceVersion } = await kube.list(builtInTypes.ConfigMap, { namespace });
    await kube.create(builtInTypes.ConfigMap, configMap("watched", { a: "日本" }));
    await kube.patch(builtInTypes.ConfigMap, named("watched"), { kind: "merge", body: { data: { a: "2" } } });
    await kube.delete(builtInTypes.ConfigMap, named("watched"));
    const options = { namespace, fieldSelector: "metadata.name=watched" };
    const stop = new AbortController();
    const first = await firstEvents(
      kube.watch(builtInTypes.ConfigMap, { ...options, resourceVersion, signal: stop.signal }),
      2,
    );
    expect(first.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED"]);
    const last = first[1];
    const from = last?.type === "MODIFIED" ? last.object.metadata.resourceVersion : undefined;
    const rest = await firstEvents(
      kube.watch(builtInTypes.ConfigMap, { ...options, resourceVersion: from, signal: stop.signal }),
      1,
    );
    expect(rest.map(({ type }) => type)).toEqual(["DELETED"]);

    const initial = kube.watch(builtInTypes.ConfigMap, { namespace, sendInitialEvents: true, signal: stop.signal });
    const items = (await kube.list(builtInTypes.ConfigMap, { namespace })).items.length;
    const begun = await firstEvents(initial, items + 1);
    expect(begun.at(-1)).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });

    const timed = kube.watch(builtInTypes.ConfigMap, { namespace, timeoutSeconds: 1, signal: stop.signal });
    for await (const _ of timed); // ends by itself
    const waiting = firstEvents(kube.watch(builtInTypes.ConfigMap, { ...options, signal: stop.signal }), 1);
    stop.abort();
    expect(await waiting).toEqual([]);
  });

  it("says timeout, and when to come back, for a version that is not there yet", async () => {
    const error = await errorOf(kube.list(builtInTypes.ConfigMap, { namespace, resourceVersion: "999999999" }));
    expect(error).toMatchObject({ code: "timeout", retryAfterMs: 1_000 });
  });

  it("binds and evicts pods, and is refused by a budget", async () => {
    await kube.create(builtInTypes.Node, { apiVersion: "v1", kind: "Node", metadata: { name: "bound" } });
    await kube.create(builtInTypes.Pod, pod("evicted"));
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: named("evicted"),
      target: { kind: "Node", name: "bound" },
    };
    await kube.create(builtInTypes.Pod, binding, { subresource: "binding" });
    expect((await kube.get(builtInTypes.Pod, named("evicted"))).spec).toMatchObject({ nodeName: "bound" });
    await kube.patch(
      builtInTypes.Pod,
      named("evicted"),
      { kind: "strategic", body: { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } } },
      { subresource: "status" },
    );

    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: named("evicted") };
    const selector = { matchLabels: { app: "evicted" } };
    await kube.create(builtInTypes.PodDisruptionBudget, { ...budget, spec: { minAvailable: 1, selector } });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: named("evicted") };
    const evict = () => kube.create(builtInTypes.Pod, eviction, { subresource: "eviction" });
    const refused = await errorOf(evict());
    expect(refused).toMatchObject({
      code: "too-many-requests",
      status: { details: { causes: [{ reason: "DisruptionBudget" }] } },
    });
    await kube.delete(builtInTypes.PodDisruptionBudget, named("evicted"));
    await evict();
    const going = await kube.get(builtInTypes.Pod, named("evicted"));
    expect(going.metadata.deletionTimestamp).toBeDefined();
    expect(await kube.delete(builtInTypes.Pod, named("evicted"), { gracePeriodSeconds: 0 })).toBeUndefined();
    await kube.delete(builtInTypes.Node, { name: "bound" });
  });

  it("an informer follows the server, and its cache equals a list", async () => {
    const stop = new AbortController();
    const informer = new Informer<ConfigMap, string>({
      kube,
      type: builtInTypes.ConfigMap,
      namespace,
      clock,
      random: new Random(1),
      pageSize: 2,
      project: ({ metadata, data }) => `${metadata.name} ${JSON.stringify(data)}`,
    });
    const running = informer.run(stop.signal);
    await informer.synced;
    await kube.create(builtInTypes.ConfigMap, configMap("informed", { a: "1" }));
    await kube.patch(builtInTypes.ConfigMap, named("informed"), { kind: "merge", body: { data: { a: "2" } } });
    await kube.delete(builtInTypes.ConfigMap, named("wrong"));
    const fresh = (await kube.list<ConfigMap>(builtInTypes.ConfigMap, { namespace })).items;
    const wanted = fresh.map(({ metadata, data }) => `${metadata.name} ${JSON.stringify(data)}`).sort();
    await eventually("the cache equals a list", async () =>
      JSON.stringify([...informer.values()].sort()) === JSON.stringify(wanted) ? true : undefined,
    );
    stop.abort();
    await running;
  });

  it("one of two candidates leads, and the other follows when it stops", async () => {
    const lease = named("leader");
    const begin = (identity: string) => {
      const stop = new AbortController();
      const led: string[] = [];
      const work = (signal: AbortSignal): Promise<void> => {
        led.push(identity);
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      };
      const random = new Random(identity);
      const end = runWhileLeader(work, { kube, clock, random, lease, identity, retryPeriodMs: 200 }, stop.signal);
      return { stop, led, end };
    };
    const a = begin("a");
    await eventually("a leads", async () => a.led[0]);
    const b = begin("b");
    a.stop.abort();
    expect(await a.end).toBe("stopped");
    await eventually("b leads", async () => b.led[0]);
    const { spec } = await kube.get<Lease>(builtInTypes.Lease, lease);
    expect(spec).toMatchObject({ holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: 1 });
    b.stop.abort();
    expect(await b.end).toBe("stopped");
    expect((await kube.get<Lease>(builtInTypes.Lease, lease)).spec?.holderIdentity ?? "").toBe("");
  });

  it("records events that kubectl finds, and counts repetitions", async () => {
    const stop = new AbortController();
    const recorder = new EventRecorder({ kube, clock, random: new Random("events"), component: "karpenter" });
    const running = recorder.run(stop.signal);
    const about = referenceTo(await kube.create(builtInTypes.ConfigMap, configMap("told")));
    for (let i = 0; i < 3; i++)
      recorder.record({ involvedObject: about, type: "Normal", reason: "Tested", message: "it works" });
    const fieldSelector = `involvedObject.uid=${about.uid}`;
    const events = await eventually("three times", async () => {
      const { items } = await kube.list<Event>(builtInTypes.Event, { namespace, fieldSelector });
      return items[0]?.count === 3 ? items : undefined;
    });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: "Normal", reason: "Tested", source: { component: "karpenter" } });
    const node = { apiVersion: "v1", kind: "Node", name: "wide", uid: "wide" };
    recorder.record({ involvedObject: node, type: "Warning", reason: "Tested", message: "cluster-wide" });
    await eventually("in default", async () => {
      const found = await kube.list(builtInTypes.Event, {
        namespace: "default",
        fieldSelector: "involvedObject.name=wide",
      });
      return found.items[0];
    });
    stop.abort();
    await running;
  });
});

async function firstEvents<T extends KubeObject>(events: AsyncIterable<WatchEvent<T>>, count: number) {
  const taken: WatchEvent<T>[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

async function errorOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isKubeError(error)) throw new Error("expected a KubeError", { cause: error });
  return error;
}
