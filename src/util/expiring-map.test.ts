import { describe, expect, it } from "vitest";
import { ExpiringMap } from "./expiring-map.ts";
import { VirtualClock } from "./virtual-clock.ts";

describe("ExpiringMap", () => {
  it("keeps entries for their time, and does not grow with expired ones", async () => {
    const clock = new VirtualClock();
    const recently = new ExpiringMap<number>(clock);
    recently.set("a", 1, 10);
    await clock.advance(9);
    expect(recently.get("a")).toBe(1);
    await clock.advance(1);
    expect(recently.get("a")).toBeUndefined();
    for (let i = 0; i < 100_000; i++) {
      recently.set(String(i), i, 10);
      if (i % 100 === 0) await clock.advance(1);
    }
    expect(recently.size).toBeLessThan(4_096);
  });
});
