import { describe, expect, it } from "vitest";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { KubeError } from "./kube-error.ts";
import { type Reconcile, type ReconcileFailure, Reconciler, type ReconcilerOptions } from "./reconciler.ts";

interface TestContext {
  readonly clock: VirtualClock;
  readonly log: string[];
}

function setUp(
  reconcile: Reconcile<string, TestContext>,
  options: Partial<ReconcilerOptions<string, TestContext>> = {},
) {
  const clock = new VirtualClock();
  const log: string[] = [];
  const failures: ReconcileFailure<string>[] = [];
  const reconciler = new Reconciler<string, TestContext>({
    name: "test",
    reconcile,
    context: { clock, log },
    clock,
    random: new Random(1),
    backOff: { baseMs: 10, maxMs: 1_000 },
    onError: (failure) => failures.push(failure),
    ...options,
  });
  const stop = new AbortController();
  return { clock, log, failures, reconciler, stop, start: () => reconciler.run(stop.signal) };
}

const noteTime: Reconcile<string, TestContext> = async (key, { clock, log }) => {
  log.push(`${key} at ${clock.now()}`);
  return undefined;
};

describe("Reconciler", () => {
  it("reconciles every key, and again when asked to requeue", async () => {
    const { clock, log, reconciler, start, stop } = setUp(async (key, context) => {
      await noteTime(key, context);
      return key === "again" && context.log.length < 4 ? { afterMs: 100 } : undefined;
    });
    void start();
    for (const key of ["once", "again", "again"]) reconciler.enqueue(key);
    reconciler.enqueueAfter("later", 150);
    await clock.runUntilIdle();
    expect(log).toEqual(["once at 0", "again at 0", "again at 100", "later at 150", "again at 200"]);
    expect(reconciler.isIdle).toBe(true);
    stop.abort();
  });

  it("a key that is done is not waited for: what an earlier run asked for is dropped", async () => {
    const hourMs = 3_600_000;
    const { clock, reconciler, start, stop } = setUp(async (_, context) => {
      await noteTime("key", context);
      return context.log.length === 1 ? { afterMs: hourMs } : undefined;
    });
    void start();
    reconciler.enqueue("key");
    await clock.advance(10);
    expect([clock.pending, reconciler.isIdle]).toEqual([1, false]);
    reconciler.enqueue("key");
    await clock.advance(10);
    expect([clock.pending, reconciler.isIdle]).toEqual([0, true]);
    stop.abort();
  });

  it("a delay that a change asked for stays", async () => {
    const { clock, log, reconciler, start, stop } = setUp(noteTime);
    void start();
    reconciler.enqueueAfter("key", 100);
    reconciler.enqueue("key");
    await clock.runUntilIdle();
    expect(log).toEqual(["key at 0", "key at 100"]);
    stop.abort();
  });

  it("a delay that a change asked for stays, also after an earlier one of a run is dropped", async () => {
    const { clock, log, reconciler, start, stop } = setUp(async (key, context) => {
      await noteTime(key, context);
      return context.log.length === 1 ? { afterMs: 50 } : undefined;
    });
    void start();
    reconciler.enqueue("key");
    await clock.advance(10);
    reconciler.enqueueAfter("key", 100);
    reconciler.enqueue("key");
    await clock.runUntilIdle();
    expect(log.at(-1)).toBe("key at 110");
    stop.abort();
  });

  it("an exception affects only its key, which is retried with back-off", async () => {
    const seen: string[] = [];
    const { clock, failures, reconciler, start } = setUp((key) => {
      seen.push(key);
      // Thrown synchronously, without a promise.
      if (key === "bad" && seen.filter((one) => one === "bad").length < 4) throw new Error("panic");
      return Promise.resolve(undefined);
    });
    void start();
    reconciler.enqueue("bad");
    reconciler.enqueue("good");
    await clock.runUntilIdle();
    expect(seen).toEqual(["bad", "good", "bad", "bad", "bad"]);
    expect(failures.map(({ reconciler: name, key, failures: count }) => [name, key, count])).toEqual([
      ["test", "bad", 1],
      ["test", "bad", 2],
      ["test", "bad", 3],
    ]);
    expect(clock.now()).toBeGreaterThanOrEqual(5 + 10 + 20);
    expect(reconciler.isIdle).toBe(true);
  });

  it("retries when the server asked it to", async () => {
    let calls = 0;
    const { clock, reconciler, start } = setUp(async () => {
      const details = { retryAfterSeconds: 9 };
      const status = {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "",
        code: 429,
      } as const;
      if (calls++ === 0) throw new KubeError("too-many-requests", "slow down", { status: { ...status, details } });
      return undefined;
    });
    void start();
    reconciler.enqueue("a");
    await clock.runUntilIdle();
    expect([calls, clock.now()]).toEqual([2, 9_000]);
  });

  it("limits the keys reconciled at a time", async () => {
    let active = 0;
    let most = 0;
    const work: Reconcile<string, TestContext> = async (_, { clock }) => {
      most = Math.max(most, ++active);
      await clock.sleep(10);
      active--;
      return undefined;
    };
    const { clock, reconciler, start } = setUp(work, { concurrency: 3 });
    void start();
    for (let i = 0; i < 10; i++) reconciler.enqueue(`key-${i}`);
    await clock.runUntilIdle();
    expect([most, clock.now()]).toEqual([3, 40]);
  });

  it("stops gracefully: running reconciles end, queued ones do not begin", async () => {
    const { clock, log, reconciler, start, stop } = setUp(async (key, context) => {
      await context.clock.sleep(100);
      return noteTime(key, context);
    });
    let hasEnded = false;
    void start().then(() => {
      hasEnded = true;
    });
    reconciler.enqueue("running");
    reconciler.enqueue("waiting");
    await clock.advance(50);
    stop.abort();
    await clock.advance(49);
    expect(hasEnded).toBe(false);
    await clock.runUntilIdle();
    expect([hasEnded, log]).toEqual([true, ["running at 100"]]);
    const late = setUp(noteTime);
    late.stop.abort();
    await late.start();
  });

  it("03 §6.1 reports its metrics", async () => {
    const figures: unknown[] = [];
    let calls = 0;
    const work: Reconcile<string, TestContext> = async (_, { clock }) => {
      await clock.sleep(7);
      if (calls++ === 0) throw new Error("first");
      return calls === 2 ? { afterMs: 5 } : undefined;
    };
    const observe = {
      runStarted: () => figures.push("started"),
      runFinished: (outcome: string, ms: number) => figures.push([outcome, ms]),
    };
    const { clock, reconciler, start } = setUp(work, { observe });
    void start();
    reconciler.enqueue("a");
    await clock.runUntilIdle();
    expect(figures).toEqual(["started", ["error", 7], "started", ["requeue-after", 7], "started", ["success", 7]]);
  });

  it("pauses between two keys", async () => {
    const { clock, log, reconciler, start } = setUp(noteTime, { pause: () => clock.sleep(5) });
    void start();
    for (const key of ["a", "b", "c"]) reconciler.enqueue(key);
    await clock.runUntilIdle();
    expect(log).toEqual(["a at 0", "b at 5", "c at 10"]);
  });
});
