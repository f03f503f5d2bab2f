import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

type Numbers = readonly (number | readonly [from: number, to: number])[];

/** Numbers of rules, by spec and letter. Of 03 what comes before and beside disruption. */
const laidDown: Readonly<Record<string, Readonly<Record<string, Numbers>>>> = {
  "02": {
    P: [[1, 8], [10, 12], 20, 21, [30, 34], 40],
    V: [[1, 5]],
    S: [[1, 14], [20, 28], 30, 35, 36, 40, 41, 45, 50, [55, 57]],
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
  },
  "03": {
    L: [1, 2, [4, 18], [20, 23], [30, 36]],
    H: [1],
    C: [[1, 3]],
    G: [1, 2, 3, 5],
    M: [[1, 8]],
    E: [[1, 4]],
    P: [
      [1, 5],
      [20, 23],
    ],
    SP: [[2, 5]],
    T: [[1, 9], [12, 14], [20, 23], 30, 32, [40, 45], [50, 52]],
    R: [[1, 6]],
    I: [2, 3, 4, 6, 8],
    S: [[10, 13]],
  },
};

const allLaidDown = Object.entries(laidDown).flatMap(([spec, letters]) =>
  Object.entries(letters).flatMap(([letter, numbers]) =>
    numbers.flatMap((one) => {
      const [from, to] = typeof one === "number" ? [one, one] : one;
      return Array.from({ length: to - from + 1 }, (_, at) => `${spec}:${letter}-${from + at}`);
    }),
  ),
);

const pages = ["scheduling", "provisioning", "lifecycle"].map((page) => read(`docs/spec/${page}.md`)).join("\n");
const kept = [...pages.matchAll(/^- \*\*(\d\d:[A-Z]+-\d+)\*\*/gm)].map(([, rule]) => rule ?? "");
const readme = read("docs/spec/README.md");
const open = rulesIn(section("Open"));
const rows = new Map(
  [...section("Which test holds which rule").matchAll(/^\| (\d\d:[A-Z]+-\d+) \| (.*) \|$/gm)].map(
    ([, rule = "", files = ""]) => [rule, [...files.matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? "")],
  ),
);
const titles = new Map(testFiles().map((file) => [file, rulesIn(titlesOf(file))]));

function section(title: string): string {
  return readme.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
}

/** `02:R-10, R-11` names two. */
function rulesIn(text: string): ReadonlySet<string> {
  const runs = text.match(/\d\d:[A-Z]+-\d+(?:, (?:\d\d:)?[A-Z]+-\d+)*/g) ?? [];
  return new Set(
    runs.flatMap((run) =>
      (run.match(/(?:\d\d:)?[A-Z]+-\d+/g) ?? []).map((rule) =>
        rule.includes(":") ? rule : `${run.slice(0, 3)}${rule}`,
      ),
    ),
  );
}

/** What is written in quotes: titles, and tables of them. */
function titlesOf(file: string): string {
  const code = read(file).replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  const own = (code.match(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g) ?? []).join("\n");
  if (file === "test/scenarios/scheduling.test.ts") return own + scenarioTitles();
  return file === "test/stories/embedded.test.ts" ? own + storyTitles() : own;
}

/** Scenarios name their rule in the first line. */
function scenarioTitles(): string {
  const folder = "test/fixtures/scenarios/scheduling";
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith(".yaml"));
  return files.map((file) => `\n02:${read(`${folder}/${file}`).split("\n", 1)[0]?.replace(/^# /, "")}`).join("");
}

/** Stories are told by one test file. */
function storyTitles(): string {
  const files = readdirSync(join(root, "test/stories")).filter((file) => !file.endsWith(".test.ts"));
  return files.map((file) => titlesOf(`test/stories/${file}`)).join("\n");
}

function testFiles(): readonly string[] {
  return ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts") && file !== "spec-coverage.test.ts")
      .map((file) => `${folder}/${file}`),
  );
}

describe("docs/spec", () => {
  it("02, 03: keeps each rule once", () => {
    expect(kept.filter((rule, at) => kept.indexOf(rule) !== at)).toEqual([]);
  });

  it("02, 03: keeps every rule that is laid down, or says why it is open", () => {
    expect(allLaidDown.filter((rule) => !kept.includes(rule) && !open.has(rule))).toEqual([]);
  });

  it("02, 03: says of no rule that it is kept and open", () => {
    expect(kept.filter((rule) => open.has(rule))).toEqual([]);
  });

  it("02, 03: every rule that is kept is in the title of a test", () => {
    const tested = new Set([...titles.values()].flatMap((rules) => [...rules]));
    expect(kept.filter((rule) => !tested.has(rule))).toEqual([]);
  });

  it("02, 03: the table names a test for every rule, and the tests it names carry the rule", () => {
    expect([...rows.keys()]).toEqual(kept);
    const untrue = [...rows].flatMap(([rule, files]) =>
      files.filter((file) => !titles.get(file)?.has(rule)).map((file) => `${rule} ${file}`),
    );
    expect(untrue).toEqual([]);
    expect([...rows].filter(([, files]) => files.length === 0)).toEqual([]);
  });

  it("02, 03: names no test file that is not there", () => {
    const named = [...readme.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file]) => file ?? "");
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(named.length).toBeGreaterThan(100);
  });
});
