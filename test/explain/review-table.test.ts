import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import type { Explanation } from "../../src/core/explain/explanation.ts";
import { Random } from "../../src/util/random.ts";
import { isLongTier } from "../runs.ts";
import type { FoundCondition } from "./case-draft.ts";
import { causeMakers, generatedCase } from "./generated-causes.ts";
import { explain } from "./run.ts";

const path = join(import.meta.dirname, "..", "..", "docs", "guides", "explain.md");
const [start, end] = ["<!-- causes: made by test/explain/review-table.test.ts -->\n", "<!-- end of causes -->\n"];

/** Undefined where a plan of files takes for granted what a cluster would lack. */
async function row(cause: string): Promise<string | undefined> {
  const { objects, running, workload, found } = generatedCase(new Random("table"), cause, "Deployment");
  const all = [...objects, ...running, workload].map((object) =>
    object.kind === found?.kind ? withFound(object, found) : object,
  );
  const text = all.map((object) => JSON.stringify(object)).join("\n---\n");
  const target = `${workload.kind.toLowerCase()}/stuck`;
  const region = objects.some(({ kind }) => kind === "EC2NodeClass") ? ["--region", "us-west-2"] : [];
  const asked = [target, "-f", "in.yaml", "-o", "json", ...region];
  const { out, err } = await explain(asked, { files: { "in.yaml": text } });
  if (out === "") throw new Error(`${cause}: ${err}`);
  const { cause: said, suggestions, lastResorts = [], outcome, pools } = JSON.parse(out) as Explanation;
  if (outcome.kind === "on-node" || outcome.kind === "on-new-node") return undefined;
  const [first] = suggestions;
  const [last] = lastResorts;
  const step = pools.flatMap(({ reasons }) =>
    reasons.flatMap((reason) => ("nextStep" in reason ? reason.nextStep : [])),
  );
  const none = step[0] === undefined ? "nothing: no change was found" : `as a next step: ${step[0]}`;
  const what = first?.text ?? (last === undefined ? none : `as a last resort: ${last.text}`);
  return `| ${cause} | ${escaped(said)} | ${escaped(what)} |`;
}

/** With what a cluster would find out. */
function withFound(object: KubeObject, { type, reason, message }: FoundCondition): KubeObject {
  const condition = { status: "False", reason, message, lastTransitionTime: "2026-01-15T12:00:00Z" };
  return {
    ...object,
    status: {
      conditions: [
        { type: "Ready", ...condition },
        { type, ...condition },
      ],
    },
  };
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

/** Tier 1 makes some of the rows, the long tier all of them. */
const every = 8;

describe("docs/guides/explain.md", () => {
  it("has a table of what is said first of each cause", async () => {
    const causes = Object.keys(causeMakers);
    const guide = readFileSync(path, "utf8");
    const [from, to] = [guide.indexOf(start), guide.indexOf(end) + end.length];
    expect(from).toBeGreaterThan(0);
    if (process.env["UPDATE_DOCS"] !== "1" && !isLongTier) {
      const some = causes.filter((_, index) => index % every === 0);
      for (const cause of some) expect(guide.slice(from, to)).toContain(`\n${await row(cause)}\n`);
      return;
    }
    const rows: string[] = [];
    for (const cause of causes) rows.push(...[await row(cause)].filter((one) => one !== undefined));
    expect(rows.length).toBeGreaterThanOrEqual(80);
    const table = `${start}\n| what is wrong | what explain says first | what it suggests first |\n|---|---|---|\n${rows.join("\n")}\n\n${end}`;
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(path, `${guide.slice(0, from)}${table}${guide.slice(to)}`);
    else expect(guide.slice(from, to)).toBe(table);
  }, 300_000);
});
