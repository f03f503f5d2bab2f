import { afterEach, describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import type { PodDisruptionBudgetObject } from "../../../../src/control-plane/controllers/workloads/types.ts";
import { isKubeError } from "../../../../src/kube/kube-error.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { brokenImage } from "./test-kubelet.ts";
import { deployment, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

let cluster: WorkloadWorld;
afterEach(() => cluster.stop());

function budget(name: string, spec: object) {
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name }, spec };
}

async function status(name: string) {
  return (await cluster.get<PodDisruptionBudgetObject>(builtInTypes.PodDisruptionBudget, name))?.status;
}

function counts(found: PodDisruptionBudgetObject["status"]) {
  const { expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed } = found ?? {};
  return { expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed };
}

async function evict(name: string): Promise<"evicted" | "refused"> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } };
  try {
    await cluster.client.create(builtInTypes.Pod, eviction, { subresource: "eviction", name });
    return "evicted";
  } catch (error) {
    if (isKubeError(error, "too-many-requests")) return "refused";
    throw error;
  }
}

async function names(app = "web"): Promise<readonly string[]> {
  return (await cluster.list<ApiPod>(builtInTypes.Pod, `app=${app}`)).map(({ metadata }) => metadata.name ?? "");
}

describe("disruption budgets on the embedded control plane", () => {
  it("05:CP-L6 counts over the scale of the deployment, in numbers and percents", async () => {
    cluster = await workloadWorld();
    const selector = { matchLabels: { app: "web" } };
    await cluster.create(deployment("web", { replicas: 7 }));
    await cluster.create(budget("min", { selector, minAvailable: 5 }));
    await cluster.create(budget("min-percent", { selector, minAvailable: "50%" }));
    await cluster.create(budget("max", { selector, maxUnavailable: 2 }));
    await cluster.create(budget("max-percent", { selector, maxUnavailable: "30%" }));
    await cluster.create(budget("none", { selector: { matchLabels: { app: "nobody" } }, maxUnavailable: 1 }));
    await cluster.pass(5);
    const healthy = { expectedPods: 7, currentHealthy: 7 };
    expect(counts(await status("min"))).toEqual({ ...healthy, desiredHealthy: 5, disruptionsAllowed: 2 });
    expect(counts(await status("min-percent"))).toEqual({ ...healthy, desiredHealthy: 4, disruptionsAllowed: 3 });
    expect(counts(await status("max"))).toEqual({ ...healthy, desiredHealthy: 5, disruptionsAllowed: 2 });
    expect(counts(await status("max-percent"))).toEqual({ ...healthy, desiredHealthy: 4, disruptionsAllowed: 3 });
    expect(counts(await status("none"))).toEqual({
      expectedPods: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      disruptionsAllowed: 0,
    });
    expect((await status("min"))?.conditions).toMatchObject([
      { type: "DisruptionAllowed", status: "True", reason: "SufficientPods", observedGeneration: 1 },
    ]);
    await cluster.patch(builtInTypes.Deployment, "web", { spec: { replicas: 4 } });
    await cluster.pass(10);
    expect(counts(await status("max"))).toEqual({
      expectedPods: 4,
      currentHealthy: 4,
      desiredHealthy: 2,
      disruptionsAllowed: 2,
    });
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L6 evictions spend the budget at once and get it back when pods are", async () => {
    cluster = await workloadWorld({ readyAfterMs: 10_000 });
    await cluster.create(deployment("web", { replicas: 3 }));
    await cluster.create(budget("web", { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 }));
    await cluster.pass(15);
    const [first = "", second = ""] = await names();
    expect(await evict(first)).toBe("evicted");
    expect(await evict(second)).toBe("refused");
    await cluster.pass(5);
    expect(await evict(second)).toBe("refused");
    await cluster.pass(15);
    expect(counts(await status("web"))).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
    expect((await status("web"))?.disruptedPods).toBeUndefined();
    expect(await evict(second)).toBe("evicted");
  });

  it("05:CP-L6 an eviction nothing came of is forgotten after two minutes", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web", { replicas: 3 }));
    await cluster.create(budget("web", { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 }));
    await cluster.pass(5);
    const [first = ""] = await names();
    const key = { name: "web", namespace: "default" };
    const disruptedPods = { [first]: new Date(cluster.clock.now()).toISOString().replace(/\.\d+Z/, "Z") };
    const body = { status: { disruptedPods, disruptionsAllowed: 0 } };
    await cluster.client.patch(
      builtInTypes.PodDisruptionBudget,
      key,
      { kind: "merge", body },
      { subresource: "status" },
    );
    await cluster.pass(100);
    expect(counts(await status("web"))).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 0 });
    await cluster.pass(30);
    expect(counts(await status("web"))).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
  });

  it("05:CP-L6 pods whose controller has no scale leave no room", async () => {
    cluster = await workloadWorld();
    const job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "web" },
      spec: {
        template: {
          metadata: { labels: { app: "web" } },
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "app:1" }] },
        },
      },
    };
    await cluster.create(job);
    await cluster.create(budget("web", { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 }));
    await cluster.pass(5);
    const found = await status("web");
    expect(found?.disruptionsAllowed).toBe(0);
    expect(found?.conditions).toMatchObject([{ type: "DisruptionAllowed", status: "False", reason: "SyncFailed" }]);
  });

  it("05:CP-L6 pods that are not ready go only where the others suffice or the policy says so", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web", { replicas: 2 }, brokenImage));
    const selector = { matchLabels: { app: "web" } };
    await cluster.create(budget("web", { selector, minAvailable: 1 }));
    await cluster.pass(5);
    const [first = ""] = await names();
    expect(await evict(first)).toBe("refused");
    await cluster.patch(builtInTypes.PodDisruptionBudget, "web", {
      spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" },
    });
    await cluster.pass(1);
    expect(await evict(first)).toBe("evicted");
  });

  it("05:CP-L6 a budget that wants no healthy pod lets all healthy ones go, and does not vouch for the others", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web", { replicas: 2 }));
    await cluster.create(deployment("broken", { replicas: 2 }, brokenImage));
    await cluster.create(budget("web", { selector: { matchLabels: { app: "web" } }, minAvailable: 0 }));
    await cluster.create(budget("broken", { selector: { matchLabels: { app: "broken" } }, maxUnavailable: "100%" }));
    await cluster.pass(5);
    const wanted = { expectedPods: 2, desiredHealthy: 0 };
    expect(counts(await status("web"))).toEqual({ ...wanted, currentHealthy: 2, disruptionsAllowed: 2 });
    expect(counts(await status("broken"))).toEqual({ ...wanted, currentHealthy: 0, disruptionsAllowed: 0 });
    for (const name of await names()) expect(await evict(name)).toBe("evicted");
    const [unready = ""] = await names("broken");
    expect(await evict(unready)).toBe("refused"); // none of none are healthy: that says nothing of the others
  });
});
