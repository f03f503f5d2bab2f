import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { goProgram } from "../cluster/binaries.ts";
import { answerFiles, remake } from "./answers.ts";

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    /** Show the differences and write nothing. */
    check: { type: "boolean", default: false },
    /** How often each question is asked. */
    runs: { type: "string", default: "60" },
  },
});

const scenarios = join(process.cwd(), "test", "fixtures", "scenarios");
const files = answerFiles(scenarios).filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
if (files.length === 0) {
  console.error(`no scenario has ${words.join(" or ")} in its path`);
  process.exit(2);
}

const oracle = await goProgram("test/oracle");
const compared = mkdtempSync(join(tmpdir(), "karpenter-oracle-"));
const changed: string[] = [];
for (const file of files) {
  const before = join(scenarios, file);
  const text = await remake(file, { oracle, scenarios, runs: Number(options.runs) });
  if (existsSync(before) && readFileSync(before, "utf8") === text) continue;
  changed.push(file);
  const after = join(compared, "after", file);
  mkdirSync(dirname(after), { recursive: true });
  writeFileSync(after, text);
  if (existsSync(before)) cpSync(before, join(compared, "before", file));
  if (!options.check) cpSync(after, before);
}

if (changed.length > 0) {
  mkdirSync(join(compared, "before"), { recursive: true });
  spawnSync("git", ["--no-pager", "diff", "--no-index", "before", "after"], { cwd: compared, stdio: "inherit" });
}
rmSync(compared, { recursive: true });
console.log(`${files.length} answers made anew, ${changed.length} differ${options.check ? "" : " and are written"}`);
process.exitCode = options.check && changed.length > 0 ? 1 : 0;
