import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** Numbers of rules, by letter: what 02 §3 to §6, §8 and §9 lay down. */
const laidDown: Readonly<Record<string, readonly (number | readonly [from: number, to: number])[]>> = {
  R: [[1, 5], [10, 12], [20, 23], [25, 28], 30, [35, 37]],
  A: [[1, 13]],
  T: [[1, 8]],
  Q: [
    [1, 9],
    [20, 23],
    [40, 43],
    [50, 54],
  ],
  E: [[1, 6]],
  N: [[1, 3]],
  F: [[1, 4]],
  G: [[1, 3]],
  H: [[1, 4]],
  W: [[1, 4]],
  X: [1, 2, [5, 10], 15, 20, [25, 27], 30, 31, 35, [40, 42], [50, 52]],
  Y: [[1, 7]],
  D: [[1, 11]],
  L: [[1, 6], 10, [20, 23], [30, 35]],
  O: [[1, 9]],
  B: [[1, 8]],
  Z: [[1, 3]],
  U: [[1, 3]],
  K: [[1, 10]],
};

const allLaidDown = Object.entries(laidDown).flatMap(([letter, numbers]) =>
  numbers.flatMap((one) => {
    const [from, to] = typeof one === "number" ? [one, one] : one;
    return Array.from({ length: to - from + 1 }, (_, at) => `02:${letter}-${from + at}`);
  }),
);

const kept = [...read("docs/spec/scheduling.md").matchAll(/^- \*\*(02:[A-Z]-\d+)\*\*/gm)].map(([, rule]) => rule ?? "");
const readme = read("docs/spec/README.md");
const open = rulesIn(section("Open"));
const rows = new Map(
  [...section("Which test holds which rule").matchAll(/^\| (02:[A-Z]-\d+) \| (.*) \|$/gm)].map(
    ([, rule = "", files = ""]) => [rule, [...files.matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? "")],
  ),
);
const titles = new Map(testFiles().map((file) => [file, rulesIn(titlesOf(file))]));

function section(title: string): string {
  return readme.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
}

/** `02:R-10, R-11` names two. */
function rulesIn(text: string): ReadonlySet<string> {
  const runs = text.match(/02:[A-Z]-\d+(?:, (?:02:)?[A-Z]-\d+)*/g) ?? [];
  return new Set(runs.flatMap((run) => (run.match(/[A-Z]-\d+/g) ?? []).map((rule) => `02:${rule}`)));
}

/** What is written in quotes: titles, and tables of them. */
function titlesOf(file: string): string {
  const code = read(file).replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  const own = (code.match(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g) ?? []).join("\n");
  return file === "test/scenarios/scheduling.test.ts" ? own + scenarioTitles() : own;
}

/** Scenarios name their rule in the first line. */
function scenarioTitles(): string {
  const folder = "test/fixtures/scenarios/scheduling";
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith(".yaml"));
  return files.map((file) => `\n02:${read(`${folder}/${file}`).split("\n", 1)[0]?.replace(/^# /, "")}`).join("");
}

function testFiles(): readonly string[] {
  return ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts") && file !== "spec-coverage.test.ts")
      .map((file) => `${folder}/${file}`),
  );
}

describe("docs/spec", () => {
  it("02 keeps each rule once", () => {
    expect(kept.filter((rule, at) => kept.indexOf(rule) !== at)).toEqual([]);
  });

  it("02 keeps every rule that is laid down, or says why it is open", () => {
    expect(allLaidDown.filter((rule) => !kept.includes(rule) && !open.has(rule))).toEqual([]);
  });

  it("02 says of no rule that it is kept and open", () => {
    expect(kept.filter((rule) => open.has(rule))).toEqual([]);
  });

  it("02 every rule that is kept is in the title of a test", () => {
    const tested = new Set([...titles.values()].flatMap((rules) => [...rules]));
    expect(kept.filter((rule) => !tested.has(rule))).toEqual([]);
  });

  it("02 the table names a test for every rule, and the tests it names carry the rule", () => {
    expect([...rows.keys()]).toEqual(kept);
    const untrue = [...rows].flatMap(([rule, files]) =>
      files.filter((file) => !titles.get(file)?.has(rule)).map((file) => `${rule} ${file}`),
    );
    expect(untrue).toEqual([]);
    expect([...rows].filter(([, files]) => files.length === 0)).toEqual([]);
  });

  it("02 names no test file that is not there", () => {
    const named = [...readme.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file]) => file ?? "");
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(named.length).toBeGreaterThan(100);
  });
});
