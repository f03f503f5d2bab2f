import { describe, expect, it } from "vitest";
import { formatPath } from "../problem.ts";
import { manifestLimits } from "./parse.ts";
import { printYaml } from "./print.ts";
import { readManifests } from "./read.ts";

const read = (text: string) => readManifests(text, "f.yaml");
const said = (text: string) =>
  read(text).findings.map(({ severity, code, path, position, message }) => ({
    severity,
    code,
    at: `${position.line}:${position.column}`,
    field: formatPath(path),
    message,
  }));
const objects = (text: string) => read(text).documents.map((document) => document.object);

describe("reading manifests", () => {
  it("reads several documents, skips empty ones, unwraps lists", () => {
    const text = `# only a comment
---
a: 1
---
---
apiVersion: v1
kind: List
items: [{b: 2}, {apiVersion: v1, kind: NodePoolList, items: [{c: 3}, null]}]
...
`;
    expect(objects(text)).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
    expect(said(text)).toEqual([]);
  });

  it("reads JSON, tabs and all, and a byte order mark", () => {
    expect(objects('{\n\t"a": [1,\t2],\n\t"b": {"c": "yes"}\n}\n')).toEqual([{ a: [1, 2], b: { c: "yes" } }]);
    expect(objects("\uFEFFa: 1\r\nb: 2\r\n")).toEqual([{ a: 1, b: 2 }]);
  });

  it("knows where every field stands, and the nearest ancestor of a missing one", () => {
    const text =
      "spec:\n  template:\n    spec:\n      requirements:\n        - key: a\n          operator: In\n---\nx: {y: 1}\n";
    const [first, second] = read(text).documents;
    const place = (path: (string | number)[]) => {
      const { line, column } = first?.locationOf(path) ?? {};
      return `${line}:${column}`;
    };
    expect(place(["spec", "template", "spec", "requirements", 0, "operator"])).toBe("6:11");
    expect(place(["spec", "template", "spec", "requirements", 0])).toBe("5:11");
    expect(place(["spec", "template", "spec", "nodeClassRef", "name"])).toBe("3:5");
    expect(place(["metadata"])).toBe("1:1");
    expect(second?.locationOf(["x", "y"])).toEqual({ source: "f.yaml", line: 8, column: 5 });
  });

  it("knows where the fields of a list's items stand", () => {
    const [document] = read("kind: List\nitems:\n- metadata:\n    name: a\n").documents;
    expect(document?.locationOf(["metadata", "name"])).toMatchObject({ line: 4, column: 5 });
  });

  it("reads YAML 1.1 booleans as kubectl does, with a warning", () => {
    expect(objects('a: yes\nb: "yes"\nc: Off\nd: yesterday\ny: 1\n')).toEqual([
      { a: true, b: "yes", c: false, d: "yesterday", y: 1 },
    ]);
    expect(said("a: yes\n")).toEqual([
      {
        severity: "warning",
        code: "yaml-1.1-boolean",
        at: "1:4",
        field: "a",
        message: "unquoted yes is read as the boolean true, as kubectl does",
      },
    ]);
  });

  it("unfolds aliases and merge keys into parts that are not shared", () => {
    const [document] = read("a: &x {p: 1}\nb: *x\nc: {<<: *x, q: 2}\nd: {<<: [*x, {p: 9, r: 3}], p: 0}\n").documents;
    expect(document?.object).toEqual({ a: { p: 1 }, b: { p: 1 }, c: { p: 1, q: 2 }, d: { p: 0, r: 3 } });
    const value = document?.object as { a: object; b: object } | undefined;
    expect(value?.a).not.toBe(value?.b);
    expect(document && printYaml([{ ...document, text: undefined }])).not.toMatch(/[&*]x/);
  });

  it("finds keys written twice", () => {
    expect(said("a: 1\nb:\n  c: 1\n  c: 2\n")).toEqual([
      { severity: "error", code: "duplicate-field", at: "4:3", field: "b.c", message: "the key c is written twice" },
    ]);
  });
});

describe("reading what means us harm", () => {
  const refused = (text: string) => said(text).filter((one) => one.severity === "error");

  it.each([
    ["nothing at all", "", "it is empty"],
    ["comments only", "# a\n# b\n", "it is empty"],
    ["a billion laughs", bomb(), "aliases repeat more than 200,000 nodes"],
    ["an alias of itself", "a: &a [*a]\n", "refers to itself"],
    ["an alias of nothing", "a: *b\n", "refers to an anchor"],
    ["deep lists", "[".repeat(100_000), `nested more than ${manifestLimits.depth} levels deep`],
    ["deep maps", "{a: ".repeat(100_000), `nested more than ${manifestLimits.depth} levels deep`],
    ["deep blocks", "- ".repeat(100_000), `nested more than ${manifestLimits.depth} levels deep`],
    ["depth by alias", deepByAlias(), `nested more than ${manifestLimits.depth} levels deep`],
    ["__proto__", "a: {__proto__: {admin: true}}\n", "__proto__ is not allowed"],
    ["an unclosed list", "a: [1, 2\nb: 1\n", "flow sequence"],
    ["a map as key", "? {a: 1}\n: 2\n", "plain strings"],
    ["infinity", "a: .inf\n", "not a JSON number"],
    ["control bytes", "a: \u0001\u0002: b: c\n", "nested mappings"],
  ])("refuses %s with a sentence", (_name, text, words) => {
    const findings = refused(text);
    expect(findings.length).toBeGreaterThan(0);
    expect(findings[0]?.message).toContain(words);
    expect(read(text).documents).toEqual([]);
  });

  it("takes no time for many keys or many aliases", () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: v`).join("\n");
    expect(Object.keys(objects(keys)[0] as object)).toHaveLength(20_000);
    const aliases = `a: &a x\n${Array.from({ length: 10_000 }, (_, index) => `k${index}: *a`).join("\n")}`;
    expect(Object.keys(objects(aliases)[0] as object)).toHaveLength(10_001);
  });

  it("leaves Object.prototype alone", () => {
    read('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

function bomb(): string {
  const words = "abcdefghij".split("");
  return words
    .map((word, index) => {
      const item = index === 0 ? "x" : `*${words[index - 1]}`;
      return `${word}: &${word} [${Array(9).fill(item).join(", ")}]`;
    })
    .join("\n");
}

function deepByAlias(): string {
  const nested = (inner: string) => "[".repeat(90) + inner + "]".repeat(90);
  return `a: &a ${nested("1")}\nb: &b ${nested("*a")}\nc: ${nested("*b")}\n`;
}
