import { describe, expect, it } from "vitest";
import { chunks, failure, reply, silence } from "../../test/kube/memory-server.ts";
import type { KubeObject } from "../api/object.ts";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { httpClient } from "./http-client.ts";
import { Informer, type InformerFailure } from "./informer.ts";
import { builtInTypes } from "./resources.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

type Answer = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>;

const node = (name: string, version: number, uid = name): KubeObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid, resourceVersion: String(version) },
});

const page = (version: number, items: readonly unknown[], next?: string): Answer => {
  return () => reply(200, { metadata: { resourceVersion: String(version), continue: next }, items });
};

const encode = (events: readonly unknown[]) =>
  new TextEncoder().encode(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
/** Events, then the stream ends. */
const stream = (...events: readonly unknown[]): Answer => {
  return () => ({ status: 200, headers: {}, body: chunks(encode(events)) });
};
/** Events, then silence. */
const open = (...events: readonly unknown[]): Answer => {
  const body = async function* (request: TransportRequest): AsyncGenerator<Uint8Array> {
    if (events.length > 0) yield encode(events);
    await silence(request);
  };
  return (request) => ({ status: 200, headers: {}, body: body(request) });
};
const bookmark = (version: number) => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(version) } },
});

/** Responses in order; after the last one, silence. */
function setUp(...answers: readonly Answer[]) {
  const clock = new VirtualClock();
  const asked: { readonly at: number; readonly what: string }[] = [];
  const transport = async (request: TransportRequest): Promise<TransportResponse> => {
    const query = new URL(request.path, "http://server").searchParams;
    const kind = query.has("watch") ? `watch ${query.get("resourceVersion")}` : `list ${query.get("continue") ?? ""}`;
    asked.push({ at: clock.now(), what: kind.trim() });
    return (answers[asked.length - 1] ?? open())(request);
  };
  const log: string[] = [];
  let restored = 0;
  const failures: InformerFailure[] = [];
  const informer = new Informer<KubeObject, string>({
    kube: httpClient({ transport, clock, userAgent: "test" }),
    type: builtInTypes.Node,
    clock,
    random: new Random(7),
    project: ({ metadata }) => {
      if (metadata.name === "unreadable") throw new Error("cannot be read");
      return `${metadata.name}@${metadata.resourceVersion}`;
    },
    onFailure: (failure) => failures.push(failure),
  });
  informer.subscribe({
    added: (object) => log.push(`+${object}`),
    updated: (object, old) => log.push(`${old}>${object}`),
    deleted: (object) => log.push(`-${object}`),
    restored: () => restored++,
  });
  const stop = new AbortController();
  const run = async (ms: number) => {
    void informer.run(stop.signal);
    await clock.advance(ms);
    stop.abort();
    await clock.advance(0);
  };
  return {
    clock,
    informer,
    asked,
    what: () => asked.map((one) => one.what),
    log,
    restores: () => restored,
    failures,
    run,
  };
}

describe("Informer", () => {
  it("lists page by page, is synced with the last, and watches from there", async () => {
    const { informer, what, log, run } = setUp(
      page(5, [node("a", 1), node("b", 2)], "more"),
      page(5, [node("c", 3)]),
      open({ type: "MODIFIED", object: node("b", 6) }, { type: "DELETED", object: node("a", 7) }),
    );
    expect([informer.state.kind, informer.hasSynced]).toEqual(["idle", false]);
    await run(1_000);
    expect(what()).toEqual(["list", "list more", "watch 5"]);
    expect(log).toEqual(["+a@1", "+b@2", "+c@3", "b@2>b@6", "-a@1"]);
    expect([informer.hasSynced, informer.size, informer.get("b"), informer.get("a")]).toEqual([
      true,
      2,
      "b@6",
      undefined,
    ]);
    await informer.synced;
  });

  it("freezes what it caches", async () => {
    const clock = new VirtualClock();
    const transport = async (): Promise<TransportResponse> =>
      reply(200, { metadata: { resourceVersion: "5" }, items: [{ ...node("a", 1), spec: { taints: [] } }] });
    const kube = httpClient({ transport, clock, userAgent: "test" });
    const informer = new Informer<KubeObject, KubeObject>({
      kube,
      type: builtInTypes.Node,
      clock,
      random: new Random(7),
      project: (one) => ({ ...one }),
    });
    const stop = new AbortController();
    void informer.run(stop.signal);
    await clock.advance(0);
    const kept = informer.get("a");
    stop.abort();
    expect([kept, kept?.metadata, kept?.spec].map(Object.isFrozen)).toEqual([true, true, true]);
  });

  it("resumes from the last version it saw, bookmarks included", async () => {
    const { what, run } = setUp(
      page(5, []),
      stream({ type: "ADDED", object: node("a", 6) }),
      stream(bookmark(9)),
      open(),
    );
    await run(60_000);
    expect(what()).toEqual(["list", "watch 5", "watch 6", "watch 9"]);
  });

  it("lists again at the first 410, at the start or in the stream, and reports only what changed", async () => {
    const expired = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } };
    const { what, log, run } = setUp(
      page(5, [node("a", 1), node("b", 2), node("c", 3)]),
      () => failure(410, "Expired"),
      page(9, [node("a", 1), node("b", 8), node("d", 9)]),
      stream(expired),
      page(12, [node("a", 1), node("b", 11, "another b"), node("d", 9)]),
      open(),
    );
    await run(60_000);
    expect(what()).toEqual(["list", "watch 5", "list", "watch 9", "list", "watch 12"]);
    expect(log).toEqual(["+a@1", "+b@2", "+c@3", "-c@3", "b@2>b@8", "+d@9", "-b@8", "+b@11"]);
  });

  it("restarts a list whose pages expired", async () => {
    const { what, informer, run } = setUp(
      page(5, [node("gone", 1)], "more"),
      () => failure(410, "Expired"),
      page(9, [node("a", 8)], "rest"),
      () => failure(500, "InternalError"),
      page(9, [node("b", 9)]),
    );
    await run(60_000);
    expect(what()).toEqual(["list", "list more", "list", "list rest", "list rest", "watch 9"]);
    expect([...informer.keys()]).toEqual(["a", "b"]);
  });

  it("waits as long as the server asks, and longer with each failure", async () => {
    const down: Answer = () => failure(500, "InternalError");
    const { asked, run } = setUp(
      () => reply(429, "", { "retry-after": "7" }),
      ...Array<Answer>(10).fill(down),
      page(5, []),
    );
    await run(600_000);
    const waits = asked.slice(0, 12).map(({ at }, i) => at - (asked[i - 1]?.at ?? 0));
    expect(waits[1]).toBe(7_000);
    waits.slice(2).forEach((ms, i) => {
      const full = Math.min(30_000, 500 * 2 ** (i + 1));
      expect(ms).toBeGreaterThanOrEqual(full / 2);
      expect(ms).toBeLessThan(full + 1);
    });
  });

  it("does not hammer a server whose lists succeed and whose watches are always expired", async () => {
    const answers = Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? page(i, []) : () => failure(410, "Expired")));
    const { asked, run } = setUp(...answers);
    await run(600_000);
    expect(asked.length).toBeLessThan(80);
  });

  it("lists again when the events after a version cannot be read", async () => {
    const garbage: Answer = () => ({ status: 200, headers: {}, body: chunks(new TextEncoder().encode("{oops\n")) });
    const { what, run } = setUp(page(5, []), garbage, garbage, garbage, page(9, []), open());
    await run(60_000);
    expect(what()).toEqual(["list", "watch 5", "watch 5", "watch 5", "list", "watch 9"]);
  });

  it("keeps resuming during an outage, which a new list would not end", async () => {
    const away: Answer = () => Promise.reject(new Error("ECONNREFUSED"));
    const { what, run } = setUp(page(5, []), ...Array<Answer>(6).fill(away), open());
    await run(120_000);
    expect(what()).toEqual(["list", ...Array(7).fill("watch 5")]);
  });

  it("considers a watch dead after five minutes without data, and lists again", async () => {
    const { asked, failures, run } = setUp(page(5, []), open(bookmark(6)), page(6, []), open());
    await run(3_600_000);
    expect(asked.slice(0, 4).map(({ at, what }) => `${what} at ${(at / 60_000).toFixed(2)}`)).toEqual([
      "list at 0.00",
      "watch 5 at 0.00",
      expect.stringMatching(/^list at 5\.0/),
      expect.stringMatching(/^watch 6 at 5\.0/),
    ]);
    expect(failures).toContainEqual({ kind: "watch-idle", idleMs: 300_000 });
  });

  describe("a server that was restored from a backup", () => {
    const before = page(50, [node("a", 40), node("b", 45), node("c", 48)]);
    const tooLarge = (): TransportResponse =>
      failure(504, "Timeout", {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      });

    it.each<[string, Answer]>([
      ["refuses the version", tooLarge],
      ["sends older events", stream({ type: "MODIFIED", object: node("b", 21) })],
      ["sends an older bookmark", stream(bookmark(21))],
      ["sends nothing", open()],
    ])("is listed again when it %s, and its older versions are reported", async (_, answer) => {
      const { what, log, restores, run } = setUp(before, answer, page(20, [node("a", 12), node("b", 45)]), open());
      await run(600_000);
      expect(what().slice(0, 4)).toEqual(["list", "watch 50", "list", "watch 20"]);
      // The same version may be another content.
      expect(log.slice(3)).toEqual(["-c@48", "a@40>a@12", "b@45>b@45"]);
      expect(restores()).toBe(1);
    });

    it("is recognized by an object that became older, when it has reached our version again", async () => {
      const { log, restores, run } = setUp(before, tooLarge, page(60, [node("a", 30), node("b", 45)]), open());
      await run(60_000);
      expect(log.slice(3)).toEqual(["-c@48", "a@40>a@30", "b@45>b@45"]);
      expect(restores()).toBe(1);
    });

    it("a list like any other is no restore", async () => {
      const { log, restores, run } = setUp(before, () => failure(410, "Expired"), page(60, [node("a", 40)]), open());
      await run(60_000);
      expect(log.slice(3)).toEqual(["-b@45", "-c@48"]);
      expect(restores()).toBe(0);
    });
  });

  it("leaves out and reports what it cannot decode", async () => {
    const { informer, log, failures, run } = setUp(
      page(5, [node("unreadable", 1), { metadata: {} }, null, node("a", 2)]),
      open({ type: "MODIFIED", object: node("unreadable", 6) }, { type: "ADDED", object: node("b", 7) }),
    );
    await run(1_000);
    expect([...informer.values()]).toEqual(["a@2", "b@7"]);
    expect(log).toEqual(["+a@2", "+b@7"]);
    expect(failures.map((failure) => (failure.kind === "undecodable" ? failure.key : failure.kind))).toEqual([
      "unreadable",
      "",
      "",
      "unreadable",
    ]);
  });

  it("sends everything to a late subscriber, and a failing one does not affect others", async () => {
    const { informer, log, failures, run } = setUp(
      page(5, [node("a", 1)]),
      open({ type: "ADDED", object: node("b", 6) }),
    );
    informer.subscribe({
      added: () => {
        throw new Error("clumsy");
      },
    });
    await run(1_000);
    const late: string[] = [];
    const leave = informer.subscribe({ added: (object) => late.push(object) });
    leave();
    expect([log, late]).toEqual([
      ["+a@1", "+b@6"],
      ["a@1", "b@6"],
    ]);
    expect(failures.map(({ kind }) => kind)).toEqual(["handler-failed", "handler-failed"]);
  });

  it("stops when aborted, and cannot be started twice", async () => {
    const { informer, clock, run } = setUp(page(5, []));
    await run(1_000);
    expect(informer.state).toEqual({ kind: "stopped" });
    expect(clock.pending).toBe(0);
    await expect(informer.run(new AbortController().signal)).rejects.toThrow("has already been started");
  });
});
