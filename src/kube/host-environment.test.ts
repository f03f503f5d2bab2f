import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemHostEnvironment } from "./host-environment.ts";

describe("systemHostEnvironment", () => {
  const environment = systemHostEnvironment({
    env: { PATH: process.env["PATH"], A: "1", B: "1" },
    homeDir: "/nowhere",
  });

  it("reads files, returns undefined for a missing one, and throws other errors", async () => {
    const dir = await mkdtemp(join(tmpdir(), "machine-"));
    await writeFile(join(dir, "file"), "hällo");
    expect(await environment.readFile(join(dir, "file"))).toBe("hällo");
    expect(await environment.readFile(join(dir, "other"))).toBeUndefined();
    await expect(environment.readFile(dir)).rejects.toThrow("EISDIR");
    await rm(dir, { recursive: true });
  });

  it("runs programs with their arguments and environment, and rejects when they fail", async () => {
    const script = 'process.stdout.write([process.env.A, process.env.B, process.argv[1]].join(" "))';
    const run = (code: string) =>
      environment.runCommand(process.execPath, { args: ["-e", code, "x y"], env: { B: "2" } });
    expect(await run(script)).toBe("1 2 x y");
    await expect(run("console.error('no luck'); process.exit(3)")).rejects.toThrow("no luck");
    await expect(environment.runCommand("no-such-program", { args: [], env: {} })).rejects.toThrow("ENOENT");
  });
});
