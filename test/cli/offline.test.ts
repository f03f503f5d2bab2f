import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** Loaded before the program: whoever opens a socket, by whatever library, gets this error. */
const refuseSockets = `import { Socket } from "node:net";
Socket.prototype.connect = () => { throw new Error("a socket was opened"); };
`;

describe("plan in a process without a network", () => {
  const dir = mkdtempSync(join(tmpdir(), "karpenter-offline-"));
  const hook = join(dir, "refuse-sockets.mjs");
  const bin = join(dir, "dist", "bin");

  beforeAll(async () => {
    mkdirSync(bin, { recursive: true });
    writeFileSync(hook, refuseSockets);
    writeFileSync(join(dir, "package.json"), JSON.stringify({ type: "module", version: "0.0.0" }));
    writeFileSync(
      join(bin, "run.js"),
      'import { main } from "./main.js";\nprocess.exitCode = await main(process.argv.slice(2));\n',
    );
    await build({
      entryPoints: [join(root, "src", "cli", "main.ts")],
      outdir: bin,
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      target: "node20",
      logLevel: "warning",
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    });
  }, 60_000);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const karpenter = (...args: readonly string[]) =>
    spawnSync(process.execPath, ["--import", pathToFileURL(hook).href, join(bin, "run.js"), ...args], {
      cwd: root,
      encoding: "utf8",
    });

  it.each([
    ["KWOK's machines", ["-f", "examples/kwok.yaml", "-f", "examples/workload.yaml"]],
    ["EC2's machines", ["-f", "examples/workload.yaml", "--region", "us-east-1"]],
  ])("works with %s", { timeout: 30_000 }, (_, args) => {
    const { status, stdout, stderr } = karpenter("plan", ...args);
    expect(stderr).toBe("");
    expect(stdout).toContain("an hour");
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
