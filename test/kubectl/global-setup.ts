import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import type { FoundKubectl } from "./embedded.ts";
import { findKubectl } from "./kubectl.ts";

/** Finds kubectl once for the run, and says at its end how many distinct command lines were run. */
export function setup(project: TestProject): (() => void) | undefined {
  const program = findKubectl(process.env);
  if (program === undefined) {
    skipOrFail();
    project.provide("kubectl", { kind: "missing" });
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "karpenter-tally-"));
  const tally = join(folder, "tally");
  writeFileSync(tally, "");
  project.provide("kubectl", { kind: "found", program, tally } satisfies FoundKubectl);
  return () => {
    const lines = readFileSync(tally, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    process.stdout.write(`\n${new Set(lines).size} distinct kubectl invocations, ${lines.length} in all\n`);
    rmSync(folder, { recursive: true, force: true });
  };
}

function skipOrFail(): void {
  const message = "these tests need kubectl on PATH; scripts/setup-cluster.sh builds one";
  if (process.env["REQUIRE_ALL"] === "1") throw new Error(message);
  process.stderr.write(`\n!!! SKIPPED: ${message}\n\n`);
}
