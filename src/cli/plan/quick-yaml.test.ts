import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { runs } from "../../../test/runs.ts";
import { quickYaml } from "./quick-yaml.ts";

/** The values of the full parser; undefined if it finds an error or a warning. */
function full(text: string): readonly unknown[] | undefined {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  if (documents.some(({ errors, warnings }) => errors.length + warnings.length > 0)) return undefined;
  return documents.map((document) => document.toJS() as unknown).filter((value) => value !== null);
}

const word = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_.:/ #'"{}[\],&*!|>%@-]{0,12}$/),
  fc.constantFrom(
    "500m",
    "16Gi",
    "true",
    "no",
    "~",
    "1e3",
    "0x1f",
    "012",
    "1.10",
    "2026-01-15",
    "a: b",
    "- a",
    "",
    "null",
    "|",
    "key:",
  ),
);
const scalar = fc.oneof(word, word, fc.integer(), fc.boolean(), fc.constant(null), fc.constant("two\nlines\n"));
const key = fc.oneof(fc.stringMatching(/^[a-z][a-zA-Z0-9./-]{0,9}$/), word);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const style = fc.record({
  indent: fc.constantFrom(2, 4),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom("any" as const, "block" as const, "flow" as const),
  singleQuote: fc.constantFrom(true, false, null),
  lineWidth: fc.constantFrom(0, 80),
});

it("leaves what is nested too deep to the full parser", () => {
  const nested = (levels: number) => Array.from({ length: levels }, (_, at) => `${" ".repeat(at)}a:\n`).join("");
  expect(quickYaml(nested(200))).toBeDefined();
  expect(quickYaml(nested(201))).toBeUndefined();
  expect(quickYaml(`a: ${"[".repeat(199)}${"]".repeat(199)}\n`)).toBeDefined();
  expect(quickYaml(`a: ${"[".repeat(200)}${"]".repeat(200)}\n`)).toBeUndefined();
});

describe("quick YAML", () => {
  it("reads common YAML", () => {
    const text = `# a pool
apiVersion: karpenter.sh/v1   # comment
kind: NodePool
metadata: {name: default, labels: {"a/b": 'x y', n: 1}}
spec:
  script: |
    echo 1

    echo 2
  image: nginx:1.25
  list:
  - a: 1
    b: [x, "y, z", 500m]
  -
    - nested
  none:
---
kind: "Two\\n"
`;
    expect(quickYaml(text)).toEqual(full(text));
    expect(quickYaml(text)).toHaveLength(2);
  });

  it.each([
    ["an anchor", "a: &x 1\nb: *x\n"],
    ["a tag", "a: !!str 1\n"],
    ["a merge", "<<: {a: 1}\n"],
    ["a duplicate key", "a: 1\na: 2\n"],
    ["a scalar of several lines", "a: one\n  two\n"],
    ["a flow collection of several lines", "a: [1,\n  2]\n"],
    ["a folded block", "a: >\n  text\n"],
    ["a word of YAML 1.1", "a: yes\n"],
    ["an octal number", "a: 0777\n"],
    ["a tab", "a:\t1\n"],
    ["a directive", "%YAML 1.2\n---\na: 1\n"],
    ["the key __proto__", "__proto__: {a: 1}\n"],
    ["something that only looks like a marker", "a: 1\n---#\nb: 1\n"],
    ["an unclosed quote", 'a: "b\n'],
    ["a mistake in indentation", "a:\n    b: 1\n  c: 2\n"],
  ])("leaves %s to the full parser", (_, text) => {
    expect(quickYaml(text)).toBeUndefined();
  });

  it("agrees with the full parser on everything it reads, in any style", () => {
    let answered = 0;
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 3 }), style, (values, options) => {
        const text = values.map((value) => stringify(value, options)).join("---\n");
        const quick = quickYaml(text);
        if (quick === undefined) return;
        answered++;
        expect(quick.filter((value) => value !== null)).toEqual(full(text));
      }),
      { numRuns: runs(50_000) },
    );
    expect(answered).toBeGreaterThan(runs(50_000) / 20);
  });

  it("agrees with the full parser on broken text", () => {
    const sources = scenarios();
    fc.assert(
      fc.property(
        fc.constantFrom(...sources),
        fc.array(
          fc.tuple(
            fc.nat(),
            fc.nat(3),
            fc.constantFrom("", " ", "\n", "- ", ":", ": ", "#", " #", "'", '"', "{", "]", "  ", "---\n", "|", "0"),
          ),
          { minLength: 1, maxLength: 3 },
        ),
        (source, edits) => {
          let text = source;
          for (const [at, gone, put] of edits) {
            const start = at % text.length;
            text = text.slice(0, start) + put + text.slice(start + gone);
          }
          const quick = quickYaml(text);
          if (quick !== undefined) expect(quick.filter((value) => value !== null)).toEqual(full(text));
        },
      ),
      { numRuns: runs(50_000) },
    );
  });

  it("reads nearly all scenarios by itself", () => {
    const sources = scenarios();
    const quick = sources.filter((text) => quickYaml(text) !== undefined);
    expect(quick.length).toBeGreaterThan(sources.length * 0.9);
    for (const text of quick) expect(quickYaml(text)).toEqual(full(text));
  });
});

function scenarios(): readonly string[] {
  const folder = join(import.meta.dirname, "../../../test/fixtures/scenarios/scheduling");
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.map((file) => readFileSync(join(folder, file), "utf8"));
}
