import { describe, expect, it } from "vitest";
import { chunks, reply, silence } from "../../test/kube/memory-server.ts";
import type { KubeObject } from "../api/object.ts";
import type { Pause } from "../util/pause.ts";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { httpClient } from "./http-client.ts";
import { Informer } from "./informer.ts";
import { builtInTypes } from "./resources.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

const many = 2_000;
const perPage = 500;

function nodes(prefix: string, version: number): readonly KubeObject[] {
  return Array.from({ length: many }, (_, at) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `${prefix}-${at}`, uid: `${prefix}-${at}`, resourceVersion: String(version) },
  }));
}

/** Serves these pages, then these events, then says that the version has expired. */
function server(lists: readonly (readonly KubeObject[])[], watched: readonly KubeObject[]) {
  let listing = 0;
  return (request: TransportRequest): TransportResponse => {
    const query = new URL(request.path, "http://server").searchParams;
    if (query.has("watch")) return watching(request, listing < lists.length ? watched : undefined);
    const from = Number(query.get("continue") ?? 0);
    const items = lists[Math.min(listing, lists.length - 1)] ?? [];
    const next = from + perPage < items.length ? String(from + perPage) : undefined;
    if (next === undefined) listing++;
    return reply(200, {
      metadata: { resourceVersion: String(listing * 1000), continue: next },
      items: items.slice(from, from + perPage),
    });
  };
}

function watching(request: TransportRequest, news: readonly KubeObject[] | undefined): TransportResponse {
  if (news === undefined) return { status: 200, headers: {}, body: quiet(request) };
  const gone = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } };
  const events = [...news.map((object) => ({ type: "ADDED", object })), gone];
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  return { status: 200, headers: {}, body: chunks(new TextEncoder().encode(text)) };
}

async function* quiet(request: TransportRequest): AsyncGenerator<Uint8Array> {
  yield new Uint8Array();
  await silence(request);
}

/** Counts what is read between two pauses; pauses after every n calls. */
function setUp(answer: (request: TransportRequest) => TransportResponse, every: number) {
  const clock = new VirtualClock();
  const seen = { work: 0, most: 0, asked: 0, pauses: 0 };
  const pause: Pause = () => {
    if (++seen.asked % every !== 0) return undefined;
    seen.most = Math.max(seen.most, seen.work);
    seen.work = 0;
    seen.pauses++;
    return clock.sleep(1);
  };
  const log: string[] = [];
  const told = (what: string) => {
    seen.work++;
    log.push(what);
  };
  const informer = new Informer<KubeObject, string>({
    kube: httpClient({ transport: async (request) => answer(request), clock, userAgent: "test" }),
    type: builtInTypes.Node,
    clock,
    random: new Random(7),
    pageSize: perPage,
    pause,
    project: ({ metadata }) => {
      seen.work++;
      return metadata.name ?? "";
    },
  });
  informer.subscribe({
    added: (name) => told(`+${name}`),
    updated: (name) => told(`=${name}`),
    deleted: (name) => told(`-${name}`),
  });
  return { clock, informer, seen, log };
}

async function ran(every: number, lists: readonly (readonly KubeObject[])[], watched: readonly KubeObject[] = []) {
  const set = setUp(server(lists, watched), every);
  const stop = new AbortController();
  void set.informer.run(stop.signal);
  await set.clock.advance(600_000);
  stop.abort();
  await set.clock.advance(0);
  return set;
}

describe("Informer with large lists", () => {
  const first = nodes("early", 1);
  const second = [...nodes("early", 1).slice(many / 2), ...nodes("other", 2)];
  const watched = nodes("late", 1_500);

  it("pauses while it reads a list, a watch, and another list; handlers see the same in the same order", async () => {
    const paced = await ran(1, [first, second], watched);
    const hasty = await ran(Number.POSITIVE_INFINITY, [first, second], watched);
    expect(paced.log).toEqual(hasty.log);
    expect([...paced.informer.keys()]).toEqual([...hasty.informer.keys()]);
    expect(paced.informer.size).toBe(second.length);
    expect(paced.log.filter((line) => line.startsWith("-"))).toHaveLength(many / 2 + many);
    expect(hasty.seen.pauses).toBe(0);
    expect(paced.seen.most).toBeLessThan(200);
    expect(hasty.seen.work).toBeGreaterThan(5 * many);
  });

  it("has synced when the whole list is cached, and not before", async () => {
    const { clock, informer } = setUp(server([first], []), 1);
    const sizes: number[] = [];
    void informer.synced.then(() => sizes.push(informer.size));
    const stop = new AbortController();
    void informer.run(stop.signal);
    while (!informer.hasSynced) {
      sizes.push(informer.size);
      await clock.advance(1);
    }
    stop.abort();
    await clock.advance(0);
    expect(new Set(sizes).size).toBeGreaterThan(10); // it grew while other work ran
    expect(informer.size).toBe(many);
  });

  it("stops in the middle of a list when aborted", async () => {
    const { clock, informer } = setUp(server([first], []), 1);
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    while (informer.size === 0) await clock.advance(1);
    stop.abort();
    await clock.advance(100);
    await run;
    expect([informer.state.kind, informer.hasSynced]).toEqual(["stopped", false]);
  });
});
