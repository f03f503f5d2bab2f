import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { closestMatch, editDistance } from "./closest-match.ts";

describe("the closest word", () => {
  it("is found through typing slips, and not made up for other words", () => {
    const kinds = ["NodePool", "NodeClaim", "EC2NodeClass"];
    expect(closestMatch("Nodepool", kinds)).toBe("NodePool");
    expect(closestMatch("NodeClam", kinds)).toBe("NodeClaim");
    expect(closestMatch("Ingress", kinds)).toBeUndefined();
    expect(closestMatch("x", [])).toBeUndefined();
  });

  it("agrees with the definition of edit distance", () => {
    const slow = (a: string, b: string): number => {
      if (a === "" || b === "") return a.length + b.length;
      const same = a[0] === b[0] ? 0 : 1;
      return Math.min(slow(a.slice(1), b.slice(1)) + same, slow(a.slice(1), b) + 1, slow(a, b.slice(1)) + 1);
    };
    const word = fc.string({ maxLength: 6, unit: fc.constantFrom("a", "b", "c") });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).toBe(slow(a, b));
      }),
      { numRuns: runs(10_000) },
    );
  });
});
