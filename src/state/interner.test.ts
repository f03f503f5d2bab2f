import { describe, expect, it } from "vitest";
import { Interner } from "./interner.ts";

describe("interning", () => {
  it("equal values become one", () => {
    const interner = new Interner(10);
    const [a, b] = [{ app: "web" }, { app: "web" }];
    expect(interner.internJson(b)).toBe(interner.internJson(b));
    expect(interner.internJson(a)).toBe(b);
    expect(interner.internJson({ app: "db" })).toEqual({ app: "db" });
    expect(interner.internJson(undefined)).toBeUndefined();
    expect(interner.internText(undefined)).toBeUndefined();
    expect(interner.internText("x")).toBe("x");
  });

  it("texts count as values do: each once", () => {
    const interner = new Interner(10);
    for (const text of ["a", "b", "a", undefined, "b"]) interner.internText(text);
    expect(interner.size).toBe(2);
  });

  it("never holds more than twice its limit, and keeps what is asked for", () => {
    const interner = new Interner(100);
    const often = interner.internJson({ name: "often" });
    for (let at = 0; at < 10_000; at++) {
      interner.internJson({ at });
      expect(interner.internJson({ name: "often" })).toBe(often);
      expect(interner.size).toBeLessThanOrEqual(200);
    }
  });
});
