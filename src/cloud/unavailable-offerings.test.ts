import { describe, expect, it } from "vitest";
import { VirtualClock } from "../util/virtual-clock.ts";
import { UnavailableOfferings } from "./unavailable-offerings.ts";

const key = { instanceType: "m5.large", zone: "a", capacityType: "spot" };

describe("UnavailableOfferings", () => {
  it("04 §2.7 forgets after three minutes, counted from the last time", async () => {
    const clock = new VirtualClock();
    const memory = new UnavailableOfferings({ clock });
    memory.markUnavailable(key);
    await clock.advance(2 * 60_000);
    memory.markUnavailable(key);
    await clock.advance(3 * 60_000 - 1);
    expect(memory.isUnavailable(key)).toBe(true);
    await clock.advance(1);
    expect(memory.isUnavailable(key)).toBe(false);
  });

  it("04 §2.7 tells offerings apart by type, zone, capacity type and reservation", () => {
    const memory = new UnavailableOfferings({ clock: new VirtualClock() });
    memory.markUnavailable(key);
    expect(memory.types()).toEqual(new Set(["m5.large"]));
    for (const other of [{ zone: "b" }, { instanceType: "m5.xlarge" }, { capacityType: "on-demand" }]) {
      expect(memory.isUnavailable({ ...key, ...other })).toBe(false);
    }
    expect(memory.isUnavailable({ ...key, reservationId: "cr-1" })).toBe(false);
  });

  it("04 §2.7 every mark and every expiry is another revision", async () => {
    const clock = new VirtualClock();
    const memory = new UnavailableOfferings({ clock });
    const seen = [memory.revision];
    memory.markUnavailable(key);
    seen.push(memory.revision);
    await clock.advance(60_000);
    expect(memory.revision).toBe(seen.at(-1));
    await clock.advance(120_000);
    seen.push(memory.revision);
    expect(new Set(seen).size).toBe(3);
  });
});
