import type { TestProject } from "vitest/node";
import { clusterBinaries } from "./binaries.ts";
import { startControlPlane } from "./control-plane.ts";
import type {} from "./shared.ts"; // what `provide` may hand out

/** Starts one control plane for all test files of the run; without its programs the tier is skipped, or fails in CI. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const binaries = await clusterBinaries();
  if (binaries.kind === "missing") {
    skipOrFail(binaries.because);
    project.provide("cluster", binaries);
    return undefined;
  }
  const { url, ca, token, kubeconfigPath, stop } = await startControlPlane();
  project.provide("cluster", { kind: "running", url, ca, token, kubeconfigPath });
  return stop;
}

function skipOrFail(because: string): void {
  const message = `cluster tests need a control plane, which scripts/setup-cluster.sh builds:\n${because}`;
  if (process.env.REQUIRE_ALL === "1") throw new Error(message);
  process.stderr.write(`\nSKIPPING ALL CLUSTER TESTS: ${message}\n\n`);
}
