import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import type { KubeObject } from "../api/object.ts";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { httpClient } from "./http-client.ts";
import { Informer, type InformerFailure } from "./informer.ts";
import { builtInTypes } from "./resources.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

const minuteMs = 60_000;

interface ConfigMap extends KubeObject {
  readonly data: { readonly text: string };
}

/** A version of an object in the server's history. */
interface Change {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ConfigMap;
}

/** Data the informer's projection refuses. */
const unreadable = "unreadable";
const texts = [
  "plain",
  "zwölf Boxkämpfer",
  "日本語のテキスト",
  "🦄 emoji 👩‍👩‍👧",
  'line\nbreak \\ "quoted"',
  unreadable,
];

/** A minimal API server behind the transport: objects, history, and bytes that the faults then damage. */
class ScriptedServer {
  readonly objects = new Map<string, ConfigMap>();
  readonly #history: Change[] = [];
  readonly #clock: VirtualClock;
  readonly #pages = new Map<string, { readonly items: readonly ConfigMap[]; readonly version: number }>();
  readonly #listeners = new Set<() => void>();
  #version = 100;
  #floor = 100;
  #uid = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  write(name: string, text: string): void {
    const old = this.objects.get(name);
    const uid = old?.metadata.uid ?? `uid-${this.#uid++}`;
    const object = { ...configMap(name, { text, uid }), metadata: { name, namespace: "ns", uid, ...this.#next() } };
    this.objects.set(name, object);
    this.#log({ type: old === undefined ? "ADDED" : "MODIFIED", object });
  }

  remove(name: string): void {
    const old = this.objects.get(name);
    if (old === undefined) return;
    this.objects.delete(name);
    this.#log({ type: "DELETED", object: { ...old, metadata: { ...old.metadata, ...this.#next() } } });
  }

  /** Drops the history: watches and list pages from before get 410. */
  compact(): void {
    this.#floor = this.#version;
    this.#pages.clear();
  }

  list(query: URLSearchParams): TransportResponse {
    const token = query.get("continue");
    const page = token === null ? this.#snapshot() : this.#pages.get(token);
    if (page === undefined) return status(410, "Expired");
    const limit = Number(query.get("limit"));
    const rest = page.items.slice(limit);
    const next = rest.length === 0 ? undefined : `${page.version}-${rest.length}`;
    if (next !== undefined) this.#pages.set(next, { ...page, items: rest });
    const items = page.items.slice(0, limit);
    return reply(200, { items, metadata: { resourceVersion: String(page.version), continue: next } });
  }

  /** The bytes of all events after a version, as they happen; ends when the signal aborts. */
  async *events(from: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (let at = from; !signal.aborted; ) {
      if (at < this.#floor) {
        yield line({ type: "ERROR", object: statusBody(410, "Expired") });
        return;
      }
      const next = this.#history.find(({ version }) => version > at);
      if (next === undefined) {
        if (!(await this.#change(signal))) yield line(bookmark(this.#version)); // a minute has passed
        at = Math.max(at, this.#history.some(({ version }) => version > at) ? at : this.#version);
        continue;
      }
      yield line({ type: next.type, object: next.object });
      at = next.version;
    }
  }

  isExpired(version: number): boolean {
    return version < this.#floor;
  }

  /** True at the next write, false after a minute without one. */
  #change(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (changed: boolean): void => {
        this.#listeners.delete(changes);
        signal.removeEventListener("abort", changes);
        timer.cancel();
        resolve(changed);
      };
      const changes = (): void => settle(true);
      const timer = this.#clock.setTimer(minuteMs, () => settle(false));
      this.#listeners.add(changes);
      signal.addEventListener("abort", changes, { once: true });
    });
  }

  #snapshot() {
    return { items: [...this.objects.values()], version: this.#version };
  }

  #next() {
    this.#version += 1;
    return { resourceVersion: String(this.#version) };
  }

  #log(change: Omit<Change, "version">): void {
    this.#history.push({ ...change, version: this.#version });
    for (const listener of [...this.#listeners]) listener();
  }
}

function configMap(name: string, { text, uid }: { readonly text: string; readonly uid: string }): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "ns", uid }, data: { text } };
}

const bookmark = (version: number) => ({
  type: "BOOKMARK",
  object: { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion: String(version) } },
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const line = (value: unknown): Uint8Array => bytes(`${JSON.stringify(value)}\n`);
const statusBody = (code: number, reason: string) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: reason,
  reason,
  code,
});

async function* once(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function reply(code: number, body: unknown, headers: TransportResponse["headers"] = {}): TransportResponse {
  return { status: code, headers, body: once(bytes(JSON.stringify(body))) };
}

function status(code: number, reason: string, headers: TransportResponse["headers"] = {}): TransportResponse {
  return reply(code, statusBody(code, reason), headers);
}

const listFaults = ["500", "429", "410", "reset", "hang", "cut-body", "text-503"] as const;
const watchFaults = [...listFaults, "cut", "half-line", "garbage", "410-midstream", "silence"] as const;
type Fault = (typeof watchFaults)[number];

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

/** Faults that replace the response; undefined for faults that damage the stream. */
function refusal(fault: Fault, { signal }: TransportRequest): TransportResponse | Promise<never> | undefined {
  if (fault === "500") return status(500, "InternalError");
  if (fault === "429") return { ...reply(429, "slow down"), headers: { "retry-after": "7" } };
  if (fault === "410") return status(410, "Expired");
  if (fault === "text-503") return { status: 503, headers: {}, body: once(bytes("upstream connect error")) };
  if (fault === "cut-body") return { status: 200, headers: {}, body: once(bytes('{"metadata":{"resource')) };
  if (fault === "reset") return Promise.reject(new Error("ECONNRESET"));
  return fault === "hang" ? never(signal) : undefined;
}

/** Splits chunks anywhere, also inside characters, and applies the fault after this many bytes. */
async function* damaged(
  source: AsyncGenerator<Uint8Array>,
  {
    fault,
    afterBytes,
    random,
    signal,
  }: { fault: Fault | undefined; afterBytes: number; random: Random; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let left = fault === undefined ? Number.POSITIVE_INFINITY : afterBytes;
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; ) {
      const end = Math.min(chunk.length, start + 1 + random.int(chunk.length), start + left);
      if (end > start) yield chunk.slice(start, end);
      left -= end - start;
      start = end;
      if (left > 0) continue;
      if (fault === "cut") throw new Error("aborted");
      if (fault === "garbage") yield bytes('\n{"type":"MODIFIED","object":{"metadata":\n');
      if (fault === "410-midstream")
        yield bytes(`\n${JSON.stringify({ type: "ERROR", object: statusBody(410, "Expired") })}\n`);
      if (fault === "silence") await never(signal);
      return; // an incomplete line, and a normal end of the stream
    }
  }
}

interface Plan {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** The fault of the next request, if it has one. */
  readonly fault: (isWatch: boolean) => Fault | undefined;
}

function transportTo(server: ScriptedServer, { random, fault }: Plan) {
  return async (request: TransportRequest): Promise<TransportResponse> => {
    const query = new URL(request.path, "http://server").searchParams;
    const isWatch = query.get("watch") === "true";
    const planned = fault(isWatch);
    const refused = planned && refusal(planned, request);
    if (refused !== undefined) return refused;
    if (!isWatch) return server.list(query);
    const from = Number(query.get("resourceVersion"));
    if (server.isExpired(from)) return status(410, "Expired");
    const { signal } = request;
    const body = damaged(server.events(from, signal), { fault: planned, afterBytes: random.int(400), random, signal });
    return { status: 200, headers: {}, body };
  };
}

interface Projected {
  readonly name: string;
  readonly text: string;
}

function project({ metadata, data }: ConfigMap): Projected {
  if (data.text === unreadable) throw new Error("cannot be read");
  return { name: metadata.name ?? "", text: data.text };
}

/** What a fresh list would put into a cache. */
function expected(server: ScriptedServer): Record<string, Projected> {
  const readable = [...server.objects.values()].filter(({ data }) => data.text !== unreadable);
  return Object.fromEntries(readable.map((object) => [`ns/${object.metadata.name}`, project(object)]));
}

function contents(informer: Informer<ConfigMap, Projected>): Record<string, Projected> {
  return Object.fromEntries([...informer.keys()].map((key) => [key, informer.get(key) as Projected]));
}

/** Follows the handler calls, and reports any call that does not fit the ones before. */
function shadowOf(informer: Informer<ConfigMap, Projected>): Map<string, Projected> {
  const shadow = new Map<string, Projected>();
  informer.subscribe({
    added: (object, key) => {
      expect(shadow.has(key)).toBe(false);
      shadow.set(key, object);
    },
    updated: (object, old, key) => {
      expect(shadow.get(key)).toBe(old);
      shadow.set(key, object);
    },
    deleted: (object, key) => {
      expect(shadow.get(key)).toBe(object);
      shadow.delete(key);
    },
  });
  return shadow;
}

function start(server: ScriptedServer, plan: Plan) {
  const { clock, random } = plan;
  const kube = httpClient({ transport: transportTo(server, plan), clock, userAgent: "test" });
  const failures: InformerFailure[] = [];
  const onFailure = (failure: InformerFailure) => failures.push(failure);
  const options = {
    kube,
    type: builtInTypes.ConfigMap,
    clock,
    random: random.fork("informer"),
    project,
    pageSize: 3,
    onFailure,
  };
  const informer = new Informer<ConfigMap, Projected>(options);
  const shadow = shadowOf(informer);
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  return { informer, shadow, failures, stop: () => stop.abort(), running };
}

function churn(server: ScriptedServer, random: Random): void {
  const name = `map-${random.int(12)}`;
  if (random.int(4) === 0) server.remove(name);
  else server.write(name, random.pick(texts));
  if (random.int(15) === 0) server.compact();
}

async function survive(seed: number): Promise<readonly InformerFailure[]> {
  const random = new Random(seed);
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock);
  for (let i = 0; i < 8; i++) churn(server, random);
  const until = 90 * minuteMs;
  for (let at = 0; at < until; at += random.int(4 * minuteMs)) clock.setTimer(at, () => churn(server, random));
  const faults = random.fork("faults");
  const fault = (isWatch: boolean) =>
    clock.now() < until && faults.int(3) > 0 ? faults.pick<Fault>(isWatch ? watchFaults : listFaults) : undefined;
  const { informer, shadow, failures, stop, running } = start(server, { clock, random: random.fork("chunks"), fault });

  await clock.runUntilIdle({ untilMs: until + 30 * minuteMs });
  expect(informer.hasSynced).toBe(true);
  expect(contents(informer)).toEqual(expected(server));
  expect(Object.fromEntries(shadow)).toEqual(contents(informer));
  stop();
  await clock.runUntilIdle({ untilMs: until + 40 * minuteMs });
  await running;
  expect(informer.state).toEqual({ kind: "stopped" });
  expect(clock.pending).toBe(0); // nothing is left over
  expect(failures.filter(({ kind }) => kind === "handler-failed")).toEqual([]); // the shadow reported nothing
  return failures;
}

describe("Informer with faults", () => {
  it("survives every fault, and its cache equals a fresh list afterwards", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        for (const failure of await survive(seed)) seen.add(failure.kind);
      }),
      { numRuns: runs(1_000) },
    );
    // Every kind of fault happened.
    expect([...seen].sort()).toEqual(["list-failed", "undecodable", "watch-failed", "watch-idle"]);
  }, 120_000);

  it("resumes after a cut at every byte of an event, without listing again", async () => {
    const event = line({ type: "MODIFIED", object: configMap("map-1", { text: "日本 🦄", uid: "uid-0" }) }).length + 30;
    for (let cutAt = 0; cutAt <= event; cutAt++) {
      const clock = new VirtualClock();
      const server = new ScriptedServer(clock);
      server.write("map-1", "before");
      let watches = 0;
      let lists = 0;
      const random = new Random(cutAt);
      const cutOnce = {
        int: () => cutAt,
        next: () => 0.5,
        fork: (name: string) => random.fork(name),
      } as unknown as Random;
      const fault = (isWatch: boolean): Fault | undefined => {
        if (!isWatch) lists++;
        return isWatch && watches++ === 0 ? "cut" : undefined;
      };
      const { informer, stop, running } = start(server, { clock, random: cutOnce, fault });
      await clock.advance(1_000);
      server.write("map-1", "日本 🦄");
      server.write("map-2", "after");
      await clock.advance(30 * minuteMs);

      expect(contents(informer)).toEqual(expected(server));
      expect(lists).toBe(1);
      expect(watches).toBeGreaterThan(1);
      stop();
      await clock.advance(minuteMs);
      await running;
    }
  });
});
