import { expect, it } from "vitest";
import { findMutants } from "./find-mutants.ts";
import { withReachMarks } from "./functions.ts";
import { mutantText, withMutant } from "./mutant.ts";
import { sampleMutants } from "./sample.ts";
import { scoreLines } from "./score.ts";
import { parseTypeScript } from "./syntax.ts";

const source = `
import { type Pod, podsOf } from "./pods.ts";
const limits: readonly number[] = [1, 2];
export async function drain(pods: readonly Pod[], now: number): Promise<boolean> {
  if (!pods.length) return false;
  for (const pod of pods.filter((each) => each.at <= now)) {
    if (pod.isDone && pod.at > 0) continue;
    await pod.delete({ grace: pod.grace ?? 30 });
  }
  return pods.some(({ name }) => name === "a") || limits.includes(3);
}
`;

it("finds what a mistaken hand might change, and nothing in types and imports", () => {
  const texts = findMutants("a.ts", source).map((mutant) => mutantText(source, mutant).replace("a.ts:", ""));
  expect(texts).toEqual([
    "3 entry: 1, => (removed)",
    "3 entry: 2 => (removed)",
    "3 constant: 1 => 2",
    "3 constant: 2 => 3",
    "5 condition: !pods.length => !(!pods.length)",
    "5 constant: false => true",
    "6 call: pods.filter((each) => each.at <= now) => (pods)",
    "6 boundary: each.at <= now => (each.at < now)",
    "7 condition: pod.isDone && pod.at > 0 => !(pod.isDone && pod.at > 0)",
    "7 operator: pod.isDone && pod.at > 0 => (pod.isDone || pod.at > 0)",
    "7 boundary: pod.at > 0 => (pod.at >= 0)",
    "7 constant: 0 => 1",
    "7 statement: continue; => ;",
    "8 statement: await pod.delete({ grace: pod.grace ?? 30 }); => ;",
    "8 await: await pod.delete({ grace: pod.grace ?? 30 }) => (pod.delete({ grace: pod.grace ?? 30 }))",
    "8 entry: grace: pod.grace ?? 30 => (removed)",
    "8 fallback: pod.grace ?? 30 => pod.grace",
    "8 constant: 30 => 31",
    '10 constant: pods.some(({ name }) => name === "a") || limits.includes(3) => true',
    '10 constant: pods.some(({ name }) => name === "a") || limits.includes(3) => false',
    '10 operator: pods.some(({ name }) => name === "a") || limits.includes(3) => (pods.some(({ name }) => name === "a") && limits.includes(3))',
    "10 call: some => every",
    '10 operator: name === "a" => (name !== "a")',
    "10 constant: 3 => 4",
  ]);
});

it.each([
  ["(a ?? 0) >= b", "((a ?? 0) > b)"],
  ["c && !(a || b)", "c && (a || b)"],
  ["(a ?? b).filter(f).map(g)", "(a ?? b).map(g)"],
  ["x = a - (b - c)", "x = (a + (b - c))"],
])("keeps the parentheses of %s", (before, after) => {
  expect(findMutants("a.ts", before).map((mutant) => withMutant(before, mutant))).toContain(after);
});

it.each([
  ["statements and expressions", source],
  [
    "lists and objects over several lines",
    "const a = [\n  1,\n  2,\n];\nconst b = {\n  a,\n  ...a,\n  f() {},\n};\nf({ a, }, [b , ]);",
  ],
])("makes faults that still parse: %s", (_, text) => {
  for (const mutant of findMutants("a.ts", text)) {
    expect(() => parseTypeScript(withMutant(text, mutant)), mutantText(text, mutant)).not.toThrow();
    expect(withMutant(text, mutant)).not.toMatch(/,\s*,/);
  }
});

it("knows the function a fault is in: code outside of functions runs when its module is loaded", () => {
  const functionsAt = (line: number) =>
    findMutants("a.ts", source).flatMap((mutant) => (mutant.line === line ? [mutant.inFunction] : []));
  expect(functionsAt(3)).toEqual([undefined, undefined, undefined, undefined]);
  expect(functionsAt(6)).toEqual(["drain", "drain."]);
});

it("marks every function under the name its mutants have", () => {
  const marked = withReachMarks(source, "a.ts");
  const names = [...marked.matchAll(/"a\.ts#([^"]*)"/g)].map(([, name]) => name);
  expect(names).toEqual(["drain", "drain.", "drain.#1"]);
  expect(new Set(findMutants("a.ts", source).map(({ inFunction }) => inFunction))).toEqual(
    new Set([undefined, ...names]),
  );
  expect(() => parseTypeScript(marked)).not.toThrow();
});

it("draws the same mutants for a seed, from as many lines", () => {
  const mutants = findMutants("a.ts", source);
  const drawn = sampleMutants(mutants, 4, "x");
  expect(sampleMutants(mutants, 4, "x")).toEqual(drawn);
  expect(new Set(drawn.map(({ line }) => line)).size).toBe(4);
  expect(sampleMutants(mutants, 100, "x").length).toBe(6);
});

it("counts what no test runs as not noticed, and a test that never ends as noticed", () => {
  const [first, second, third] = findMutants("src/core/a.ts", source);
  if (first === undefined || second === undefined || third === undefined) throw new Error("three mutants");
  const tried = [
    { mutant: first, trial: { kind: "not-reached" } as const },
    { mutant: second, trial: { kind: "timed-out" } as const },
    { mutant: third, trial: { kind: "survived" } as const },
  ];
  expect(scoreLines(tried, ({ line }) => `line ${line}`)).toEqual([
    "",
    "Not noticed:",
    "  line 3 (no test runs it)",
    "  line 3",
    "",
    "src/core                1 of    3  33 %",
    "all                     1 of    3  33 %",
  ]);
});
