import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** `P-1`, `CP-L9`, `V-5a`; the rules of 01 have no hyphen: `NP13`. */
const hyphenId = "[A-Z]+-[A-Z]*\\d+[a-z]?";
const ruleId = `(?:${hyphenId}|[A-Z]+\\d+)`;
const sectionId = "(?:§\\d+(?:\\.\\d+)*(?:-\\d+)?|Appendix [A-C]\\b)";
const toRule = `(?:–| to )${ruleId}`;
/** One citation and what follows for the same page: `02:R-10, R-11`, `05:CP-L9–L13`, `02:S-30, §12.2-18`. */
const citation = new RegExp(
  `\\b(0[1-6])(?::${ruleId}| ${sectionId})(?:${toRule}|, ${ruleId}| ${hyphenId}|(?:,? |–)${sectionId})*`,
  "g",
);
const part = new RegExp(`${toRule}|${sectionId}|${ruleId}`, "g");

interface Source {
  readonly file: string;
  readonly text: string;
}

interface Page extends Source {
  readonly number: string;
}

const pages: readonly Page[] = readdirSync(join(root, "docs/spec"))
  .filter((name) => /^0\d-/.test(name))
  .map((name) => ({ file: `docs/spec/${name}`, number: name.slice(0, 2), text: read(`docs/spec/${name}`) }));

/** Rules in the order of the pages, with the section each is in. */
const rules = pages.flatMap(({ number, text }) =>
  sectionsOf(text).flatMap(({ section, lines }) =>
    lines.flatMap((line) => {
      const [, rule] = /^(?:- |\| )\*\*(0\d:[\w-]+)\*\*/.exec(line) ?? [];
      return rule === undefined ? [] : [{ rule, section: `${number} §${section}` }];
    }),
  ),
);

/** Headings, and numbered items below them: item 3 of §12.2 is `§12.2-3`, item 8 of §9 is also `§9.8`. */
const sections = pages.flatMap(({ number, text }) =>
  sectionsOf(text).flatMap(({ section, lines }) => {
    const items = lines.flatMap((line) => /^(?:\| )?(\d+)(?:\.| \|) /.exec(line)?.[1] ?? []);
    const name = section.startsWith("Appendix") ? section : `§${section}`;
    return [name, ...items.flatMap((item) => [`${name}-${item}`, `${name}.${item}`])].map((one) => `${number} ${one}`);
  }),
);

function sectionsOf(text: string): readonly { readonly section: string; readonly lines: readonly string[] }[] {
  return text
    .split(/^#{2,4} (?=\d|Appendix)/m)
    .slice(1)
    .map((part) => ({ section: /^(?:Appendix \w|[\d.]+)/.exec(part)?.[0] ?? "", lines: part.split("\n").slice(1) }));
}

/** Rules and sections a text cites, each with its page: `02:P-1`, `02 §5.8`, `03 Appendix A`. */
function citationsIn(text: string): readonly string[] {
  return [...text.matchAll(citation)].flatMap(([run, page = ""]) => {
    const parts = run.slice(2).match(part) ?? [];
    return parts.flatMap((one, at) => {
      if (/^(?:–| to )/.test(one)) return range(`${page}:${parts[at - 1]}`, one.replace(/^(?:–| to )/, ""));
      return one.startsWith("§") || one.startsWith("Appendix") ? [`${page} ${one}`] : [`${page}:${one}`];
    });
  });
}

/** What ` to P-6` or `–L13` adds to the rule before it: all up to the last, in the order of the page. */
function range(first: string, end: string): readonly string[] {
  const last =
    first.includes("-") && !end.includes("-") ? first.replace(/-.*/, `-${end}`) : `${first.slice(0, 3)}${end}`;
  const names = rules.map(({ rule }) => rule);
  return names.includes(last) ? names.slice(names.indexOf(first) + 1, names.indexOf(last) + 1) : [last];
}

const sources: readonly Source[] = [
  ...["src", "test", "bench", "scripts", "docs"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  ),
  ...readdirSync(root),
]
  .filter((file) => /\.(?:ts|mjs|md)$/.test(file))
  .map((file) => ({ file, text: read(file) }));

const readme = read("docs/spec/README.md");
const open = [...(readme.split("## Open\n")[1] ?? "").matchAll(/^\| (0.*?) \|/gm)].flatMap(([, rules]) =>
  citationsIn(rules ?? ""),
);
const tested = new Set([...sources.flatMap(titlesOf), scenarioTitles()].flatMap(citationsIn));

/** The first arguments of `it`, `test` and `describe`, and rows of title tables: strings that begin with a rule. */
function titlesOf({ file, text }: Source): readonly string[] {
  if (!file.endsWith(".test.ts") && !/^test\/.*\.ts$/.test(file)) return [];
  const code = text.replaceAll(/^\s*\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm, "");
  const first = code.matchAll(/(?:\b(?:it|test|describe)(?:\.\w+)*\(|\)\()\s*(["`])((?:\\.|(?!\1).)*)\1/g);
  const rows = code.matchAll(/(["`])(0[1-6]:[A-Z](?:\\.|(?!\1).)* (?:\\.|(?!\1).)*)\1/g);
  return [...first, ...rows].map(([, , title = ""]) => title);
}

/** Scenarios name their rule in the first line, which `test/scenarios/scheduling.test.ts` makes the title. */
function scenarioTitles(): string {
  const folder = "test/fixtures/scenarios/scheduling";
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith(".yaml"));
  return files.map((file) => read(`${folder}/${file}`).split("\n", 1)[0]?.replace(/^# /, "02:")).join("\n");
}

/** CEL rules have an id, which problems show with the page: `id: "NP13"` is shown as 01:NP13. */
function ruleIdsOfKinds(): readonly Source[] {
  const kinds = sources.filter(({ file }) => file.startsWith("src/api/kinds/"));
  return kinds.map(({ file, text }) => {
    const ids = [...text.matchAll(/"((?:NP|NC|NO|CB|EC)\d+)"/g)].map(([, id]) => `01:${id}`);
    return { file, text: ids.join("\n") };
  });
}

/** In a page, a section or rule without a page number is the page's own. */
function spelledOut({ number, text }: Page): string {
  return text
    .replaceAll(/(?<!\b0\d |[,–] ?)§(?=\d)/g, `${number} §`)
    .replaceAll(/(?<![\w:-])(?=[A-Z]+-[A-Z]*\d)/g, `${number}:`);
}

function isTested(rule: string): boolean {
  return tested.has(rule) || tested.has(rule.replace(/[a-z]$/, ""));
}

function isOpen({ rule, section }: { readonly rule: string; readonly section: string }): boolean {
  return open.some((one) => rule === one || section === one || section.startsWith(`${one}.`));
}

describe("docs/spec", () => {
  const known = new Set([...rules.map(({ rule }) => rule), ...sections]);

  it("has every rule and section that is cited", () => {
    const texts = [
      ...sources,
      ...ruleIdsOfKinds(),
      ...pages.map((page) => ({ file: page.file, text: spelledOut(page) })),
      { file: "test/fixtures/scenarios/scheduling", text: scenarioTitles() },
    ];
    const missing = texts.flatMap(({ file, text }) =>
      citationsIn(text).flatMap((one) => (known.has(one) ? [] : [`${file}: ${one}`])),
    );
    expect([...new Set(missing)]).toEqual([]);
  });

  it("is cited by page; designs are cited by their file, without a number", () => {
    const numbered = sources.flatMap(({ file, text }) =>
      (text.match(/design §\d+/g) ?? []).map((one) => `${file}: ${one}`),
    );
    expect(numbered).toEqual([]);
  });

  it("names no design that is not there", () => {
    const designs = sources.flatMap(({ text }) => text.match(/docs\/designs\/[\w-]+\.md/g) ?? []);
    expect(designs.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("has each rule once", () => {
    const names = rules.map(({ rule }) => rule);
    expect(names.filter((rule, at) => names.indexOf(rule) !== at)).toEqual([]);
    expect(names.length).toBeGreaterThan(500);
  });

  it("has every rule in the title of a test, or says why it is open", () => {
    expect(rules.filter((one) => !isTested(one.rule) && !isOpen(one)).map(({ rule }) => rule)).toEqual([]);
  });

  it("lists no rule as open that a test has in its title", () => {
    expect(open.filter((one) => tested.has(one) && one.includes(":"))).toEqual([]);
  });

  it("names no file that is not there", () => {
    const texts = [readme, ...pages.map(({ text }) => text)].join("\n");
    const named = [...texts.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, file]) => file ?? "");
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(named.length).toBeGreaterThan(100);
  });
});
