import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../util/virtual-clock.ts";
import { RequestBatcher, type RequestBatcherOptions } from "./request-batcher.ts";

describe("04 §3.5 a batcher", () => {
  let clock: VirtualClock;
  let calls: (readonly string[])[];
  let observed: { readonly size: number; readonly waitedMs: number }[];
  beforeEach(() => {
    clock = new VirtualClock();
    calls = [];
    observed = [];
  });

  /** Requests with the same first letter go together; an answer is the request in capitals. */
  function batcher(change: Partial<RequestBatcherOptions<string, string>> = {}): RequestBatcher<string, string> {
    return new RequestBatcher({
      ...{ clock, idleMs: 100, maxMs: 1_000, maxItems: 500, keyOf: (input: string) => input.slice(0, 1) },
      run: async (inputs) => {
        calls.push(inputs);
        return inputs.map((input) => ({ kind: "done", output: input.toUpperCase() }));
      },
      observe: (batch) => observed.push(batch),
      ...change,
    });
  }

  const settled = async <T>(requests: readonly Promise<T>[], ms = 2_000) => {
    const all = Promise.allSettled(requests);
    await clock.advance(ms);
    return (await all).map((one) => (one.status === "fulfilled" ? one.value : `refused: ${one.reason.message}`));
  };

  it("makes one call for 300 requests that go together, and answers each with its own", async () => {
    const own = batcher();
    const inputs = Array.from({ length: 300 }, (_, index) => `a${index}`);
    expect(await settled(inputs.map((input) => own.add(input)))).toEqual(inputs.map((input) => input.toUpperCase()));
    expect(calls).toEqual([inputs]);
  });

  it("makes a call of their own for requests that do not go together", async () => {
    const own = batcher();
    expect(await settled(["a1", "b1", "a2", "c1", "b2"].map((input) => own.add(input)))).toEqual([
      "A1",
      "B1",
      "A2",
      "C1",
      "B2",
    ]);
    expect(calls.map((one) => one.join(" ")).sort()).toEqual(["a1 a2", "b1 b2", "c1"]);
  });

  it("answers equal requests each, though they are one", async () => {
    const own = batcher();
    expect(await settled(["a", "a", "a"].map((input) => own.add(input)))).toEqual(["A", "A", "A"]);
    expect(calls).toHaveLength(1);
  });

  it("hands an error of the call to all of its requests, and to no others", async () => {
    const own = batcher({
      run: async (inputs) => {
        if (inputs.includes("a1")) throw new Error("throttled");
        return inputs.map((output) => ({ kind: "done", output }));
      },
    });
    expect(await settled(["a1", "a2", "b1"].map((input) => own.add(input)))).toEqual([
      "refused: throttled",
      "refused: throttled",
      "b1",
    ]);
    expect(await settled([own.add("a2")])).toEqual(["a2"]); // the next batch is asked anew
  });

  it("hands each request its own failure, and says which one was left without an answer", async () => {
    const own = batcher({
      run: async ([first = ""]) => [
        { kind: "done", output: first },
        { kind: "failed", error: new Error("no such instance") },
      ],
    });
    expect(await settled(["a1", "a2", "a3"].map((input) => own.add(input)))).toEqual([
      "a1",
      "refused: no such instance",
      "refused: a batch left a request without an answer",
    ]);
  });

  it("waits for a pause, but no longer than its longest wait", async () => {
    const own = batcher();
    const requests: Promise<string>[] = [];
    for (let index = 0; index < 15; index++) {
      requests.push(own.add(`a${index}`));
      await clock.advance(90); // never a pause
    }
    await settled(requests);
    expect(observed.map(({ waitedMs }) => waitedMs)).toEqual([1_000, 280]);
    expect(calls.map(({ length }) => length)).toEqual([12, 3]);
  });

  it("makes the call at once when it has as many requests as it takes", async () => {
    const own = batcher({ maxItems: 2 });
    const requests = ["a1", "a2", "a3"].map((input) => own.add(input));
    expect(observed).toEqual([{ size: 2, waitedMs: 0 }]);
    await settled(requests);
    expect(observed).toEqual([
      { size: 2, waitedMs: 0 },
      { size: 1, waitedMs: 100 },
    ]);
  });

  it("makes a hundred calls at a time, and the rest as they end", async () => {
    let underWay = 0;
    let most = 0;
    const own = batcher({
      keyOf: (input) => input,
      run: async (inputs) => {
        most = Math.max(most, ++underWay);
        await clock.sleep(10);
        underWay--;
        return inputs.map((output) => ({ kind: "done", output }));
      },
    });
    const inputs = Array.from({ length: 250 }, (_, index) => `a${index}`);
    expect(await settled(inputs.map((input) => own.add(input)))).toEqual(inputs);
    expect(most).toBe(100);
  });
});
