import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, expect } from "vitest";

declare global {
  /** The functions that were called since the test file began, as `file#function`. */
  var __reached: Set<string> | undefined;
}

// A setup file runs before each test file. What the file reaches is written for the process that asked.
globalThis.__reached = new Set();
afterAll(() => {
  const folder = process.env["REACH_FOLDER"];
  const file = relative(process.cwd(), expect.getState().testPath ?? "");
  if (folder === undefined || globalThis.__reached === undefined) return;
  const name = createHash("sha256").update(file).digest("hex").slice(0, 16);
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ file, functions: [...globalThis.__reached] }));
});
