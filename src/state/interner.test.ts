import { describe, expect, it } from "vitest";
import { Interner } from "./interner.ts";

describe("interning", () => {
  it("design §4 equal values become one", () => {
    const interner = new Interner(10);
    const [a, b] = [{ app: "web" }, { app: "web" }];
    expect(interner.json(b)).toBe(interner.json(b));
    expect(interner.json(a)).toBe(b);
    expect(interner.json({ app: "db" })).toEqual({ app: "db" });
    expect(interner.json(undefined)).toBeUndefined();
    expect(interner.text(undefined)).toBeUndefined();
    expect(interner.text("x")).toBe("x");
  });

  it("design §4 never holds more than twice its limit, and keeps what is asked for", () => {
    const interner = new Interner(100);
    const often = interner.json({ name: "often" });
    for (let at = 0; at < 10_000; at++) {
      interner.json({ at });
      expect(interner.json({ name: "often" })).toBe(often);
      expect(interner.size).toBeLessThanOrEqual(200);
    }
  });
});
