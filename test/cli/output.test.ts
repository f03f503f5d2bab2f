import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "./built-cli.ts";

const root = join(import.meta.dirname, "..", "..");

describe.runIf(existsSync("/dev/full"))("output that cannot be written", () => {
  const folder = mkdtempSync(join(tmpdir(), "karpenter-output-"));
  let program = "";
  beforeAll(async () => {
    program = await builtCli(folder);
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Standard output, standard error or both are a full disk. */
  function karpenter(args: readonly string[], { out = false, err = false } = {}) {
    const full = openSync("/dev/full", "w");
    try {
      const stdio = ["ignore", out ? full : "pipe", err ? full : "pipe"] as const;
      return spawnSync(process.execPath, [program, ...args], { cwd: root, encoding: "utf8", stdio: [...stdio] });
    } finally {
      closeSync(full);
    }
  }

  it.each([["plan -f examples/workload.yaml"], ["convert -f examples/workload.yaml"], ["crds"], ["--help"]])(
    "is an error: %s",
    { timeout: 30_000 },
    (line) => {
      const { status, stderr } = karpenter(line.split(" "), { out: true });
      expect(stderr).toMatch(/^error: cannot write to standard output: no space left on the device; .*\n$/m);
      expect(stderr).not.toContain("    at ");
      expect(status).toBe(1);
    },
  );

  it("keeps the exit code where errors cannot be written", { timeout: 30_000 }, () => {
    expect(karpenter(["plan", "-f", "nowhere.yaml"], { err: true }).status).toBe(1);
    expect(karpenter(["nonsense"], { err: true }).status).toBe(2);
  });

  it("is refused where a folder cannot be made", { timeout: 30_000 }, () => {
    const { status, stderr } = karpenter(["crds", "--output-dir", "/proc/nowhere"]);
    expect(stderr).toMatch(/^error: cannot write to \/proc\/nowhere: .*; choose another folder with --output-dir\n$/);
    expect(status).toBe(1);
  });

  it("does not stop the controller: a log that cannot be written is reported once", { timeout: 30_000 }, () => {
    const run = ["run", "--provider", "kwok", "--kubeconfig", join(folder, "nowhere"), "--log-output-paths"];
    const full = karpenter([...run, "/dev/full"]);
    expect(full.stderr).toBe(
      "error: cannot write the log to /dev/full: no space left on the device; lines of it are lost\n",
    );
    expect(full.status).toBe(1);
    const nowhere = karpenter([...run, "/proc/nowhere/log"]);
    expect(nowhere.stderr).toMatch(/^error: --log-output-paths: cannot write to \/proc\/nowhere\/log: no such file/);
    expect(nowhere.status).toBe(2);
  });
});
