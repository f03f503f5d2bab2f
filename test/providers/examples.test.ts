import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { nodeClaimLoops } from "../../src/controllers/node-claim/loops.ts";
import { nodePoolLoops } from "../../src/controllers/node-pool/loops.ts";
import { provisioningLoops } from "../../src/controllers/provisioning/loops.ts";
import { Trigger } from "../../src/controllers/provisioning/trigger.ts";
import { builtIn } from "../../src/kube/resources.ts";
import { rig } from "../controllers/rig.ts";

const examples = join(import.meta.dirname, "..", "..", "examples");

function documents(file: string): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(join(examples, file), "utf8")).map((one) => one.toJS() as KubeObject);
}

it.each([
  ["quick-start.yaml", 50, /^[csm]-\d+x-amd64-linux$/],
  ["aws.yaml", 20, /^[cmr]\d\w*\.\w+$/],
])("02:K-9 examples/%s: all %i pods run, on machines of the simulated cloud", async (file, count, type) => {
  const { create, pass, list, stop, simulated, troubles } = await rig({
    isAlive: true,
    controllers: (parts) => [
      ...parts.cloud.loops,
      ...provisioningLoops({ ...parts, trigger: new Trigger() }),
      ...nodeClaimLoops(parts),
      ...nodePoolLoops(parts),
    ],
  });
  // Namespaced objects go where kubectl would put them.
  const placed = documents(file).map((one) =>
    one.kind === "Deployment" ? { ...one, metadata: { ...one.metadata, namespace: "default" } } : one,
  );
  await create(...placed);
  await pass(90);
  const pods = await list<KubeObject>(builtIn.Pod);
  expect(pods.filter(({ status }) => (status as { phase?: string }).phase === "Running")).toHaveLength(count);
  const nodes = await list<KubeObject>(builtIn.Node);
  expect(nodes.length).toBe(simulated.list().length);
  expect(
    nodes.map(({ metadata }) => metadata.labels?.[labels.instanceType] ?? "").every((name) => type.test(name)),
  ).toBe(true);
  expect(troubles).toEqual([]);
  await stop();
});
