import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { nodePoolHashVersion } from "../../src/api/hash/hash-drift.ts";
import { nodePoolHash } from "../../src/api/hash/node-pool-hash.ts";
import { remake } from "../oracle/answers.ts";
import { poolsToHash } from "../oracle/random-pools.ts";
import { readScenario } from "../scenarios/run.ts";
import { goProgram } from "./binaries.ts";
import { describeOnCluster } from "./shared.ts";

const execute = promisify(execFile);
const scenarios = join(import.meta.dirname, "..", "fixtures", "scenarios");

/** One of each sort of question and answer; `npm run oracle:expect -- --check` asks all of them. */
const files = [
  ["a plain answer", "scheduling/001-in-zone.expected.json"],
  ["a refused pod", "scheduling/010-in-undefined-key.expected.json"],
  ["another policy", "scheduling/023-preferred-ignored.expected.json"],
  ["zones left to chance", "scheduling/044-spread-zone.expected.json"],
  ["existing nodes", "scheduling/092-deleting-node.expected.json"],
  ["a catalogue file", "scheduling/105-reserved-first.expected.json"],
  ["the benchmark's catalogue", "scheduling/113-batch-fake-catalogue.expected.json"],
  ["an answer we do not give", "quirks/001-nodes-limit.upstream.json"],
  ["every default filled in", "expanded/100-volume-csi-limit.json"],
] as const;

// This needs Go and no control plane. But a machine without Go has no control plane, so the same guard will do.
describeOnCluster("the oracle gives the committed answers", () => {
  let oracle = "";
  beforeAll(async () => {
    oracle = await goProgram("test/oracle");
  });

  it.each(files)("%s (%s)", async (_, file) => {
    expect(await remake(file, { oracle, scenarios })).toBe(readScenario(file));
  });

  it("01 §6.3 our hash of a pool's template has upstream's bits", async () => {
    const pools = poolsToHash(2_000);
    const ours = pools.map(({ metadata, spec }) => ({
      nodePool: metadata.name,
      hash: nodePoolHash(spec.template),
      version: nodePoolHashVersion,
    }));
    const asked = execute(oracle, ["hash", "-"], { maxBuffer: 2 ** 26 });
    asked.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: pools }));
    expect(JSON.parse((await asked).stdout)).toEqual(ours);
  });
});
