import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import { formatIndexes, parseIndexes } from "./completed-indexes.ts";

describe("completed indexes", () => {
  it.each([
    [[], ""],
    [[3], "3"],
    [[1, 2], "1,2"],
    [[0, 1, 2, 5, 7, 8, 9], "0-2,5,7-9"],
    [[2, 1, 0, 1], "0-2"],
  ])("05:CP-L5 %j is written %s", (indexes, text) => {
    expect(formatIndexes(indexes)).toBe(text);
  });

  it("05:CP-L5 reads what it wrote, and nothing beyond the completions", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: 40 })), fc.nat({ max: 40 }), (indexes, completions) => {
        const read = [...parseIndexes(formatIndexes(indexes), completions)].sort((a, b) => a - b);
        expect(read).toEqual(indexes.filter((index) => index < completions).sort((a, b) => a - b));
      }),
      { numRuns: runs(5_000) },
    );
    expect([...parseIndexes("1,x,3-,-5,999999999999", 10)]).toEqual([1]);
  });
});
