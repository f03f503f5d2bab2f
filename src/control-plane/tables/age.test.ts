import { describe, expect, it } from "vitest";
import { ageOf, humanDuration } from "./age.ts";

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;

describe("ages", () => {
  it.each([
    [-5 * s, "<invalid>"],
    [-1 * s, "0s"],
    [0, "0s"],
    [119 * s, "119s"],
    [120 * s, "2m"],
    [125 * s, "2m5s"],
    [9 * m + 59 * s, "9m59s"],
    [10 * m + 5 * s, "10m"],
    [179 * m, "179m"],
    [3 * h, "3h"],
    [3 * h + 5 * m, "3h5m"],
    [8 * h + 5 * m, "8h"],
    [47 * h, "47h"],
    [48 * h, "2d"],
    [49 * h, "2d1h"],
    [8 * d + h, "8d"],
    [729 * d, "729d"],
    [730 * d, "2y"],
    [735 * d, "2y5d"],
    [8 * 365 * d + 5 * d, "8y"],
  ])("05 §3 shows %d ms as %s", (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });

  it("05 §3 shows <unknown> without a time", () => {
    expect(ageOf(undefined, 0)).toBe("<unknown>");
    expect(ageOf("yesterday", 0)).toBe("<unknown>");
    expect(ageOf("1970-01-01T00:00:00Z", 90 * s)).toBe("90s");
  });
});
