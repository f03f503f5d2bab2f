import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configMap, pod, refusal, types } from "../../../test/contracts/api-objects.ts";
import { runs } from "../../../test/runs.ts";
import { apiWorld } from "../../../test/world/api-world.ts";
import type { KubeObject } from "../../api/object.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import type { JournalEntry } from "../store/journal.ts";
import { maxNesting } from "./object-limits.ts";

const at = (name: string) => ({ name, namespace: "default" });

describe("ApiServer (05 §3)", () => {
  it("starts with the namespaces, service accounts and priority classes every cluster has", async () => {
    const { client } = apiWorld();
    const names = async (type: (typeof types)[keyof typeof types]) =>
      (await client.list(type)).items.map(({ metadata }) => metadata.name);
    expect(await names(types.namespaces)).toEqual(["default", "kube-node-lease", "kube-public", "kube-system"]);
    expect(await names(types.priorityClasses)).toEqual(["system-cluster-critical", "system-node-critical"]);
    expect(await names(types.accounts)).toEqual(["default", "default", "default", "default"]);
    expect(await names(types.services)).toEqual(["kubernetes"]);
  });

  it("05:CP-T3 is deterministic for a seed", async () => {
    const run = async () => {
      const { client, api } = apiWorld();
      for (let i = 0; i < 20; i++) {
        const { name: _, ...metadata } = pod("").metadata;
        await client.create(types.pods, { ...pod(""), metadata: { ...metadata, generateName: "p-" } });
      }
      return JSON.stringify([...api.snapshot()]);
    };
    expect(await run()).toBe(await run());
  });

  it("05:CP-L8 keeps a namespace until its finalizer is removed, and creates nothing in it", async () => {
    const { client } = apiWorld();
    const made = await client.create(types.namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "n" },
    });
    expect(made).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "n" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
    // Replacing it does not remove the finalizer.
    const bare = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n", labels: { a: "b" } } };
    expect((await client.update(types.namespaces, bare)).spec).toEqual({ finalizers: ["kubernetes"] });
    const terminating = await client.delete(types.namespaces, { name: "n" });
    expect(terminating?.status).toEqual({ phase: "Terminating" });
    const error = await refusal(client.create(types.configMaps, configMap("m", {}, { namespace: "n" })));
    expect([error.code, error.status?.details?.causes?.[0]?.reason]).toEqual(["forbidden", "NamespaceTerminating"]);
    await client.patch(types.namespaces, { name: "n" }, { kind: "merge", body: { spec: { finalizers: [] } } });
    expect((await refusal(client.get(types.namespaces, { name: "n" }))).code).toBe("not-found");
  });

  it.each([
    ["Foreground", "foregroundDeletion"],
    ["Orphan", "orphan"],
  ] as const)("05:CP-L7 %s deletion is left to the garbage collector", async (propagation, finalizer) => {
    const { client } = apiWorld();
    await client.create(types.configMaps, configMap("m"));
    const terminating = await client.delete(types.configMaps, at("m"), { propagation });
    expect(terminating?.metadata.finalizers).toEqual([finalizer]);
    expect(await client.delete(types.configMaps, at("m"), { propagation: "Background" })).toBeUndefined();
  });

  it("deletes a collection by selector", async () => {
    const { client, api: server } = apiWorld();
    for (const [name, app] of [
      ["a", "x"],
      ["b", "x"],
      ["c", "y"],
    ] as const) {
      await client.create(types.configMaps, configMap(name, {}, { labels: { app } }));
    }
    const kind = server.kinds.get(types.configMaps);
    await server.deleteCollection(kind, { namespace: "default", labelSelector: "app=x" });
    expect((await client.list(types.configMaps)).items.map(({ metadata }) => metadata.name)).toEqual(["c"]);
  });

  it("05:CP-S3 gives other requests their turn while it deletes a large collection", async () => {
    const { client, api: server } = apiWorld();
    for (let i = 0; i < 250; i++) await client.create(types.configMaps, configMap(`m${i}`));
    const left: number[] = [];
    await server.deleteCollection(
      server.kinds.get(types.configMaps),
      { namespace: "default" },
      { betweenBatches: async () => void left.push((await client.list(types.configMaps)).items.length) },
    );
    expect(left).toEqual([150, 50]);
    expect((await client.list(types.configMaps)).items).toEqual([]);
  });

  it("05:CP-S3 copies nothing of a large object to mark it for deletion", async () => {
    const { client } = apiWorld();
    const metadata = { finalizers: ["example.com/wait"] };
    const created = await client.create(types.configMaps, configMap("m", { text: "large" }, metadata));
    const marked = await client.delete(types.configMaps, at("m"));
    expect(marked?.metadata.deletionTimestamp).toBeDefined();
    expect(marked).toHaveProperty("data");
    expect(Reflect.get(marked ?? {}, "data")).toBe(Reflect.get(created, "data"));
    expect(await client.delete(types.configMaps, at("m"))).toBe(marked); // a second time nothing changes
  });

  it("warns of unknown and duplicate fields unless told to refuse or ignore them", async () => {
    const { api: server } = apiWorld();
    const kind = server.kinds.get(types.configMaps);
    const odd = { ...configMap("m"), colour: "blue" };
    const create = (fieldValidation: "Warn" | "Ignore" | "Strict", name: string) =>
      server.create(
        kind,
        { ...odd, metadata: at(name) },
        {
          namespace: "default",
          fieldValidation,
          decodingProblems: ['duplicate field "data"'],
        },
      );
    expect((await create("Warn", "a")).warnings).toEqual(['duplicate field "data"', 'unknown field "colour"']);
    expect((await create("Ignore", "b")).warnings).toEqual([]);
    expect((await refusal(create("Strict", "c"))).status?.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ' +
        'duplicate field "data", unknown field "colour"',
    );
  });

  it("sets the selector of Jobs, the address of Services, the data of Secrets", async () => {
    const { client } = apiWorld();
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } };
    const job = await client.create(types.jobs, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: at("j"),
      spec: { template },
    });
    expect(job.spec).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": job.metadata.uid } },
      template: { metadata: { labels: { "batch.kubernetes.io/job-name": "j" } } },
    });
    const service = { apiVersion: "v1", kind: "Service", metadata: at("s"), spec: { ports: [{ port: 80 }] } };
    expect((await client.create(types.services, service)).spec).toMatchObject({
      type: "ClusterIP",
      clusterIP: expect.stringMatching(/^10\./),
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: at("s"), stringData: { a: "hello" } };
    expect(await client.create(types.secrets, secret as KubeObject)).toMatchObject({
      type: "Opaque",
      data: { a: "aGVsbG8=" },
    });
  });

  it("05:CP-L10 transforms a kind on read, and counts its watchers", async () => {
    const { client, api: server } = apiWorld();
    const kind = server.kinds.get(types.leases);
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: at("l"),
      spec: { holderIdentity: "x" },
    };
    await client.create(types.leases, lease);
    server.setReadTransform(kind, (stored) => ({ ...stored, spec: { holderIdentity: "y" } }));
    expect((await client.get(types.leases, at("l"))).spec).toEqual({ holderIdentity: "y" });
    expect((await client.list(types.leases)).items[0]?.spec).toEqual({ holderIdentity: "y" });
    const watch = server.watch(kind);
    expect(server.watcherCount(kind)).toBe(1);
    watch.close();
    expect(server.watcherCount(kind)).toBe(0);
  });

  it("05:CP-T5 acknowledges a durable write, notifies watchers no sooner, and restores everything", async () => {
    const entries: JournalEntry[] = [];
    const waiting: (() => void)[] = [];
    const journal = {
      append: (entry: JournalEntry) =>
        new Promise<void>((resolve) => {
          waiting.push(() => {
            entries.push(entry);
            resolve();
          });
        }),
    };
    const { client, api: server } = apiWorld({ journal });
    const flush = async () => {
      for (const resolve of waiting.splice(0)) resolve();
      await new Promise((resolve) => setImmediate(resolve));
    };
    await flush();
    const watch = server.watch(server.kinds.get(types.configMaps), { resourceVersion: String(server.revision) });
    let isAnswered = false;
    const creating = client.create(types.configMaps, configMap("m")).then((made) => {
      isAnswered = true;
      return made;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([isAnswered, watch.poll()]).toEqual([false, undefined]);
    await flush();
    const made = await creating;
    expect(watch.poll()).toMatchObject({ type: "ADDED" });

    const again = apiWorld({ restore: entries });
    expect(await again.client.get(types.configMaps, at("m"))).toEqual(made);
    expect(again.api.revision).toBeGreaterThan(Number(made.metadata.resourceVersion));
    const old = { resourceVersion: made.metadata.resourceVersion };
    expect(() => again.api.watch(again.api.kinds.get(types.configMaps), old)).toThrow(
      expect.objectContaining({ code: "expired" }) as unknown as Error,
    );
  });

  it("05:CP-S3 refuses objects too large or too deep, and treats odd names as data", async () => {
    const { client } = apiWorld();
    const large = configMap("large", { a: "x".repeat(3 * 1024 * 1024) });
    expect((await refusal(client.create(types.configMaps, large))).status?.code).toBe(413);
    let deep: unknown = {};
    for (let i = 0; i < maxNesting; i++) deep = { deep };
    const nested = { ...configMap("deep"), data: deep } as KubeObject;
    expect((await refusal(client.create(types.configMaps, nested))).code).toBe("bad-request");
    const data = JSON.parse('{"__proto__": "a", "constructor": "b"}') as Record<string, string>;
    const made = await client.create<KubeObject & { data: object }>(types.configMaps, configMap("odd", data));
    expect(Object.keys(made.data).sort()).toEqual(["__proto__", "constructor"]);
    const patch = { kind: "merge", body: { data: JSON.parse('{"__proto__": "c"}') as object } } as const;
    const patched = await client.patch<KubeObject & { data: object }>(types.configMaps, at("odd"), patch);
    expect(JSON.stringify(patched.data)).toBe('{"__proto__":"c","constructor":"b"}');
    expect({}).not.toHaveProperty("c");
  });

  it("05:CP-S3 answers any malformed request with 4xx", async () => {
    const { client } = apiWorld();
    await client.create(types.pods, pod("p"));
    const value = fc.anything({
      key: fc.constantFrom("spec", "metadata", "name", "status", "containers", "__proto__", "labels", "$patch"),
      maxDepth: 4,
    });
    const body = fc.oneof(value, fc.record({ metadata: value, spec: value, status: value }));
    const property = fc.asyncProperty(
      body,
      fc.constantFrom("create", "update", "json", "merge", "strategic", "apply"),
      async (given, op) => {
        const plain: unknown = JSON.parse(
          JSON.stringify(given, (_, one: unknown) => (typeof one === "bigint" ? 1 : one)) ?? "null",
        );
        const object = { ...pod("p"), ...(plain as object) } as KubeObject;
        try {
          if (op === "create")
            await client.create(types.pods, {
              ...object,
              metadata: { namespace: "default", ...(object.metadata as object) },
            });
          else if (op === "update") await client.update(types.pods, { ...object, metadata: at("p") });
          else if (op === "apply")
            await client.patch(types.pods, at("p"), { kind: op, body: object, fieldManager: "f" });
          else await client.patch(types.pods, at("p"), { kind: op as "merge", body: plain });
        } catch (error) {
          if (!isKubeError(error)) throw error;
          const code = error.status?.code ?? 0;
          expect(code).toBeGreaterThanOrEqual(400);
          expect(code).toBeLessThan(500);
        }
      },
    );
    await fc.assert(property, { numRuns: runs(50_000) });
  }, 300_000);
});
