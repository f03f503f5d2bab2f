import { expect, it } from "vitest";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { Batcher } from "./batcher.ts";
import { ProvisioningTrigger } from "./provisioning-trigger.ts";

/** A batcher that notes when its windows end, in seconds. */
function batching() {
  const clock = new VirtualClock();
  const trigger = new ProvisioningTrigger();
  const batcher = new Batcher({ trigger, clock, idleMs: 1_000, maxMs: 10_000 });
  const stop = new AbortController();
  const ended: number[] = [];
  const run = async (): Promise<void> => {
    while ((await batcher.nextWindow(stop.signal)) !== "stopped") ended.push(clock.now() / 1_000);
  };
  const running = run();
  return { clock, trigger, ended, pass: (seconds: number) => clock.advance(seconds * 1_000), stop, running };
}

it("02:P-20 a window with one element ends after the idle time", async () => {
  const { trigger, ended, pass } = batching();

  trigger.fire("a");
  await pass(5);

  expect(ended).toEqual([1]);
});

it("02:P-20 an element that asks again does not extend the window", async () => {
  const { trigger, ended, pass } = batching();

  trigger.fire("a");
  await pass(0.8);
  trigger.fire("a");
  await pass(5);

  expect(ended).toEqual([1]);
});

it("02:P-20 a new element restarts the idle time", async () => {
  const { trigger, ended, pass } = batching();

  trigger.fire("a");
  await pass(0.8);
  trigger.fire("b");
  await pass(5);

  expect(ended).toEqual([1.8]);
});

it("02:P-20 a window ends after its longest time, however many arrive", async () => {
  const { trigger, ended, pass } = batching();

  for (let arrival = 0; arrival < 24; arrival++) {
    trigger.fire(`pod-${arrival}`);
    await pass(0.5);
  }

  expect(ended).toEqual([10]);
});

it("02:P-20 the next window forgets who asked in the last one", async () => {
  const { trigger, ended, pass } = batching();

  trigger.fire("a");
  await pass(2);
  trigger.fire("a");
  await pass(2);

  expect(ended).toEqual([1, 3]);
});

it("02:P-20 what asks while nobody listens is remembered, once", async () => {
  const clock = new VirtualClock();
  const trigger = new ProvisioningTrigger();
  const batcher = new Batcher({ trigger, clock, idleMs: 1_000, maxMs: 10_000 });
  const { signal } = new AbortController();
  trigger.fire("a");
  trigger.fire("b");
  await clock.advance(5_000);

  const ended: number[] = [];
  void batcher.nextWindow(signal).then(() => {
    ended.push(clock.now());
    void batcher.nextWindow(signal).then(() => ended.push(clock.now()));
  });
  await clock.advance(60_000);

  expect(ended).toEqual([6_000]);
});

it("02:P-20 without anybody who asks no timer runs", async () => {
  const { clock, ended, pass } = batching();

  await pass(60);

  expect(ended).toEqual([]);
  expect(clock.pending).toBe(0);
});

it("a batcher that is told to stop does, whether or not a window is open", async () => {
  const waiting = batching();
  waiting.stop.abort();
  await waiting.running;

  const open = batching();
  open.trigger.fire("a");
  await open.pass(0.5);
  open.stop.abort();
  await open.running;

  expect([...waiting.ended, ...open.ended]).toEqual([]);
  expect(open.clock.pending).toBe(0);
});

it("02:P-20 those that can wait do not prolong the window of one that cannot", async () => {
  const { trigger, ended, pass } = batching();

  trigger.fire("new");
  for (let waiting = 0; waiting < 4; waiting++) {
    trigger.fire(`waiting-${waiting}`, { canWait: true });
    await pass(0.4);
  }
  await pass(5);

  // The last two open a window of their own.
  expect(ended).toEqual([1, 2.2]);
});

it("02:P-20 those that can wait are a round among themselves", async () => {
  const { trigger, ended, pass } = batching();

  for (let waiting = 0; waiting < 4; waiting++) {
    trigger.fire(`waiting-${waiting}`, { canWait: true });
    await pass(0.5);
  }
  await pass(5);

  expect(ended).toEqual([2.5]);
});

it("02:P-20 one that can no longer wait counts once more", async () => {
  const { trigger, ended, pass } = batching();

  trigger.fire("a", { canWait: true });
  await pass(0.5);
  trigger.fire("a");
  await pass(0.5);
  trigger.fire("a", { canWait: true });
  await pass(5);

  expect(ended).toEqual([1.5]);
});
