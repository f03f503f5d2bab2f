import { expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { Informer } from "../../../src/kube/informer.ts";
import { isKubeError, type KubeError } from "../../../src/kube/kube-error.ts";
import { Random } from "../../../src/util/random.ts";
import { configMap, types } from "../../contracts/api-objects.ts";
import { runs } from "../../runs.ts";
import { type ApiWorld, apiWorld } from "../api-world.ts";
import { CrashError } from "./crash-error.ts";
import { type ClientFaultRates, FaultPlan } from "./fault-plan.ts";
import { FaultyClient } from "./faulty-client.ts";

interface BadWorld extends ApiWorld {
  readonly faulty: FaultyClient;
  readonly plan: FaultPlan;
  readonly faults: string[];
}

function badWorld(
  rates: ClientFaultRates,
  { seed = "bad", crashAtCall }: { seed?: string; crashAtCall?: number } = {},
): BadWorld {
  const world = apiWorld();
  const plan = new FaultPlan({ random: new Random(seed), rates, crashAtCall });
  const faults: string[] = [];
  const { client, clock } = world;
  const faulty = new FaultyClient({ client, clock, plan, onFault: (fault) => faults.push(fault) });
  return { ...world, faulty, plan, faults };
}

const at = (name: string) => ({ name, namespace: "default" });

async function refused(call: Promise<unknown>): Promise<KubeError> {
  return call.then(
    () => Promise.reject(new Error("expected a refusal")),
    (error: unknown) => error as KubeError,
  );
}

async function exists({ client }: ApiWorld, name: string): Promise<boolean> {
  const { items } = await client.list(types.configMaps);
  return items.some(({ metadata }) => metadata.name === name);
}

it.each([
  ["conflict", 409],
  ["too-many-requests", 429],
  ["server-error", 500],
] as const)("05:CP-T4 %s: the write is refused with %i and does not happen", async (fault, code) => {
  const world = badWorld({ calls: { [fault]: 1 }, retryAfterSeconds: 3 });
  const error = await refused(world.faulty.create(types.configMaps, configMap("m")));
  expect([error.code, error.status?.code]).toEqual([fault, code]);
  expect(await exists(world, "m")).toBe(false);
  expect(error.retryAfterMs === undefined).toBe(fault !== "too-many-requests");
});

it("05:CP-T4 lost-answer: the write times out after it took effect", async () => {
  const world = badWorld({ calls: { "lost-answer": 1 } });
  expect((await refused(world.faulty.create(types.configMaps, configMap("m")))).code).toBe("timeout");
  expect(await exists(world, "m")).toBe(true);
  await world.faulty.get(types.configMaps, at("m"));
});

it("05:CP-T4 a world that gets better is better from the next call on", async () => {
  const world = badWorld({ calls: { "server-error": 1 } });
  expect((await refused(world.faulty.create(types.configMaps, configMap("m")))).code).toBe("server-error");
  world.plan.setRates({});
  await world.faulty.create(types.configMaps, configMap("m"));
  expect(await exists(world, "m")).toBe(true);
});

it("05:CP-T4 lists take their time", async () => {
  const { faulty, clock } = badWorld({ listDelayMs: 60_000 });
  const before = clock.now();
  const listing = faulty.list(types.configMaps).then(() => clock.now());
  await clock.runUntilIdle();
  expect(await listing).toBeGreaterThan(before);
});

it("05:CP-T4 crash: the call happens or not as the seed says, and nothing after it does", async () => {
  const moments = new Set<boolean>();
  for (let seed = 0; seed < 20; seed++) {
    const world = badWorld({}, { seed: String(seed), crashAtCall: 2 });
    await world.faulty.create(types.configMaps, configMap("first"));
    const error = await refused(world.faulty.create(types.configMaps, configMap("second")));
    expect(error).toBeInstanceOf(CrashError);
    moments.add(await exists(world, "second"));
    expect(await refused(world.faulty.create(types.configMaps, configMap("third")))).toBe(error);
    expect(await exists(world, "third")).toBe(false);
  }
  expect(moments).toEqual(new Set([false, true]));
});

it("05:CP-T4 crash: open watches end with it", async () => {
  const { faulty, clock } = badWorld({}, { crashAtCall: 2 });
  const { signal } = new AbortController();
  const watching = (async () => {
    for await (const _ of faulty.watch(types.configMaps, { signal }));
  })();
  await clock.advance(1_000);
  expect(await refused(faulty.get(types.configMaps, at("m")))).toBeInstanceOf(CrashError);
  expect(await refused(watching)).toBeInstanceOf(CrashError);
});

it.each(["cut", "expired"] as const)("05:CP-T4 watch %s: the stream ends instead of an event", async (fault) => {
  const { faulty, client, clock, api } = badWorld({ watches: { [fault]: 1 } });
  const { signal } = new AbortController();
  const events = faulty.watch(types.configMaps, { signal, resourceVersion: String(api.revision) });
  const watching = (async () => {
    for await (const event of events) return event;
    return "ended";
  })().catch((error: unknown) => error);
  await client.create(types.configMaps, configMap("m"));
  await clock.runUntilIdle();
  const outcome = await watching;
  if (fault === "cut") expect(outcome).toBe("ended");
  else expect(isKubeError(outcome, "expired")).toBe(true);
});

it("05:CP-T4 delays events in order within a watch, not between watches", async () => {
  const { faulty, client, clock, api } = badWorld({ watchDelayMs: 10_000 });
  const stop = new AbortController();
  const arrivals: string[] = [];
  const watched = [types.configMaps, types.secrets].map(async (type) => {
    const options = { signal: stop.signal, resourceVersion: String(api.revision) };
    for await (const event of faulty.watch(type, options)) {
      if (event.type !== "BOOKMARK") arrivals.push(event.object.metadata.name ?? "");
    }
  });
  await clock.advance(0);
  for (let turn = 0; turn < 10; turn++) {
    await client.create(types.configMaps, configMap(`map-${turn}`));
    const metadata = { name: `secret-${turn}`, namespace: "default" };
    await client.create(types.secrets, { apiVersion: "v1", kind: "Secret", metadata });
    await clock.advance(1_000);
  }
  await clock.advance(20_000);
  stop.abort();
  await Promise.all(watched);
  const of = (kind: string) => arrivals.filter((name) => name.startsWith(kind));
  const turns = Array.from({ length: 10 }, (_, turn) => turn);
  expect([of("map"), of("secret")]).toEqual([
    turns.map((turn) => `map-${turn}`),
    turns.map((turn) => `secret-${turn}`),
  ]);
  const written = turns.flatMap((turn) => [`map-${turn}`, `secret-${turn}`]);
  expect(arrivals).not.toEqual(written);
});

const everything: ClientFaultRates = {
  calls: { conflict: 0.1, "too-many-requests": 0.1, "server-error": 0.1, "lost-answer": 0.1 },
  watches: { cut: 0.1, expired: 0.1 },
  watchDelayMs: 5_000,
  listDelayMs: 5_000,
};

/** What a writer and an informer meet in a bad world, as text. */
async function story(
  seed: string,
): Promise<{ readonly log: string; readonly cache: object; readonly truth: object; readonly faults: string[] }> {
  const { faulty, client, clock, faults } = badWorld(everything, { seed });
  const stop = new AbortController();
  const log: string[] = [];
  const random = new Random(seed).fork("story");
  const informer = new Informer<KubeObject, string>({
    kube: faulty,
    type: types.configMaps,
    clock,
    random,
    project: ({ metadata }) => metadata.resourceVersion ?? "",
  });
  informer.subscribe({
    added: (version) => log.push(`${clock.now()} added ${version}`),
    updated: (version) => log.push(`${clock.now()} updated ${version}`),
    deleted: (version) => log.push(`${clock.now()} deleted ${version}`),
  });
  const running = informer.run(stop.signal);
  for (let turn = 0; turn < 60; turn++) {
    const name = `m-${random.int(10)}`;
    const body = { ...configMap(name, { turn: String(turn) }) };
    const write =
      random.int(3) === 0
        ? faulty.delete(types.configMaps, at(name))
        : faulty.patch(types.configMaps, at(name), { kind: "apply", body, fieldManager: "story" });
    log.push(
      await write.then(
        () => "done",
        (error: KubeError) => `${clock.now()} ${error.code}`,
      ),
    );
    await clock.advance(random.int(4_000));
  }
  await clock.advance(10 * 60_000);
  const { items } = await client.list(types.configMaps);
  const truth = Object.fromEntries(items.map(({ metadata }) => [`default/${metadata.name}`, metadata.resourceVersion]));
  const cache = Object.fromEntries([...informer.keys()].sort().map((key) => [key, informer.get(key)]));
  stop.abort();
  await clock.advance(10_000); // a list under way has to end first
  await running;
  return { log: log.join("\n"), cache, truth, faults };
}

it("05:CP-T4 an informer ends up with what is there, whatever happened on the way", async () => {
  const met = new Set<string>();
  const logs = new Set<string>();
  const seeds = Array.from({ length: runs(1_000) }, (_, seed) => String(seed));
  for (const seed of seeds) {
    const { cache, truth, faults, log } = await story(seed);
    expect(cache, `seed ${seed}`).toEqual(truth);
    for (const fault of faults) met.add(fault);
    logs.add(log);
  }
  expect([...met].sort()).toEqual([
    "call conflict",
    "call lost-answer",
    "call server-error",
    "call too-many-requests",
    "watch cut",
    "watch expired",
  ]);
  expect(logs.size).toBe(seeds.length);
  expect((await story("0")).log).toBe((await story("0")).log);
}, 600_000);

it("05:CP-T4 delays can differ by kind", async () => {
  const { faulty, client, clock, api } = badWorld({ watchDelayMs: { Secret: 60_000 } });
  const stop = new AbortController();
  const arrivedAt = new Map<string, number>();
  const watched = [types.configMaps, types.secrets].map(async (type) => {
    const options = { signal: stop.signal, resourceVersion: String(api.revision) };
    for await (const event of faulty.watch(type, options)) {
      if (event.type !== "BOOKMARK") arrivedAt.set(event.object.kind, clock.now());
    }
  });
  await clock.advance(0);
  const written = clock.now();
  await client.create(types.configMaps, configMap("m"));
  const metadata = { name: "s", namespace: "default" };
  await client.create(types.secrets, { apiVersion: "v1", kind: "Secret", metadata });
  await clock.advance(60_000);
  stop.abort();
  await Promise.all(watched);
  expect(arrivedAt.get("ConfigMap")).toBe(written);
  expect(arrivedAt.get("Secret")).toBeGreaterThan(written);
});
