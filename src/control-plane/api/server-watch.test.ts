import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configMap, refusal, types } from "../../../test/contracts/api-objects.ts";
import { runs } from "../../../test/runs.ts";
import { apiWorld } from "../../../test/world/api-world.ts";
import type { KubeObject } from "../../api/object.ts";
import type { WatchEvent, WatchOptions } from "../../kube/client.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import type { ServerWatch, ServerWatchEvent } from "./server-watch.ts";

const at = (name: string) => ({ name, namespace: "default" });

function drained(watch: ServerWatch): readonly ServerWatchEvent[] {
  const events: ServerWatchEvent[] = [];
  for (let event = watch.poll(); event !== undefined; event = watch.poll()) events.push(event);
  return events;
}

function summary(event: ServerWatchEvent): string {
  if (event.type === "ERROR") return `ERROR ${event.status.code}`;
  const { name = "", resourceVersion } = event.object.metadata;
  return event.type === "BOOKMARK" ? `BOOKMARK ${resourceVersion}` : `${event.type} ${name} ${resourceVersion}`;
}

describe("watches (05 §3)", () => {
  it("replay the changes since a version, each with its resourceVersion", async () => {
    const { client, api } = apiWorld();
    const kind = api.kinds.get(types.configMaps);
    const from = String(api.revision);
    const [a, b] = [
      await client.create(types.configMaps, configMap("a")),
      await client.create(types.configMaps, configMap("b")),
    ];
    await client.delete(types.configMaps, at("a"));
    const versions = [a.metadata.resourceVersion, b.metadata.resourceVersion, String(api.revision)];
    expect(drained(api.watch(kind, { resourceVersion: from })).map(summary)).toEqual([
      `ADDED a ${versions[0]}`,
      `ADDED b ${versions[1]}`,
      `DELETED a ${versions[2]}`,
    ]);
    expect(drained(api.watch(kind, { resourceVersion: versions[1] })).map(summary)).toEqual([
      `DELETED a ${versions[2]}`,
    ]);
  });

  it("send a bookmark a minute to clients that ask for them, with the newest version of all kinds", async () => {
    const { client, api: server, clock } = apiWorld();
    const kind = server.kinds.get(types.configMaps);
    const { resourceVersion } = await client.list(types.configMaps);
    const withBookmarks = server.watch(kind, { resourceVersion, allowWatchBookmarks: true });
    const plain = server.watch(kind, { resourceVersion });
    await client.create(types.nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
    await clock.advance(59_999);
    expect(drained(withBookmarks)).toEqual([]);
    await clock.advance(1);
    expect(drained(withBookmarks).map(summary)).toEqual([`BOOKMARK ${server.revision}`]);
    await clock.advance(120_000);
    expect(drained(withBookmarks)).toHaveLength(2);
    expect(drained(plain)).toEqual([]);
    withBookmarks.close();
    plain.close();
    expect(clock.pending).toBe(0);
  });

  it("answer 410 if the history is no longer kept, and only then", async () => {
    const { client, api: server } = apiWorld({ watchWindow: 4 });
    const kind = server.kinds.get(types.configMaps);
    const first = String(server.revision);
    for (let i = 0; i < 20; i++) await client.create(types.configMaps, configMap(`c${i}`));
    expect(() => server.watch(kind, { resourceVersion: first })).toThrow(
      expect.objectContaining({ code: "expired" }) as unknown as Error,
    );
    // Nodes have not changed since, so nothing was missed.
    expect(drained(server.watch(server.kinds.get(types.nodes), { resourceVersion: first }))).toEqual([]);
    expect(drained(server.watch(kind, { resourceVersion: String(server.revision - 2) }))).toHaveLength(2);
  });

  it("answer 410 to a page whose version is no longer kept", async () => {
    const { client } = apiWorld({ watchWindow: 4 });
    for (let i = 0; i < 3; i++) await client.create(types.configMaps, configMap(`c${i}`));
    const page = await client.list(types.configMaps, { limit: 1 });
    for (let i = 3; i < 20; i++) await client.create(types.configMaps, configMap(`c${i}`));
    const options = { limit: 1, continue: page.continue };
    expect((await refusal(client.list(types.configMaps, options))).status?.code).toBe(410);
  });

  it("refuse a version of the future, and an invalid one", async () => {
    const { client } = apiWorld();
    const ahead = await refusal(client.list(types.configMaps, { resourceVersion: "999999" }));
    expect([ahead.code, ahead.retryAfterMs]).toEqual(["timeout", 1000]);
    expect((await refusal(client.list(types.configMaps, { resourceVersion: "x" }))).code).toBe("bad-request");
    expect((await refusal(client.list(types.configMaps, { continue: "x" }))).code).toBe("bad-request");
  });

  it("close a watch that is too far behind, with 410", async () => {
    const { client, api: server } = apiWorld({ watchBacklog: 100 });
    await client.create(types.configMaps, configMap("busy"));
    const slow = server.watch(server.kinds.get(types.configMaps), { resourceVersion: String(server.revision) });
    for (let i = 0; i < 101; i++) {
      await client.patch(types.configMaps, at("busy"), { kind: "merge", body: { data: { i: String(i) } } });
    }
    expect(drained(slow)).toMatchObject([{ type: "ERROR", status: { code: 410 } }]);
    expect(slow.isClosed).toBe(true);
  });

  it("05:CP-S3 close a watch whose queued events take too much memory, and drop them", async () => {
    const { client, api: server } = apiWorld();
    await client.create(types.configMaps, configMap("busy"));
    const watch = (maxBacklogBytes: number) =>
      server.watch(server.kinds.get(types.configMaps), { resourceVersion: String(server.revision), maxBacklogBytes });
    const [slow, patient] = [watch(100_000), watch(1_000_000)];
    for (let i = 0; i < 20; i++) {
      const body = { data: { text: `${i}${"x".repeat(9_000)}` } };
      await client.patch(types.configMaps, at("busy"), { kind: "merge", body });
    }
    const message = expect.stringMatching(/100000 bytes behind$/) as string;
    expect(drained(slow)).toMatchObject([{ type: "ERROR", status: { code: 410, message } }]);
    expect(slow.isClosed).toBe(true);
    expect(drained(patient)).toHaveLength(20);
    for (let i = 0; i < 200; i++) {
      await client.patch(types.configMaps, at("busy"), {
        kind: "merge",
        body: { data: { text: `${i}${"y".repeat(9_000)}` } },
      });
      expect(patient.poll()).toMatchObject({ type: "MODIFIED" }); // who reads in time is never behind
    }
  });

  it("end when their CRD is deleted", async () => {
    const { client, api: server } = apiWorld();
    await client.create(types.definitions, gadgets);
    const kind = server.kinds.get({ group: "example.com", version: "v1", plural: "gadgets" });
    const watch = server.watch(kind);
    await client.delete(types.definitions, { name: "gadgets.example.com" });
    expect(watch.isClosed).toBe(true);
  });

  it("replayed over a list give the final list, for any writes and any starting point", async () => {
    const names = ["a", "b", "c", "d"];
    const write = fc.record({
      op: fc.constantFrom("put", "label", "delete", "hold"),
      name: fc.constantFrom(...names),
      value: fc.constantFrom("x", "y"),
    });
    const property = fc.asyncProperty(
      fc.array(write, { maxLength: 30 }),
      fc.nat({ max: 30 }),
      fc.constantFrom("", "in=x", "in!=x", "in", "!in"),
      async (writes, listedAt, labelSelector) => {
        const { client } = apiWorld();
        const stop = new AbortController();
        let mirror = Promise.resolve(new Map<string, KubeObject>());
        const begin = () => {
          mirror = follow(client, { labelSelector, signal: stop.signal });
          return mirror.then(
            () => {},
            () => {},
          );
        };
        for (const [index, { op, name, value }] of writes.entries()) {
          if (index === listedAt) void begin();
          await change(client, { op, name, value });
        }
        if (listedAt >= writes.length) void begin();
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        stop.abort();
        const cache = await mirror;
        const { items } = await client.list(types.configMaps, { labelSelector });
        expect([...cache.values()].sort(byName)).toEqual(items);
      },
    );
    await fc.assert(property, { numRuns: runs(3000) });
  }, 300_000);
});

type Client = ReturnType<typeof apiWorld>["client"];

async function change(client: Client, { op, name, value }: { op: string; name: string; value: string }): Promise<void> {
  const labels = value === "x" ? { in: "x" } : { in: "y" };
  try {
    if (op === "put") await client.create(types.configMaps, configMap(name));
    else if (op === "delete") await client.delete(types.configMaps, at(name));
    else {
      const metadata = op === "label" ? { labels } : { labels: null };
      await client.patch(types.configMaps, at(name), { kind: "merge", body: { metadata } });
    }
  } catch (error) {
    if (!isKubeError(error, "not-found", "already-exists")) throw error;
  }
}

/** As an informer does: list, then watch from there. */
async function follow(client: Client, options: WatchOptions): Promise<Map<string, KubeObject>> {
  const { items, resourceVersion } = await client.list(types.configMaps, options);
  const cache = new Map(items.map((item) => [item.metadata.name ?? "", item]));
  for await (const event of client.watch(types.configMaps, { ...options, resourceVersion })) note(cache, event);
  return cache;
}

function note(cache: Map<string, KubeObject>, event: WatchEvent<KubeObject>): void {
  if (event.type === "BOOKMARK") return;
  const { name = "" } = event.object.metadata;
  if (event.type === "DELETED") cache.delete(name);
  else {
    expect(cache.has(name)).toBe(event.type === "MODIFIED");
    cache.set(name, event.object);
  }
}

function byName(a: KubeObject, b: KubeObject): number {
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

const gadgets: KubeObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "gadgets", kind: "Gadget" },
    scope: "Cluster",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};
