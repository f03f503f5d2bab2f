import { describe, expect, it } from "vitest";
import { type LaunchPace, nextLaunchPace } from "./launch-pace.ts";

describe("nextLaunchPace", () => {
  it("03:SP-3 a thousand at first", () => {
    expect(nextLaunchPace(undefined, { launched: 0, unlaunched: 0 })).toMatchObject({ window: 1_000, isHeldUp: false });
  });

  it("03:SP-3 as many as before while none fails", () => {
    const last = { launched: 0, unlaunched: 1_000, window: 1_000, isHeldUp: false };
    expect(nextLaunchPace(last, { launched: 0, unlaunched: 1_000 })).toMatchObject({ window: 1_000, isHeldUp: false });
    expect(nextLaunchPace(last, { launched: 5, unlaunched: 995 })).toMatchObject({ window: 1_000, isHeldUp: false });
  });

  it("03:SP-3 where most fail, twice as many as were launched, and at least ten", () => {
    const last = { launched: 0, unlaunched: 1_000, window: 1_000, isHeldUp: false };
    expect(nextLaunchPace(last, { launched: 40, unlaunched: 0 })).toMatchObject({ window: 80, isHeldUp: true });
    expect(nextLaunchPace(last, { launched: 0, unlaunched: 0 })).toMatchObject({ window: 10, isHeldUp: true });
  });

  it("03:SP-3 doubles while they are launched again", () => {
    let last: LaunchPace = { launched: 0, unlaunched: 10, window: 10, isHeldUp: true };
    const windows: number[] = [];
    for (let times = 0; times < 8; times++) {
      const pace = nextLaunchPace(last, { launched: last.launched + last.unlaunched, unlaunched: 0 });
      windows.push(pace.window);
      last = { ...pace, unlaunched: pace.window };
    }
    expect(windows).toEqual([20, 40, 80, 160, 320, 640, 1_000, 1_000]);
  });

  it("03:SP-3 nodes that are taken away are no failure", () => {
    const last = { launched: 500, unlaunched: 0, window: 1_000, isHeldUp: false };
    expect(nextLaunchPace(last, { launched: 0, unlaunched: 0 })).toMatchObject({ window: 1_000, isHeldUp: false });
  });
});
