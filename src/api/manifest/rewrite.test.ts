import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { printYaml } from "./print.ts";
import { readManifests } from "./read.ts";
import { newYamlDocument, rewriteDocument } from "./rewrite.ts";

function rewritten(
  text: string,
  change: (object: Record<string, unknown>) => Parameters<typeof rewriteDocument>[1],
): string {
  const [document] = readManifests(text, "f").documents;
  if (document === undefined) throw new Error("no document");
  const rewriting = change(structuredClone(document.object) as Record<string, unknown>);
  return printYaml([{ object: rewriting.target, yaml: rewriteDocument(document.yaml, rewriting), text: undefined }]);
}

describe("rewriting a document", () => {
  it("moves a field with the comments above and beside it", () => {
    const text = "# head\na:\n  # about b\n  b: 1 # beside b\n  c: [x, z] # list\n# about d\nd:\n  e: 'q'\n";
    const result = rewritten(text, () => ({
      target: { a: { c: ["x", "z"] }, d: { e: "r", b: 1 } },
      relocations: [{ from: ["a", "b"], to: ["d", "b"] }],
      inPlace: true,
    }));
    expect(result).toBe("# head\na:\n  c: [x, z] # list\n# about d\nd:\n  e: 'r'\n  # about b\n  b: 1 # beside b\n");
  });

  it("keeps the comments of list items that stay", () => {
    const text = "a:\n  - k: 1 # one\n  - k: 2 # two\n  - k: 3 # three\n";
    const result = rewritten(text, () => ({
      target: { a: [{ k: 2 }, { k: 3 }, { k: 4 }] },
      relocations: [],
      inPlace: true,
    }));
    expect(result).toBe("a:\n  - k: 2 # two\n  - k: 3 # three\n  - k: 4\n");
  });

  const key = fc.constantFrom("a", "b", "c", "spec", "1", "true", "null", "on");
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("x", "", "yes", "1", "a: b", "# no", "multi\nline\n", "~", 1, 0.5, true, false),
      tie("list"),
      tie("map"),
    ),
    list: fc.array(tie("value"), { maxLength: 4 }),
    map: fc.dictionary(key, tie("value"), { maxKeys: 4 }),
  }));
  const map = fc.dictionary(key, json["value"] as fc.Arbitrary<unknown>, { maxKeys: 4 });

  it("says exactly the target, whatever stood there before", () => {
    fc.assert(
      fc.property(map, map, fc.boolean(), (before, target, inPlace) => {
        const yaml = rewriteDocument(newYamlDocument(before), {
          target,
          relocations: [{ from: ["a"], to: ["b", "c"] }],
          inPlace,
        });
        const text = printYaml([{ object: target, yaml, text: undefined }]);
        expect(readManifests(text, "f").documents.map((document) => document.object)).toEqual([target]);
      }),
      { numRuns: runs(10_000) },
    );
  }, 120_000);
});
