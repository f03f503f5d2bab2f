import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "./built-cli.ts";

const root = join(import.meta.dirname, "..", "..");

/** Loaded before the program: whoever opens a socket, by whatever library, gets this error. */
const refuseSockets = `import { Socket } from "node:net";
Socket.prototype.connect = () => { throw new Error("a socket was opened"); };
`;

describe("plan in a process without a network", () => {
  const dir = mkdtempSync(join(tmpdir(), "karpenter-offline-"));
  const hook = join(dir, "refuse-sockets.mjs");
  let program = "";

  beforeAll(async () => {
    writeFileSync(hook, refuseSockets);
    program = await builtCli(dir);
  }, 60_000);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const karpenter = (...args: readonly string[]) =>
    spawnSync(process.execPath, ["--import", pathToFileURL(hook).href, program, ...args], {
      cwd: root,
      encoding: "utf8",
    });

  it.each([
    ["KWOK's machines", ["-f", "examples/kwok.yaml", "-f", "examples/workload.yaml"]],
    ["EC2's machines", ["-f", "examples/workload.yaml", "--region", "us-east-1"]],
  ])("works with %s", { timeout: 30_000 }, (_, args) => {
    const { status, stdout, stderr } = karpenter("plan", ...args);
    expect(stderr).toBe("");
    expect(stdout).toContain("/hour");
    expect(status).toBe(0);
  });

  it("cannot reach a cluster there, so that we know the network is gone", { timeout: 30_000 }, () => {
    const kubeconfig = join(dir, "kubeconfig");
    const clusters = [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }];
    const contexts = [{ name: "c", context: { cluster: "c" } }];
    writeFileSync(kubeconfig, JSON.stringify({ clusters, contexts, "current-context": "c" }));
    const { status, stderr } = karpenter("plan", "--kubeconfig", kubeconfig);
    expect(stderr).toContain("a socket was opened");
    expect(status).toBe(1);
  });
});
