import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { nodeClaimControllers } from "../../src/controllers/node-claim/node-claim-controllers.ts";
import { nodePoolControllers } from "../../src/controllers/node-pool/node-pool-controllers.ts";
import { provisioningControllers } from "../../src/controllers/provisioning/provisioning-controllers.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { controllerWorld } from "../controllers/controller-world.ts";

const examples = join(import.meta.dirname, "..", "..", "examples");

function documents(file: string): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(join(examples, file), "utf8")).map((one) => one.toJS() as KubeObject);
}

it.each([
  ["quick-start.yaml", 50, /^[csm]-\d+x-amd64-linux$/],
  ["aws.yaml", 20, /^[cmr]\d\w*\.\w+$/],
])("02:K-9 examples/%s: all %i pods run, on machines of the simulated cloud", async (file, count, type) => {
  const { create, pass, list, stop, cloud, failures } = await controllerWorld({
    runsCluster: true,
    controllers: (dependencies) => [
      ...dependencies.cloud.controllers,
      ...provisioningControllers(dependencies),
      ...nodeClaimControllers(dependencies),
      ...nodePoolControllers(dependencies),
    ],
  });
  // Namespaced objects go where kubectl would put them.
  const placed = documents(file).map((one) =>
    one.kind === "Deployment" ? { ...one, metadata: { ...one.metadata, namespace: "default" } } : one,
  );
  await create(...placed);
  await pass(90);
  const pods = await list<KubeObject>(builtInTypes.Pod);
  expect(pods.filter(({ status }) => (status as { phase?: string }).phase === "Running")).toHaveLength(count);
  const nodes = await list<KubeObject>(builtInTypes.Node);
  expect(nodes.length).toBe(cloud.list().length);
  expect(
    nodes.map(({ metadata }) => metadata.labels?.[labels.instanceType] ?? "").every((name) => type.test(name)),
  ).toBe(true);
  expect(failures).toEqual([]);
  await stop();
});
