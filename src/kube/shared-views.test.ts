import { describe, expect, it } from "vitest";
import { apiOn, startAt } from "../../test/world/api-world.ts";
import { interceptCalls } from "../../test/world/intercept-calls.ts";
import type { KubeObject } from "../api/object.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import type { KubeClient, ResourceType, WatchOptions } from "./client.ts";
import { KubeError } from "./kube-error.ts";
import { builtInTypes } from "./resources.ts";
import { SharedViews } from "./shared-views.ts";

const configMap = (name: string, data: Record<string, string>): KubeObject =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data }) as KubeObject;
const type = builtInTypes.ConfigMap;

/** A client of one server after the other; the watches of the first break when the second takes over. */
function movingClient(first: KubeClient) {
  let current = first;
  let broken = new AbortController();
  const client: KubeClient = {
    get: (...args) => current.get(...args),
    list: (...args) => current.list(...args),
    create: (...args) => current.create(...args),
    update: (...args) => current.update(...args),
    patch: (...args) => current.patch(...args),
    delete: (...args) => current.delete(...args),
    watch: async function* <T extends KubeObject>(of: ResourceType, options: WatchOptions) {
      const { signal } = broken;
      yield* current.watch<T>(of, { ...options, signal: AbortSignal.any([options.signal, signal]) });
      if (signal.aborted) throw new KubeError("unavailable", "the connection was closed");
    },
  };
  const moveTo = (next: KubeClient): void => {
    current = next;
    broken.abort();
    broken = new AbortController();
  };
  return { client, moveTo };
}

it("a server restored from a backup is believed, also where its versions are lower", async () => {
  const clock = new VirtualClock({ startAt });
  // The same seed gives the same uids: the second server is the first one as it was earlier.
  const [server, backup] = [apiOn(clock, { seed: "one" }).client, apiOn(clock, { seed: "one" }).client];
  const { client, moveTo } = movingClient(server);
  const views = new SharedViews({ client, clock, random: apiOn(clock).random, onFailure: () => {} });
  const view = views.of<KubeObject & { data?: unknown }>(type);
  const writer = views.writeThroughClient();
  const shown = () => view.all().map(({ metadata, data }) => [metadata.name, metadata.uid, data]);

  const objects = ["a", "b"].map((name) => configMap(name, { from: "backup" }));
  for (const one of objects) for (const kube of [server, backup]) await kube.create(type, one);
  await clock.advance(1_000);
  for (let turn = 0; turn < 20; turn++) {
    await writer.patch(
      type,
      { name: "a", namespace: "default" },
      { kind: "merge", body: { data: { turn: `${turn}` } } },
    );
  }
  await writer.delete(type, { name: "b", namespace: "default" });
  await writer.create(type, configMap("lost", {}));
  await clock.advance(1_000);
  expect(shown().map(([name]) => name)).toEqual(["a", "lost"]);

  moveTo(backup);
  await clock.advance(60_000);
  const { items } = await backup.list<KubeObject & { data?: unknown }>(type);
  expect(shown()).toEqual(items.map(({ metadata, data }) => [metadata.name, metadata.uid, data]));
  expect(shown()).toMatchObject([
    ["a", expect.any(String), { from: "backup" }],
    ["b", expect.any(String), { from: "backup" }],
  ]);
  const stopped = views.stop();
  await clock.advance(60_000);
  await stopped;
});

describe("an own write that no watch event confirms", () => {
  /** A view whose watch brings nothing; reads of single objects fail as long as the server is away. */
  async function deafViews() {
    const clock = new VirtualClock({ startAt });
    const { client: server, random } = apiOn(clock);
    const reads: string[] = [];
    let isAway = false;
    const client = interceptCalls(server, async ({ verb, type: of, namespace, name }, proceed) => {
      if (verb === "get") reads.push(`${of.kind} ${namespace}/${name}`);
      if (verb === "get" && isAway) throw new KubeError("unavailable", "connect ECONNREFUSED");
      return proceed();
    });
    const silent: KubeClient = {
      ...client,
      watch: async function* (_, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      },
    };
    const views = new SharedViews({ client: silent, clock, random, onFailure: () => {} });
    const view = views.of<KubeObject & { data?: unknown }>(type);
    await clock.advance(1_000);
    const writer = views.writeThroughClient();
    const shown = () => view.all().map(({ metadata, data }) => [metadata.name, data]);
    const setAway = (away: boolean): void => {
      isAway = away;
    };
    return { clock, server, views, writer, reads, shown, setAway };
  }
  const key = { name: "a", namespace: "default" };
  const changed = { kind: "merge", body: { data: { by: "another" } } } as const;

  it("is read from the server after half a minute, and what the server has is shown", async () => {
    const { clock, server, writer, reads, shown } = await deafViews();
    await writer.create(type, configMap("a", { by: "us" }));
    await writer.create(type, configMap("b", {}));
    await server.patch(type, key, changed);
    await server.delete(type, { name: "b", namespace: "default" });
    await clock.advance(29_000);
    expect([reads, shown().length]).toEqual([[], 2]);
    await clock.advance(1_000);
    expect(reads).toEqual(["ConfigMap default/a", "ConfigMap default/b"]);
    expect(shown()).toEqual([["a", { by: "another" }]]);
    await clock.advance(120_000);
    expect(reads.length).toBe(2);
  });

  it("is read again where the server did not answer", async () => {
    const { clock, server, writer, reads, shown, setAway } = await deafViews();
    await writer.create(type, configMap("a", { by: "us" }));
    await server.patch(type, key, changed);
    setAway(true);
    await clock.advance(30_000);
    expect([reads.length, shown()]).toEqual([1, [["a", { by: "us" }]]]);
    setAway(false);
    await clock.advance(30_000);
    expect([reads.length, shown()]).toEqual([2, [["a", { by: "another" }]]]);
  });

  it("is not read once the views are stopped", async () => {
    const { clock, views, writer, reads } = await deafViews();
    await writer.create(type, configMap("a", {}));
    const stopped = views.stop();
    await clock.advance(60_000);
    await stopped;
    expect([reads, clock.pending]).toEqual([[], 0]);
  });
});
