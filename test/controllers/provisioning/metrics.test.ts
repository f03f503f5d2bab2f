import { expect, it } from "vitest";
import { instanceType } from "../../builders/instance-type.ts";
import { pod } from "../../builders/pod.ts";
import { provisioningWorld } from "./provisioning-world.ts";

const controller = "provisioner";

it("03 §6.1 a round reports how long it took, who is left, and where pods can go", async () => {
  const { provision, metrics } = await provisioningWorld();

  await provision(
    pod().named("a").on("zone", "a"),
    pod().named("b").on("zone", "a"),
    pod().named("any"),
    pod().named("huge").cpu("1000"),
  );

  expect(metrics.observed("scheduler_scheduling_duration_seconds")).toEqual([0]);
  expect(metrics.value("scheduler_unschedulable_pods_count", { controller })).toBe(1);
  expect(metrics.value("scheduler_ignored_pods_count")).toBe(0);
  expect(metrics.series("scheduler_pending_pods_by_effective_zone_count")).toEqual({
    "controller=provisioner,zone=a": 2,
    "controller=provisioner,zone=flexible": 2,
  });
  expect(Object.keys(metrics.series("scheduler_queue_depth"))).toHaveLength(1);
  expect(metrics.series("scheduler_unfinished_work_seconds")).toEqual({});
});

it("02:S-45 the first decision on a pod is measured from when it was first seen, and only once", async () => {
  const { provision, launchAll, pass, metrics } = await provisioningWorld({ types: [instanceType("m").cpu(4)] });
  await provision(pod().named("fits").cpu("1"), pod().named("huge").cpu("100"));
  await launchAll();
  await pass(30);

  expect(metrics.observed("pods_scheduling_decision_duration_seconds")).toEqual([1, 1]);
  expect(metrics.observed("scheduler_scheduling_duration_seconds").length).toBeGreaterThan(2);
});

it("02:S-45 the place of a pod is forgotten when a later round finds none", async () => {
  const { provision, claims, podsOf, client, pass } = await provisioningWorld({ types: [instanceType("m").cpu(4)] });
  await provision(pod().named("web").cpu("1"));
  expect(podsOf("web").schedulable).toBeDefined();

  // The machine never came, and the pool is not ready any more.
  const [claim] = await claims();
  const pools = { group: "karpenter.sh", version: "v1", kind: "NodePool", plural: "nodepools", namespaced: false };
  const nodeClaims = { ...pools, kind: "NodeClaim", plural: "nodeclaims" };
  await client.delete(nodeClaims, { name: claim?.metadata.name ?? "" });
  const conditions = { status: { conditions: [] } };
  await client.patch(pools, { name: "default" }, { kind: "merge", body: conditions }, { subresource: "status" });
  await pass(11);

  expect(podsOf("web").schedulable).toBeUndefined();
});

it("02 §6.3 pods that go to nodes on their way up are counted in the log, next to new ones", async () => {
  const { provision, launchAll, pend, pass, logged } = await provisioningWorld({ types: [instanceType("m").cpu(4)] });
  await provision(pod().named("first").cpu("3"));
  await launchAll();
  await pend(pod().named("second").cpu("3"));
  await pass(11);

  expect(logged("computed unready node(s) will fit pod(s)")).toMatchObject([{ level: "info", nodes: 1, pods: 1 }]);
});
