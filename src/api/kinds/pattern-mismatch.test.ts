import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { customResourceDefinition } from "../crd.ts";
import { karpenterKindsOf } from "./karpenter-kinds.ts";
import { patternMismatch } from "./pattern-mismatch.ts";

/** All patterns of the schemas of our kinds. */
function patternsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === "pattern" && typeof one === "string" ? [one] : patternsIn(one),
  );
}

const patterns = new Set(patternsIn(karpenterKindsOf("all").map((kind) => customResourceDefinition(kind, "all"))));

describe("patternMismatch", () => {
  it("01 §0.2 has words and an example that matches for every pattern of our kinds", () => {
    expect(patterns.size).toBeGreaterThan(15);
    for (const pattern of patterns) {
      const { message, expected } = patternMismatch(pattern, "\u0000");
      expect(message).toMatch(/^"\\u0000" is not an? |^"\\u0000" is not the /);
      const [, example = ""] = /such as "?([^",]+(?: [^"]+(?="))?)"?/.exec(expected) ?? [];
      expect(RE2JS.compile(pattern).test(example), `${example} for ${pattern}`).toBe(true);
      expect(expected).not.toContain(pattern);
    }
  });

  it("shows a pattern we did not write, as Kubernetes does", () => {
    expect(patternMismatch("^x+$", "y")).toEqual({ message: '"y" does not match', expected: "text matching ^x+$" });
  });

  it.each([
    ["30d", "for 30d write 720h"],
    ["2w", "for 2w write 336h"],
    ["1d12h", "for 1d12h write 36h"],
    ["1d90s", "for 1d90s write 24h1m30s"],
  ])("01 §0.3 says what to write for days: %s", (written, advice) => {
    const durationOrNever = [...patterns].find(
      (pattern) => RE2JS.compile(pattern).test("Never") && /s\|m\|h/.test(pattern),
    );
    expect(patternMismatch(durationOrNever ?? "", written)).toEqual({
      message: `"${written}" is not a duration in hours, minutes and seconds`,
      expected: `a duration such as 720h, 30m or 1h30m, or Never; ${advice}`,
    });
  });
});
