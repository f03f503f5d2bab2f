import { describe, expect, it } from "vitest";
import { failure, type Interference, memoryServer } from "../../test/kube/memory-server.ts";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import type { Event } from "./event.ts";
import { type EventRecord, EventRecorder, type EventRecorderOptions } from "./event-recorder.ts";
import { httpClient } from "./http-client.ts";

const pod = { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web", uid: "u1" };
const eventRecord = (change: Partial<EventRecord> = {}): EventRecord => ({
  involvedObject: pod,
  type: "Normal",
  reason: "Nominated",
  message: "Pod should schedule on: nodeclaim/a",
  ...change,
});

function setUp(options: Partial<EventRecorderOptions> = {}, interfere?: Interference) {
  const clock = new VirtualClock({ startAt: Date.parse("2026-01-01T00:00:00.500Z") });
  const server = memoryServer(interfere);
  const kube = httpClient({ transport: server.transport, clock, userAgent: "test" });
  const lost: string[] = [];
  const recorder = new EventRecorder({
    kube,
    clock,
    random: new Random(1),
    component: "karpenter",
    onError: (_, { message }) => lost.push(message),
    ...options,
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  const events = () => [...server.objects.values()] as Event[];
  return { clock, recorder, server, events, lost, stop: () => stop.abort(), running };
}

describe("EventRecorder", () => {
  it("writes an Event pod the object, in its namespace", async () => {
    const { clock, recorder, events } = setUp();
    expect(recorder.record(eventRecord())).toBe(true);
    await clock.advance(0);
    expect(events()).toEqual([
      {
        apiVersion: "v1",
        kind: "Event",
        metadata: {
          name: expect.stringMatching(/^web\.[0-9a-f]{16}$/),
          namespace: "shop",
          resourceVersion: "1",
        },
        involvedObject: pod,
        type: "Normal",
        reason: "Nominated",
        message: "Pod should schedule on: nodeclaim/a",
        source: { component: "karpenter" },
        reportingComponent: "karpenter",
        reportingInstance: "",
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        count: 1,
      },
    ]);
    const node = { apiVersion: "v1", kind: "Node", name: "n", uid: "n" };
    recorder.record(eventRecord({ involvedObject: node }));
    await clock.advance(0);
    expect(events()[1]?.metadata.namespace).toBe("default");
  });

  it("03 §6.2 records an event with dedupe values once in two minutes, or in its own duration", async () => {
    const { clock, recorder } = setUp();
    const record = (change: Partial<EventRecord>) => recorder.record(eventRecord(change));
    const two = { dedupe: { values: ["u1"] } };
    expect([record(two), record({ ...two, message: "another" }), record({ ...two, reason: "NOMINATED" })]).toEqual([
      true,
      false,
      false,
    ]);
    expect(record({ dedupe: { values: ["u1", "x"] } })).toBe(true);
    expect(record({ ...two, reason: "Other" })).toBe(true);
    await clock.advance(119_999);
    expect(record(two)).toBe(false);
    await clock.advance(1);
    expect(record(two)).toBe(true);
    const five = { reason: "FailedScheduling", dedupe: { values: ["u1"], durationMs: 300_000 } };
    expect(record(five)).toBe(true);
    await clock.advance(299_999);
    expect(record(five)).toBe(false);
    await clock.advance(1);
    expect([record(five), record({ dedupe: { values: [] } }), record({ dedupe: { values: [] } })]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("03 §6.2 does not deduplicate events of two objects of one name", async () => {
    const { recorder } = setUp();
    const dedupe = { values: ["web"] };
    expect(recorder.record(eventRecord({ dedupe }))).toBe(true);
    expect(recorder.record(eventRecord({ dedupe, involvedObject: { ...pod, namespace: "other", uid: "u2" } }))).toBe(
      true,
    );
  });

  it("02:L-21 limits a reason to five a second after a burst of ten, over all objects", async () => {
    const { clock, recorder } = setUp({ limits: { Nominated: { perSecond: 5, burst: 10 } } });
    let uid = 0;
    const recordMany = (count: number, reason = "Nominated") => {
      const tries = Array.from({ length: count }, () =>
        recorder.record(eventRecord({ reason, involvedObject: { ...pod, uid: `${uid++}` } })),
      );
      return tries.filter((isRecorded) => isRecorded).length;
    };
    expect([recordMany(30), recordMany(30, "Other")]).toEqual([10, 30]);
    await clock.advance(1_000);
    expect(recordMany(30)).toBe(5);
    await clock.advance(60_000);
    expect(recordMany(30)).toBe(10);
  });

  it("counts repetitions in one Event; if it was deleted, a new one continues the count", async () => {
    const { clock, recorder, events, server } = setUp();
    for (let i = 0; i < 3; i++) {
      recorder.record(eventRecord());
      await clock.advance(60_000);
    }
    expect(events().map(({ count, firstTimestamp, lastTimestamp }) => [count, firstTimestamp, lastTimestamp])).toEqual([
      [3, "2026-01-01T00:00:00Z", "2026-01-01T00:02:00Z"],
    ]);
    server.objects.clear();
    recorder.record(eventRecord());
    await clock.advance(0);
    expect(events().map(({ count, firstTimestamp }) => [count, firstTimestamp])).toEqual([[4, "2026-01-01T00:00:00Z"]]);
    await clock.advance(600_000);
    recorder.record(eventRecord());
    await clock.advance(0);
    expect(events().map(({ count }) => count)).toEqual([4, 1]);
  });

  it("allows 25 events of one object, then one in five minutes", async () => {
    const { clock, recorder } = setUp();
    const recordMany = () => recorder.record(eventRecord());
    expect(Array.from({ length: 40 }, recordMany).filter((isRecorded) => isRecorded)).toHaveLength(25);
    await clock.advance(299_000);
    expect(recordMany()).toBe(false);
    await clock.advance(1_000);
    expect([recordMany(), recordMany()]).toEqual([true, false]);
  });

  it("retries transient failures in order, and gives up on others", async () => {
    let failures = 3;
    const refuse: Interference = ({ body }) => {
      if (body?.includes("unwanted")) return failure(403, "Forbidden");
      if (body?.includes("cursed")) return failure(500, "InternalError");
      return failures-- > 0 ? failure(503, "ServiceUnavailable") : undefined;
    };
    const { clock, recorder, events, lost } = setUp({}, refuse);
    for (const message of ["first", "unwanted", "cursed", "last"]) recorder.record(eventRecord({ message }));
    await clock.advance(60_000);
    expect(events().map(({ message }) => message)).toEqual(["first", "last"]);
    expect(lost).toEqual(["unwanted", "cursed"]);
  });

  it("drops the oldest when the server accepts none, and sends what is queued when stopped", async () => {
    let isOut = true;
    const refuse: Interference = () =>
      isOut ? failure(503, "ServiceUnavailable", { retryAfterSeconds: 10 }) : undefined;
    const { clock, recorder, events, stop, running } = setUp({}, refuse);
    recorder.record(eventRecord({ message: "under way" }));
    await clock.advance(0);
    for (let i = 0; i < 1_100; i++)
      recorder.record(eventRecord({ message: `${i}`, involvedObject: { ...pod, uid: `${i}` } }));
    isOut = false;
    stop();
    await running;
    expect([events().length, events()[0]?.message, events()[1]?.message]).toEqual([1_001, "under way", "100"]);
    expect(clock.pending).toBe(0);
  });
});
