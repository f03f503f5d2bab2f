import { describe, expect, it } from "vitest";
import { chunks, failure, reply, silence } from "../../test/kube/memory-server.ts";
import type { KubeObject } from "../api/object.ts";
import { TokenBucket } from "../util/token-bucket.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import type { Patch, WatchEvent } from "./client.ts";
import { httpClient, type RequestOutcome } from "./http-client.ts";
import { isKubeError, type KubeError } from "./kube-error.ts";
import { builtInTypes, karpenterTypes } from "./resources.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "shop" }, spec: { nodeName: "n1" } };

function setUp(
  answer: (request: TransportRequest) => TransportResponse | Promise<TransportResponse> = () => reply(200, pod),
) {
  const clock = new VirtualClock();
  const requests: TransportRequest[] = [];
  const warnings: string[] = [];
  const outcomes: RequestOutcome[] = [];
  const kube = httpClient({
    clock,
    userAgent: "karpenter/test",
    timeoutMs: 10_000,
    transport: async (request) => {
      requests.push(request);
      return answer(request);
    },
    onWarning: (text) => warnings.push(text),
    onRequest: (outcome) => outcomes.push(outcome),
  });
  const sent = () => requests.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`);
  return { kube, clock, requests, sent, warnings, outcomes };
}

async function errorOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isKubeError(error)) throw new Error("no KubeError", { cause: error });
  return error;
}

async function collect(events: AsyncIterable<WatchEvent<KubeObject>>): Promise<WatchEvent<KubeObject>[]> {
  const all: WatchEvent<KubeObject>[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("httpClient", () => {
  it("addresses objects as an API server serves them", async () => {
    const { kube, sent } = setUp();
    await kube.get(builtInTypes.Pod, { name: "web", namespace: "shop" });
    await kube.get(builtInTypes.Pod, { name: "web" });
    await kube.get(builtInTypes.Node, { name: "n1" });
    await kube.get(karpenterTypes.NodePool, { name: "a b" });
    await kube.create(builtInTypes.Pod, pod, { dryRun: true, fieldManager: "me", fieldValidation: "Strict" });
    await kube.create(builtInTypes.Pod, pod, { subresource: "eviction" });
    await kube.create(
      builtInTypes.Pod,
      { ...pod, metadata: { namespace: "shop" } },
      { subresource: "binding", name: "web" },
    );
    await kube.update(builtInTypes.Pod, pod, { subresource: "status" });
    expect(sent()).toEqual([
      "GET /api/v1/namespaces/shop/pods/web",
      "GET /api/v1/namespaces/default/pods/web",
      "GET /api/v1/nodes/n1",
      "GET /apis/karpenter.sh/v1/nodepools/a b",
      "POST /api/v1/namespaces/shop/pods?dryRun=All&fieldManager=me&fieldValidation=Strict",
      "POST /api/v1/namespaces/shop/pods/web/eviction",
      "POST /api/v1/namespaces/shop/pods/web/binding",
      "PUT /api/v1/namespaces/shop/pods/web/status",
    ]);
  });

  it("refuses names that would address something else", async () => {
    const { kube, requests } = setUp();
    for (const name of ["", ".", "..", "a/b"]) {
      expect(await errorOf(kube.get(builtInTypes.Node, { name }))).toMatchObject({ code: "bad-request" });
      expect(await errorOf(kube.delete(builtInTypes.Pod, { name: "x", namespace: name || ".." }))).toBeDefined();
    }
    expect(requests).toEqual([]);
  });

  it("sends the four kinds of patch, each with its media type", async () => {
    const { kube, requests } = setUp();
    const patches: readonly Patch[] = [
      { kind: "json", body: [{ op: "remove", path: "/spec" }] },
      { kind: "merge", body: { spec: null } },
      { kind: "strategic", body: { spec: { a: 1 } } },
      { kind: "apply", body: { spec: { a: 1 } }, fieldManager: "me", force: true },
    ];
    for (const patch of patches) await kube.patch(builtInTypes.Node, { name: "n" }, patch);
    expect(requests.map(({ path, headers, body }) => [path, headers["content-type"], body])).toEqual([
      ["/api/v1/nodes/n", "application/json-patch+json", '[{"op":"remove","path":"/spec"}]'],
      ["/api/v1/nodes/n", "application/merge-patch+json", '{"spec":null}'],
      ["/api/v1/nodes/n", "application/strategic-merge-patch+json", '{"spec":{"a":1}}'],
      ["/api/v1/nodes/n?fieldManager=me&force=true", "application/apply-patch+yaml", '{"spec":{"a":1}}'],
    ]);
    expect(requests[0]?.headers).toMatchObject({ "user-agent": "karpenter/test", accept: "application/json" });
  });

  it("lists with selectors and pages, and adds the kind that servers leave out of items", async () => {
    const item = { metadata: { name: "web" } };
    const { kube, sent } = setUp(() =>
      reply(200, { metadata: { resourceVersion: "7", continue: "t" }, items: [item] }),
    );
    const list = await kube.list(builtInTypes.Pod, { namespace: "shop", labelSelector: "a in (b,c)", limit: 2 });
    await kube.list(builtInTypes.Pod, { continue: "t", resourceVersion: "7", fieldSelector: "spec.nodeName=n1" });
    expect(list).toEqual({ items: [{ apiVersion: "v1", kind: "Pod", ...item }], resourceVersion: "7", continue: "t" });
    expect(sent()).toEqual([
      "GET /api/v1/namespaces/shop/pods?labelSelector=a+in+(b,c)&limit=2",
      "GET /api/v1/pods?fieldSelector=spec.nodeName=n1&continue=t",
    ]);
  });

  it("reads null items as an empty list, and refuses a response that is not a list", async () => {
    const empty = setUp(() => reply(200, { metadata: { resourceVersion: "7", continue: "" }, items: null }));
    expect(await empty.kube.list(builtInTypes.Pod)).toEqual({ items: [], resourceVersion: "7" });
    const { kube } = setUp(() => reply(200, { items: [] }));
    expect(await errorOf(kube.list(builtInTypes.Pod))).toMatchObject({ code: "server-error" });
  });

  it("returns frozen objects", async () => {
    const { kube } = setUp();
    const got = await kube.get<typeof pod>(builtInTypes.Pod, { name: "web" });
    expect(got).toEqual(pod);
    expect([got, got.metadata, got.spec].map((part) => Object.isFrozen(part))).toEqual([true, true, true]);
  });

  it("delete returns an object that still waits for deletion, and undefined for a deleted one", async () => {
    const going = (metadata: object) => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: "t", ...metadata },
    });
    const answers = [
      { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 200 },
      pod, // some kinds return the object that was just removed
      going({ deletionGracePeriodSeconds: 0 }),
      going({ deletionGracePeriodSeconds: 30 }),
      going({ finalizers: ["a/b"] }),
    ];
    const { kube, requests } = setUp(() => reply(200, answers[requests.length - 1]));
    const preconditions = { uid: "u", resourceVersion: "1" };
    const left = [
      await kube.delete(builtInTypes.Pod, { name: "web" }, { propagation: "Orphan", preconditions, dryRun: true }),
    ];
    for (let i = 1; i < answers.length; i++) left.push(await kube.delete(builtInTypes.Pod, { name: "web" }));
    expect(left).toEqual([undefined, undefined, undefined, answers[3], answers[4]]);
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Orphan",
      preconditions,
      dryRun: ["All"],
    });
  });

  it("reports the server's warnings and the outcome of every request", async () => {
    const warning = ['299 - "one, \\"two\\"", 299 - "three"', '299 - "four"'];
    const { kube, warnings, outcomes } = setUp(() => reply(200, pod, { warning }));
    await kube.get(builtInTypes.Pod, { name: "web" });
    expect(warnings).toEqual(['one, "two"', "three", "four"]);
    expect(outcomes).toEqual([
      { type: builtInTypes.Pod, method: "GET", subresource: undefined, isWatch: false, httpStatus: 200, durationMs: 0 },
    ]);
  });

  it.each([
    [400, "BadRequest", "bad-request"],
    [401, "Unauthorized", "unauthorized"],
    [403, "Forbidden", "forbidden"],
    [404, "NotFound", "not-found"],
    [405, "MethodNotAllowed", "method-not-allowed"],
    [406, "NotAcceptable", "not-acceptable"],
    [409, "AlreadyExists", "already-exists"],
    [409, "Conflict", "conflict"],
    [410, "Gone", "expired"],
    [410, "Expired", "expired"],
    [413, "RequestEntityTooLarge", "too-large"],
    [415, "UnsupportedMediaType", "unsupported-media-type"],
    [422, "Invalid", "invalid"],
    [429, "TooManyRequests", "too-many-requests"],
    [500, "InternalError", "server-error"],
    [500, "ServerTimeout", "timeout"],
    [501, "whatever", "not-implemented"],
    [503, "ServiceUnavailable", "unavailable"],
    [504, "Timeout", "timeout"],
    [418, "Teapot", "bad-request"],
    [599, "toString", "server-error"],
  ])("a Status of %i %s is the error %s", async (code, reason, expected) => {
    const { kube } = setUp(() => failure(code, reason, { name: "web" }));
    const error = await errorOf(kube.get(builtInTypes.Pod, { name: "web" }));
    expect(error).toMatchObject({
      code: expected,
      message: `it is ${reason}`,
      status: { code, details: { name: "web" } },
    });
  });

  it.each([300, 301, 304])(
    "an answer of %i, which no API server gives, is an error and never an object",
    async (status) => {
      const { kube } = setUp(() => reply(status, pod));
      expect(await errorOf(kube.get(builtInTypes.Pod, { name: "web" }))).toMatchObject({ code: "server-error" });
      const watching = collect(kube.watch(builtInTypes.Pod, { signal: new AbortController().signal }));
      expect(await errorOf(watching)).toMatchObject({ code: "server-error" });
    },
  );

  it("reads errors of proxies, which are not a Status, and their Retry-After", async () => {
    const { kube } = setUp(() => reply(429, "slow down\n", { "retry-after": "7" }));
    expect(await errorOf(kube.get(builtInTypes.Pod, { name: "web" }))).toMatchObject({
      code: "too-many-requests",
      message: "GET /api/v1/namespaces/default/pods/web: the server responded with 429: slow down",
      retryAfterMs: 7_000,
    });
    const both = setUp(() => failure(429, "TooManyRequests", { retryAfterSeconds: 3 })).kube;
    expect(await errorOf(both.get(builtInTypes.Pod, { name: "web" }))).toMatchObject({ retryAfterMs: 3_000 });
    const dated = setUp(() => reply(503, "", { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" })).kube;
    expect(await errorOf(dated.get(builtInTypes.Pod, { name: "web" }))).toMatchObject({ retryAfterMs: undefined });
  });

  it("waits at most a minute, however long the server wants it to", async () => {
    const retryAfterMs = async (response: TransportResponse) =>
      (await errorOf(setUp(() => response).kube.get(builtInTypes.Pod, { name: "web" }))).retryAfterMs;
    expect(await retryAfterMs(reply(503, "", { "retry-after": "31536000" }))).toBe(60_000);
    expect(await retryAfterMs(reply(503, "", { "retry-after": "1e300" }))).toBe(60_000);
    expect(await retryAfterMs(failure(429, "TooManyRequests", { retryAfterSeconds: 86_400 }))).toBe(60_000);
    for (const wrong of ["soon", -5, null] as unknown as readonly number[]) {
      expect(await retryAfterMs(failure(429, "TooManyRequests", { retryAfterSeconds: wrong }))).toBeUndefined();
    }
  });

  it("fails with unavailable without a response, and with timeout if it is late", async () => {
    const dead = setUp(() => Promise.reject(new Error("connect ECONNREFUSED")));
    expect(await errorOf(dead.kube.get(builtInTypes.Node, { name: "n" }))).toMatchObject({
      code: "unavailable",
      message: "GET /api/v1/nodes/n: connect ECONNREFUSED",
    });
    const slow = setUp(silence);
    const waiting = errorOf(slow.kube.get(builtInTypes.Node, { name: "n" }));
    await slow.clock.runUntilIdle();
    expect(slow.clock.now()).toBe(10_000);
    expect(await waiting).toMatchObject({ code: "timeout", message: "GET /api/v1/nodes/n: no response within 10 s" });
    expect(slow.outcomes).toMatchObject([{ httpStatus: undefined, durationMs: 10_000 }]);
  });

  it("03 §6.4 the deadline starts when the rate limit lets the request through", async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ perSecond: 10, burst: 10 }, clock);
    const kube = httpClient({
      clock,
      userAgent: "karpenter/test",
      timeoutMs: 5_000,
      waitForRateLimit: (signal) => bucket.take(signal),
      transport: async (request) => {
        await clock.sleep(100, request.signal);
        return reply(200, pod);
      },
    });
    const outcomes = Promise.allSettled(
      Array.from({ length: 210 }, () => kube.get(builtInTypes.Pod, { name: "web", namespace: "shop" })),
    );
    await clock.runUntilIdle();
    expect((await outcomes).filter(({ status }) => status === "rejected")).toEqual([]);
    expect(clock.now()).toBe(20_100);
  });

  it("a request that waits for a free connection is not late", async () => {
    const clock = new VirtualClock();
    let most = 0;
    let running = 0;
    const kube = httpClient({
      clock,
      userAgent: "karpenter/test",
      timeoutMs: 5_000,
      transport: async (request) => {
        most = Math.max(most, ++running);
        await clock.sleep(4_000, request.signal);
        running -= 1;
        return reply(200, pod);
      },
    });
    const outcomes = Promise.allSettled(
      Array.from({ length: 100 }, () => kube.get(builtInTypes.Pod, { name: "web", namespace: "shop" })),
    );
    await clock.runUntilIdle();
    expect((await outcomes).filter(({ status }) => status === "rejected")).toEqual([]);
    expect([most, clock.now()]).toEqual([32, 16_000]);
  });

  it("leaves no timer behind", async () => {
    const { kube, clock } = setUp();
    await kube.get(builtInTypes.Pod, { name: "web" });
    expect(clock.pending).toBe(0);
  });
});

describe("httpClient.watch", () => {
  const text = (...lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const stream = (content: string, chunk = 1): TransportResponse => {
    const bytes = new TextEncoder().encode(content);
    const pieces = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, i) =>
      bytes.slice(i * chunk, (i + 1) * chunk),
    );
    return { status: 200, headers: {}, body: chunks(...pieces) };
  };
  const versioned = (resourceVersion: string, name = "wéb 日本") => ({ ...pod, metadata: { name, resourceVersion } });
  const signal = new AbortController().signal;

  it("decodes events wherever chunks are split, and drops an incomplete last line", async () => {
    const bookmark = { type: "BOOKMARK", object: { metadata: { resourceVersion: "9" } } };
    const annotations = { "k8s.io/initial-events-end": "true" };
    const end = { type: "BOOKMARK", object: { metadata: { resourceVersion: "8", annotations } } };
    const content = `${text({ type: "ADDED", object: versioned("7") }, end, bookmark)}{"type":"DELETED","obj`;
    for (const chunk of [1, 2, 3, 7, 1_000]) {
      const { kube } = setUp(() => stream(content, chunk));
      const events = await collect(kube.watch(builtInTypes.Pod, { signal }));
      expect(events).toEqual([
        { type: "ADDED", object: versioned("7") },
        { type: "BOOKMARK", resourceVersion: "8", initialEventsEnd: true },
        { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: false },
      ]);
    }
  });

  it("sends the watch options", async () => {
    const { kube, sent } = setUp(() => stream(""));
    await collect(kube.watch(builtInTypes.Pod, { signal, resourceVersion: "5", bookmarks: true, timeoutSeconds: 9 }));
    await collect(kube.watch(builtInTypes.Pod, { signal, namespace: "shop", sendInitialEvents: true }));
    expect(sent()).toEqual([
      "GET /api/v1/pods?watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=9",
      "GET /api/v1/namespaces/shop/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
    ]);
  });

  it("throws an error the server sends in the stream", async () => {
    const object = { kind: "Status", code: 410, reason: "Expired", message: "too old" };
    const { kube } = setUp(() => stream(text({ type: "ERROR", object })));
    expect(await errorOf(collect(kube.watch(builtInTypes.Pod, { signal })))).toMatchObject({
      code: "expired",
      message: "too old",
    });
  });

  it.each(["nonsense\n", "{}\n", '{"type":"ADDED","object":{}}\n', '{"type":"ERROR","object":{}}\n', "[1]\n"])(
    "throws at the line %j, which is no event",
    async (content) => {
      const { kube } = setUp(() => stream(content));
      expect(await errorOf(collect(kube.watch(builtInTypes.Pod, { signal })))).toMatchObject({ code: "server-error" });
    },
  );

  it("throws at bytes that are not UTF-8", async () => {
    const line = new TextEncoder().encode(text({ type: "ADDED", object: versioned("7", "x") }));
    line[line.indexOf(0x78)] = 0xff;
    const { kube } = setUp(() => ({ status: 200, headers: {}, body: chunks(line) }));
    expect(await errorOf(collect(kube.watch(builtInTypes.Pod, { signal })))).toMatchObject({ code: "server-error" });
  });

  it("has a deadline for the response headers only, and ends without an error when aborted", async () => {
    const stop = new AbortController();
    const open = setUp((request) => {
      const body = async function* (): AsyncGenerator<Uint8Array> {
        yield new TextEncoder().encode(text({ type: "ADDED", object: versioned("7") }));
        await silence(request);
      };
      return { status: 200, headers: {}, body: body() };
    });
    const events = collect(open.kube.watch(builtInTypes.Pod, { signal: stop.signal }));
    await open.clock.advance(3_600_000);
    stop.abort();
    expect(await events).toHaveLength(1);

    const closed = setUp(silence);
    const waiting = errorOf(collect(closed.kube.watch(builtInTypes.Pod, { signal })));
    await closed.clock.runUntilIdle();
    expect(await waiting).toMatchObject({ code: "timeout" });
  });

  it("ends at once when aborted while it waits for the rate limit, and returns its token", async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ perSecond: 1, burst: 1 }, clock);
    const kube = httpClient({
      clock,
      userAgent: "karpenter/test",
      waitForRateLimit: (aborted) => bucket.take(aborted),
      transport: async () => stream(""),
    });
    expect(bucket.tryTake()).toBe(true);
    const stop = new AbortController();
    const events = collect(kube.watch(builtInTypes.Pod, { signal: stop.signal }));
    await clock.advance(10);
    stop.abort();
    expect(await events).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(bucket.reserve()).toBe(990);
  });

  it("fails with unavailable when the stream breaks, and with the error of a refusal", async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(text({ type: "ADDED", object: versioned("7") }));
      throw new Error("aborted");
    };
    const { kube } = setUp(() => ({ status: 200, headers: {}, body: broken() }));
    expect(await errorOf(collect(kube.watch(builtInTypes.Pod, { signal })))).toMatchObject({ code: "unavailable" });
    const refusing = setUp(() => failure(410, "Expired")).kube;
    expect(await errorOf(collect(refusing.watch(builtInTypes.Pod, { signal })))).toMatchObject({ code: "expired" });
  });
});
