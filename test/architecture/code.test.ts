import { describe, expect, it } from "vitest";
import { cyclesIn } from "./cycles.ts";
import { readSources, withoutComments } from "./sources.ts";

const sources = readSources();

/** Tables of data, generated or typed: they may be as long as what they list. */
const tables = /(-data|-table)\.ts$/;
const maxLinesOfLogic = 300;

describe("code", () => {
  it("exports every name once, so that one name means one thing", () => {
    const homes = new Map<string, string[]>();
    for (const { file, text } of sources) {
      for (const [, name = ""] of text.matchAll(
        /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|enum) (\w+)/gm,
      )) {
        homes.set(name, [...(homes.get(name) ?? []), file]);
      }
    }
    expect([...homes].filter(([, files]) => new Set(files).size > 1)).toEqual([]);
    expect(homes.size).toBeGreaterThan(1_000);
  });

  it("has no import cycles, type-only imports included", () => {
    expect(cyclesIn(new Map(sources.map(({ file, imports }) => [file, imports])))).toEqual([]);
  });

  it("finds a cycle where there is one", () => {
    const graph = new Map([
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", ["a"]],
      ["d", []],
    ]);
    expect(cyclesIn(graph)).toEqual([["a", "b", "c"]]);
  });

  it(`has no file with more than ${maxLinesOfLogic} lines of logic`, () => {
    const logic = (text: string): number =>
      withoutComments(text)
        .split("\n")
        .filter((line) => line.trim() !== "").length;
    const long = sources.filter(({ file, text }) => !tables.test(file) && logic(text) > maxLinesOfLogic);
    expect(long.map(({ file, text }) => `${file}: ${logic(text)}`)).toEqual([]);
  });

  it("has no default exports, and no barrels except the package entry points", () => {
    const isEntry = (file: string): boolean => /^(\w+|providers\/\w+)\/index\.ts$/.test(file);
    const wrong = sources.filter(
      ({ file, text }) => /^export default /m.test(text) || (!isEntry(file) && /^export \* from /m.test(text)),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });
});
