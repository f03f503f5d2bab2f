import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbedded } from "../../kubectl/embedded.ts";
import { goProgram } from "../binaries.ts";
import { describeOnCluster } from "../shared.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "karpenter-go-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let program = "";
beforeAll(async () => {
  program = await goProgram("test/cluster/clients/go");
});

async function report(kubeconfig: string): Promise<Record<string, unknown>> {
  const path = join(folder, "kubeconfig");
  writeFileSync(path, kubeconfig, { mode: 0o600 });
  const { stdout } = await run(program, [path]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Everything but the version, which is the server's own. */
const seen = {
  created: ["go-client", "web", "web", "leader"],
  replicas: 2,
  cpu: "250m",
  minAvailable: "50%",
  leaseHolder: "go-client",
  refused: { get: "NotFound", create: "AlreadyExists", update: "Conflict" },
  synced: true,
  events: ["added early", "added late", "changed late", "deleted early"],
  cached: ["late"],
};

describe("a Go client, typed and speaking protobuf", () => {
  it("05 §5 creates and runs an informer on the embedded server", async () => {
    const embedded = await startEmbedded();
    try {
      expect(await report(embedded.kubeconfig)).toEqual({ ...seen, serverVersion: expect.stringMatching(/^v1\./) });
      expect(embedded.faults).toEqual([]);
    } finally {
      await embedded.close();
    }
  });
});

describeOnCluster("the same Go client on a real kube-apiserver", ({ kubeconfigPath }) => {
  it("05 §5 sees the same", async () => {
    const theirs = await report(readFileSync(kubeconfigPath, "utf8"));
    expect(theirs).toEqual({ ...seen, serverVersion: expect.stringMatching(/^v1\./) });
  });
});
