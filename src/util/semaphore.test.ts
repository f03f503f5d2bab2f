import { expect, it } from "vitest";
import { Semaphore } from "./semaphore.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

it("limits what runs at a time, and serves in order of arrival", async () => {
  const semaphore = new Semaphore(2);
  const served: number[] = [];
  const releases: (() => void)[] = [];
  for (const number of [0, 1, 2, 3, 4]) {
    void semaphore.acquire().then((release) => {
      served.push(number);
      releases.push(release);
    });
  }
  await settle();
  expect(served).toEqual([0, 1]);
  releases[0]?.();
  releases[0]?.(); // a second time does nothing
  await settle();
  expect(served).toEqual([0, 1, 2]);
  releases[1]?.();
  releases[2]?.();
  await settle();
  expect(served).toEqual([0, 1, 2, 3, 4]);
});

it("one that gives up leaves its place to the others", async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire();
  const giveUp = new AbortController();
  const given = semaphore.acquire(giveUp.signal);
  const next = semaphore.acquire();
  giveUp.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  release();
  (await next)();
  await expect(semaphore.acquire(giveUp.signal)).rejects.toThrow("enough");
  (await semaphore.acquire())();
});
