import { createHash } from "node:crypto";

/** What a test file did. */
export interface ReachRecord {
  readonly cpuMs: number;
  readonly functions: readonly string[];
}

/** The name of the file that keeps the record of a test file. */
export function recordName(testFile: string): string {
  return `${createHash("sha256").update(testFile).digest("hex").slice(0, 16)}.json`;
}
