import { describe, expect, it } from "vitest";
import { KubeError } from "../../kube/kube-error.ts";
import { Random } from "../../util/random.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { retryOnConflict } from "./retry-on-conflict.ts";

/** What each attempt was told, and how it ended, when attempts fail with these errors in turn. */
async function attempts(errors: readonly Error[]) {
  const clock = new VirtualClock();
  const left = [...errors];
  const told: boolean[] = [];
  const writing = retryOnConflict({ clock, random: new Random("conflicts") }, async (isFirst) => {
    told.push(isFirst);
    const error = left.shift();
    if (error !== undefined) throw error;
  }).then(
    () => "written",
    (error: unknown) => (error as KubeError).code,
  );
  await clock.advance(0);
  const atOnce = told.length;
  await clock.advance(10_000);
  return { told, atOnce, ended: await writing };
}

const conflict = new KubeError("conflict", "somebody else wrote");

describe("03:D-71 a write under an optimistic lock", () => {
  it("is made once, from what is known, where nobody else writes", async () => {
    expect(await attempts([])).toEqual({ told: [true], atOnce: 1, ended: "written" });
  });

  it("is made again after a wait, from what is there by then", async () => {
    expect(await attempts([conflict, conflict])).toEqual({ told: [true, false, false], atOnce: 1, ended: "written" });
  });

  it("is given up after five conflicts", async () => {
    const { told, ended } = await attempts(Array.from({ length: 9 }, () => conflict));
    expect([told.length, ended]).toEqual([5, "conflict"]);
  });

  it("is as good as made where the object is gone", async () => {
    const gone = new KubeError("not-found", "gone");
    expect(await attempts([conflict, gone])).toMatchObject({ told: [true, false], ended: "written" });
  });

  it("is not made again after any other failure", async () => {
    expect(await attempts([new KubeError("forbidden", "no")])).toMatchObject({ told: [true], ended: "forbidden" });
  });
});
