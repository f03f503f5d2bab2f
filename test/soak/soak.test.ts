import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("run.mjs", import.meta.url));

/** In a process of its own, whose heap is that of the cluster alone. */
describe.runIf(process.env["LONG"] === "1")("a cluster that runs for days", () => {
  it("05:CP-T6 keeps nothing of what is gone, and does not grow", async () => {
    const args = [program, "--days", "3", "--baseline", "2", "--services", "1"];
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((error) => error);
    expect(stdout).toContain("nothing grew");
  });
});
