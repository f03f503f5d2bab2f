import { expect, it } from "vitest";
import { planStatefulSet } from "../../src/control-plane/controllers/workloads/stateful-set/stateful-set-plan.ts";
import { pod, refusal, types } from "../contracts/api-objects.ts";
import { apiWorld } from "../world/api-world.ts";

const key = { name: "p", namespace: "default" };
const absurd = Number.MAX_SAFE_INTEGER;

it("05:CP-S3 a pod with an absurd grace period can be deleted, evicted, and deleted sooner", async () => {
  for (const how of ["delete", "evict"]) {
    const { client, clock } = apiWorld();
    await client.create(types.pods, pod("p", { nodeName: "n", terminationGracePeriodSeconds: absurd }));
    if (how === "delete") await client.delete(types.pods, key);
    else {
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: key };
      await client.create(types.pods, eviction, { subresource: "eviction", name: "p" });
    }
    const { metadata } = await client.get(types.pods, key);
    expect(Date.parse(metadata.deletionTimestamp ?? "")).toBe(clock.now() + (2 ** 31 - 1) * 1_000);
    await client.delete(types.pods, key, { gracePeriodSeconds: 5 });
    const sooner = await client.get(types.pods, key);
    expect(Date.parse(sooner.metadata.deletionTimestamp ?? "")).toBe(clock.now() + 5_000);
    await client.delete(types.pods, key, { gracePeriodSeconds: 0 });
    expect((await refusal(client.get(types.pods, key))).code).toBe("not-found");
  }
});

it("05:CP-S3 a delete request with an absurd grace period is carried out", async () => {
  const { client } = apiWorld();
  await client.create(types.pods, pod("p", { nodeName: "n" }));
  await client.delete(types.pods, key, { gracePeriodSeconds: absurd });
  expect((await client.get(types.pods, key)).metadata.deletionGracePeriodSeconds).toBe(2 ** 31 - 1);
});

it("05:CP-S3 deadlines and counts beyond what Kubernetes allows are refused", async () => {
  const { client } = apiWorld();
  const late = await refusal(client.create(types.pods, pod("p", { activeDeadlineSeconds: 2 ** 31 })));
  expect(late.message).toContain("must be between 1 and 2147483647, inclusive");
  const job = {
    ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name: "j", namespace: "default" } },
    spec: {
      ...{ completionMode: "Indexed", completions: 2_000_000_000, parallelism: 1 },
      template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "main:1" }] } },
    },
  };
  expect((await refusal(client.create(types.jobs, job))).message).toContain("must be less than or equal to 100000");
});

it("05:CP-L3 a StatefulSet with two billion replicas is planned one sync at a time", () => {
  const target = {
    start: 0,
    replicas: 2 ** 31 - 1,
    partition: 0,
    isOrdered: false,
    isRolling: true,
    updateRevision: "r",
  };
  expect(planStatefulSet(target, []).create).toHaveLength(500);
});
