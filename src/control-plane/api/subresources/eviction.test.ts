import { describe, expect, it } from "vitest";
import { pod, refusal, types } from "../../../../test/contracts/api-objects.ts";
import { type ApiWorld, apiWorld } from "../../../../test/world/api-world.ts";
import type { KubeObject } from "../../../api/object.ts";
import { listAt } from "../../object-fields.ts";

const at = (name: string) => ({ name, namespace: "default" });
const labels = { app: "web" };

async function runningPod({ client }: ApiWorld, name: string, ready = true): Promise<void> {
  await client.create(types.pods, pod(name, { nodeName: "n1" }, { labels }));
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
  const body = { status: { phase: "Running", conditions } };
  await client.patch(types.pods, at(name), { kind: "merge", body }, { subresource: "status" });
}

async function budget({ client }: ApiWorld, name: string, status: object, spec: object = {}): Promise<void> {
  const object = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: at(name) };
  await client.create(types.budgets, {
    ...object,
    spec: { minAvailable: 1, selector: { matchLabels: labels }, ...spec },
  });
  const body = { status: { observedGeneration: 1, ...status } };
  await client.patch(types.budgets, at(name), { kind: "merge", body }, { subresource: "status" });
}

function evict({ client }: ApiWorld, name: string, deleteOptions: object = {}): Promise<KubeObject> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: at(name), deleteOptions };
  return client.create(types.pods, eviction, { subresource: "eviction", name });
}

describe("eviction (05:CP-L6)", () => {
  it("deletes gracefully, with a DisruptionTarget condition", async () => {
    const context = apiWorld();
    await runningPod(context, "p");
    expect(await evict(context, "p")).toMatchObject({ kind: "Status", status: "Success" });
    const terminating = await context.client.get(types.pods, at("p"));
    expect(terminating.metadata.deletionTimestamp).toBe("2026-01-01T00:00:30Z");
    expect(listAt(terminating.status, "conditions").at(-1)).toMatchObject({
      type: "DisruptionTarget",
      reason: "EvictionByEvictionAPI",
    });
  });

  it("decrements the budget before the pod is deleted", async () => {
    const context = apiWorld();
    await runningPod(context, "p");
    await runningPod(context, "q");
    await budget(context, "b", { disruptionsAllowed: 1, desiredHealthy: 1, currentHealthy: 2 });
    await evict(context, "p");
    const { status } = await context.client.get(types.budgets, at("b"));
    expect(status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { p: "2026-01-01T00:00:00Z" } });
    expect((await refusal(evict(context, "q"))).status?.code).toBe(429);
  });

  it("answers 429 with the budget as the cause", async () => {
    const context = apiWorld();
    await runningPod(context, "p");
    await budget(context, "b", { disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy: 1 });
    const { status, retryAfterMs } = await refusal(evict(context, "p"));
    expect(status?.message).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(status?.details?.causes).toEqual([
      { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" },
    ]);
    // As in Kubernetes: with retryAfterSeconds kubectl would wait silently instead of printing the reason.
    expect(retryAfterMs).toBeUndefined();
  });

  it("refuses while the budget has not been processed", async () => {
    const context = apiWorld();
    await runningPod(context, "p");
    await budget(context, "b", { disruptionsAllowed: 5, observedGeneration: 0 });
    const { status, retryAfterMs } = await refusal(evict(context, "p"));
    expect(status?.details?.causes?.[0]?.message).toContain("still being processed");
    expect(retryAfterMs).toBe(10_000);
  });

  it("answers 500 to a pod with two budgets", async () => {
    const context = apiWorld();
    await runningPod(context, "p");
    await budget(context, "b", { disruptionsAllowed: 5 });
    await budget(context, "c", { disruptionsAllowed: 5 });
    expect((await refusal(evict(context, "p"))).status?.code).toBe(500);
  });

  it.each([
    ["AlwaysAllow lets an unready pod go", { unhealthyPodEvictionPolicy: "AlwaysAllow" }, 0, true],
    ["IfHealthyBudget lets an unready pod go while enough others are healthy", {}, 2, true],
    ["IfHealthyBudget keeps an unready pod when too few others are", {}, 0, false],
  ])("%s", async (_, spec, currentHealthy, isAllowed) => {
    const context = apiWorld();
    await runningPod(context, "p", false);
    await budget(context, "b", { disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy }, spec);
    if (isAllowed) await evict(context, "p");
    else expect((await refusal(evict(context, "p"))).code).toBe("too-many-requests");
  });

  it("ignores budgets for pods that do not run", async () => {
    const context = apiWorld();
    await context.client.create(types.pods, pod("p", {}, { labels }));
    await budget(context, "b", { disruptionsAllowed: 0 });
    await evict(context, "p");
    expect((await refusal(context.client.get(types.pods, at("p")))).code).toBe("not-found");
  });

  it("changes nothing on a dry run, and heeds preconditions", async () => {
    const context = apiWorld();
    await runningPod(context, "p");
    await budget(context, "b", { disruptionsAllowed: 1 });
    const before = context.api.revision;
    await evict(context, "p", { dryRun: ["All"] });
    expect((await refusal(evict(context, "p", { preconditions: { uid: "other" } }))).code).toBe("conflict");
    expect(context.api.revision).toBe(before);
  });

  it("05:CP-S3 refuses a body that is not an eviction of this pod", async () => {
    const context = apiWorld();
    await runningPod(context, "p");
    const other = { apiVersion: "policy/v1", kind: "Eviction", metadata: at("q") };
    const create = (body: object) =>
      refusal(context.client.create(types.pods, body as KubeObject, { subresource: "eviction", name: "p" }));
    expect((await create(other)).code).toBe("bad-request");
    expect((await create({ ...other, kind: "Pod" })).code).toBe("bad-request");
    expect((await refusal(evict(context, "nobody"))).code).toBe("not-found");
  });
});
