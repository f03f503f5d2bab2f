import { describe, expect, it } from "vitest";
import { type SourceString, sourceStrings, stringsIn } from "./source-strings.ts";

const all = sourceStrings();

/** Lists of words for the program, not sentences. */
const tableFiles =
  /-data\.ts$|built-in-kind-table\.ts$|^api\/(kinds\/label-rules|validation\/kubelet-fields)\.ts$|^providers\/aws\/user-data\/windows/;

/** Something a person may read: words with spaces between. What has none is a name, a code or a piece of syntax. */
const sentences = all.filter(
  ({ file, text }) => !tableFiles.test(file) && /[a-z]{2,}[,;:]? +\S|… +[a-z]{2,}/.test(text),
);

/** Numbers of rules, of sections of the specification, and of checks: names we have for things among ourselves. */
const internalCode = /\b0\d:[A-Z]|§|\b[A-Z]{1,3}-\d+\b/;

/** What reads like a code of ours and is none, or is never printed. */
const allowedCodes: readonly { readonly reason: string; readonly allows: (found: SourceString) => boolean }[] = [
  {
    reason: "the rule a problem breaks is data for tests; it is never rendered",
    allows: ({ property, file }) =>
      property === "rule" || (file === "core/default-constraints.ts" && property === undefined),
  },
  {
    reason: "which of two rules, never rendered either",
    allows: ({ file, text }) => file === "api/conversion/node-class-gaps.ts" && /^01:EC[12]$/.test(text),
  },
  {
    reason: "UTF-8 is the name of an encoding",
    allows: ({ text }) => !internalCode.test(text.replaceAll("UTF-8", "")),
  },
];

/** Regular expressions, which nobody should have to read in a message. */
const regexSource = /\[\^?[a-z0-9]-[a-z0-9]|\(\?[:=!<]|\\[dws]\b|\)[*+?]\)|\]\{\d/i;
const regexFiles = /^(api\/kinds\/patterns|api\/structural\/|util\/)/;

/** Phrases that are not English as people speak it, each with what to write instead. */
const unnatural: readonly (readonly [RegExp, string])[] = [
  [
    /\b(is|are|was|were) no (?!longer\b|more than\b|less than\b|cheaper\b|room\b|such\b|usable\b|node\b)(?<!there (is|are|was|were) no )/,
    "is not a …",
  ],
  [/\bsays not\b|\bknows not\b/, "does not say"],
  [/\b(names|knows|tells|lists|holds) (no|none)\b/, "has no …, does not name …"],
  [/\bcannot be (told|had|asked)\b/, "cannot be determined, is not available, cannot be reached"],
  [/\bmend(s|ed)?\b/, "fix, correct"],
  [/\bon its way out\b/, "is being removed"],
  [/\bexclude each other\b/, "cannot be used together"],
  [/\blist of (text|words)\b|\b(a|be) text\b|\bof text to text\b|\bletters long\b/, "string, characters"],
  [/\bnot like \d/, "is not a duration such as …"],
  [/\b(?!node node|karpenter karpenter)([a-z]{2,}) \1\b/i, "the same word twice"],
];

describe("words", () => {
  it("reads the strings of all sources", () => {
    expect(all.length).toBeGreaterThan(5_000);
    expect(sentences.length).toBeGreaterThan(1_500);
    const source = ["import 'a'; const b = { message: `no $", "{c} in $", "{'d'}` }; type E = 'f';"].join("");
    expect(stringsIn("x.ts", source)).toEqual([
      { file: "x.ts", line: 1, text: "no … in …", property: "message" },
      { file: "x.ts", line: 1, text: "d", property: undefined },
    ]);
  });

  it("keeps numbers of rules, sections and checks to ourselves", () => {
    const isAllowed = (found: SourceString): boolean => allowedCodes.some(({ allows }) => allows(found));
    expect(placesOf(all.filter((found) => internalCode.test(found.text) && !isAllowed(found)))).toEqual([]);
  });

  it("shows examples, not regular expressions", () => {
    const found = sentences.filter(({ text, file }) => regexSource.test(text) && !regexFiles.test(file));
    expect(placesOf(found)).toEqual([]);
  });

  it.each(unnatural)("does not say %s", (phrase, instead) => {
    expect(placesOf(sentences.filter(({ text }) => phrase.test(text))), instead).toEqual([]);
  });

  it.each([
    ["this is no quantity", "is not a …"],
    ["the fleet says not why", "does not say"],
    ["EKS names no version", "has no …, does not name …"],
    ["it cannot be told", "cannot be determined, is not available, cannot be reached"],
    ["the the", "the same word twice"],
  ])("would notice %j", (text, instead) => {
    expect(unnatural.filter(([phrase]) => phrase.test(text)).map(([, said]) => said)).toEqual([instead]);
  });
});

function placesOf(found: readonly SourceString[]): readonly string[] {
  return found.map(({ file, line, text }) => `${file}:${line}: ${text.slice(0, 200)}`);
}
