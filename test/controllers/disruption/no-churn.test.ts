import { expect, it } from "vitest";
import type { Node } from "../../../src/api/kubernetes/cluster-objects.ts";
import { annotations } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { isIn, kwokClass, pool } from "../../stories/manifests.ts";
import { deployment } from "../../stories/workloads.ts";
import { testWorld } from "../../world/test-world.ts";

const fourCpus = [isIn("karpenter.sh/capacity-type", "on-demand"), isIn("karpenter.kwok.sh/instance-cpu", "4")];
const disruption = { consolidateAfter: "0s", budgets: [{ nodes: "100%" }] };
const minute = 60;
const inDefault = <T extends { readonly metadata: object }>(object: T) => ({
  ...object,
  metadata: { ...object.metadata, namespace: "default" },
});

it("03:D-58a a node that comes back for the same pods is not removed again for an hour", async () => {
  const world = await testWorld({ seed: "no churn" });
  world.startCluster();
  world.startOperator("operator");
  const nodes = () => world.list<KubeObject & Node>(builtInTypes.Node);
  const nameOf = (one: KubeObject | undefined) => one?.metadata.name ?? "";
  const anchored = { annotations: { [annotations.doNotDisrupt]: "true" } };
  await world.create(kwokClass, pool({ requirements: fourCpus, spec: { disruption } }));
  await world.create(
    inDefault(deployment("anchor", { cpu: "1", ...anchored })),
    inDefault(deployment("filler", { cpu: "2500m", ...anchored })),
  );
  await world.pass(minute);
  const [anchor] = await nodes();
  await world.create(inDefault(deployment("web", { cpu: "1" })));
  await world.pass(minute);
  expect(await nodes()).toHaveLength(2);

  const scale = (name: string, replicas: number) =>
    world.client.patch(
      builtInTypes.Deployment,
      { namespace: "default", name },
      { kind: "merge", body: { spec: { replicas } } },
    );
  const taint = (taints: readonly object[] | null) =>
    world.client.patch(builtInTypes.Node, { name: nameOf(anchor) }, { kind: "merge", body: { spec: { taints } } });

  await scale("filler", 0);
  await world.pass(3 * minute);
  expect((await nodes()).map(nameOf)).toEqual([nameOf(anchor)]);

  // The pod cannot stay where it was moved to, and a node is launched for it again.
  await taint([{ key: "closed", effect: "NoSchedule" }]);
  await scale("web", 0);
  await world.pass(5);
  await scale("web", 1);
  await world.pass(minute);
  await taint(null);
  const back = (await nodes()).map(nameOf).find((name) => name !== nameOf(anchor)) ?? "";
  expect(back).not.toBe("");
  await world.pass(30 * minute);
  expect((await nodes()).map(nameOf)).toContain(back);
  expect((await world.events(back)).map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^Would undo the consolidation at .*, and neither pods nor prices have changed since$/),
  );

  await world.pass(35 * minute);
  expect((await nodes()).map(nameOf)).toEqual([nameOf(anchor)]);
  await world.stop();
});
