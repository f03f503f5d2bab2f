import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, expect } from "vitest";
import { type ReachRecord, recordName } from "./reach-record.ts";

declare global {
  /** The functions that were called since the test file began, as `file#function`. */
  var __reached: Set<string> | undefined;
}

// A setup file runs before each test file. What the file reaches is written for the process that asked.
globalThis.__reached = new Set();
const before = process.cpuUsage();
afterAll(() => {
  const folder = process.env["REACH_FOLDER"];
  const file = relative(process.cwd(), expect.getState().testPath ?? "");
  if (folder === undefined || globalThis.__reached === undefined) return;
  const { user, system } = process.cpuUsage(before);
  const record: ReachRecord = { cpuMs: (user + system) / 1_000, functions: [...globalThis.__reached] };
  writeFileSync(join(folder, recordName(file)), JSON.stringify(record));
});
