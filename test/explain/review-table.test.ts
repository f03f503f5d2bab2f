import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Explanation } from "../../src/core/explain/explanation.ts";
import { Random } from "../../src/util/random.ts";
import { causeMakers, generatedCase } from "./generated-causes.ts";
import { explain } from "./run.ts";

const path = join(import.meta.dirname, "..", "..", "docs", "guides", "explain.md");
const [start, end] = ["<!-- causes: made by test/explain/review-table.test.ts -->\n", "<!-- end of causes -->\n"];

/** Undefined where a plan of files takes for granted what a cluster would lack. */
async function row(cause: string): Promise<string | undefined> {
  const { objects, workload } = generatedCase(new Random("table"), cause, "Deployment");
  const text = [...objects, workload].map((object) => JSON.stringify(object)).join("\n---\n");
  const target = `${workload.kind.toLowerCase()}/stuck`;
  const { out, err } = await explain([target, "-f", "in.yaml", "-o", "json"], { files: { "in.yaml": text } });
  if (out === "") throw new Error(`${cause}: ${err}`);
  const { cause: said, suggestions, lastResorts = [], outcome } = JSON.parse(out) as Explanation;
  if (outcome.kind === "on-node" || outcome.kind === "on-new-node") return undefined;
  const [first] = suggestions;
  const [last] = lastResorts;
  const what = first?.text ?? (last === undefined ? "nothing: no change was found" : `as a last resort: ${last.text}`);
  return `| ${cause} | ${escaped(said)} | ${escaped(what)} |`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

describe("docs/guides/explain.md", () => {
  it("has a table of what is said first of each cause", async () => {
    const causes = Object.keys(causeMakers);
    const rows: string[] = [];
    for (const cause of causes) rows.push(...[await row(cause)].filter((one) => one !== undefined));
    expect(rows.length).toBeGreaterThanOrEqual(40);
    const table = `${start}\n| what is wrong | what explain says first | what it suggests first |\n|---|---|---|\n${rows.join("\n")}\n\n${end}`;
    const guide = readFileSync(path, "utf8");
    const [from, to] = [guide.indexOf(start), guide.indexOf(end) + end.length];
    expect(from).toBeGreaterThan(0);
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(path, `${guide.slice(0, from)}${table}${guide.slice(to)}`);
    else expect(guide.slice(from, to)).toBe(table);
  }, 60_000);
});
