import { afterEach, describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import { controllerReferenceOf } from "../../../../src/control-plane/controllers/workloads/ownership.ts";
import type { ReplicaSet } from "../../../../src/control-plane/controllers/workloads/types.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { template, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

let cluster: WorkloadWorld;
afterEach(() => cluster.stop());

function replicaSet(name: string, replicas: number) {
  const selector = { matchLabels: { app: name } };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name },
    spec: { replicas, selector, template: template(name) },
  };
}

function loosePod(name: string, app: string) {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, labels: { app } }, spec: template(app).spec };
}

describe("replica sets on the embedded control plane", () => {
  it("05:CP-L2 adopts pods it selects, lets go of those it no longer does, and makes up the difference", async () => {
    cluster = await workloadWorld();
    await cluster.create(loosePod("stray", "web"));
    await cluster.create(loosePod("other", "db"));
    await cluster.create(replicaSet("web", 3));
    await cluster.pass(5);
    const pods = await cluster.list<ApiPod>(builtInTypes.Pod, "app=web");
    expect(pods).toHaveLength(3);
    expect(pods.map((pod) => controllerReferenceOf(pod)?.name)).toEqual(["web", "web", "web"]);
    expect(pods.map(({ metadata }) => metadata.name)).toContain("stray");
    expect(controllerReferenceOf((await cluster.get(builtInTypes.Pod, "other")) as ApiPod)).toBeUndefined();

    await cluster.patch(builtInTypes.Pod, "stray", { metadata: { labels: { app: "debug" } } });
    await cluster.pass(5);
    const released = await cluster.get<ApiPod>(builtInTypes.Pod, "stray");
    expect(released?.metadata.ownerReferences ?? []).toEqual([]);
    expect(await cluster.list(builtInTypes.Pod, "app=web")).toHaveLength(3);
    expect((await cluster.get<ReplicaSet>(builtInTypes.ReplicaSet, "web"))?.status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L2 replaces pods that failed or were deleted, and takes the cheapest when it shrinks", async () => {
    cluster = await workloadWorld();
    await cluster.create(replicaSet("web", 4));
    await cluster.pass(5);
    const [first, second, third, fourth] = await cluster.list<ApiPod>(builtInTypes.Pod);
    await cluster.delete(builtInTypes.Pod, first?.metadata.name ?? "");
    await cluster.client.patch(
      builtInTypes.Pod,
      { name: second?.metadata.name ?? "", namespace: "default" },
      { kind: "merge", body: { status: { phase: "Failed" } } },
      { subresource: "status" },
    );
    await cluster.pass(10);
    const active = (await cluster.list<ApiPod>(builtInTypes.Pod)).filter(({ status }) => status?.phase === "Running");
    expect(active).toHaveLength(4);

    const cost = (value: string) => ({
      metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": value } },
    });
    await cluster.patch(builtInTypes.Pod, third?.metadata.name ?? "", cost("100"));
    await cluster.patch(builtInTypes.Pod, fourth?.metadata.name ?? "", cost("50"));
    await cluster.patch(builtInTypes.ReplicaSet, "web", { spec: { replicas: 1 } });
    await cluster.pass(10);
    const left = (await cluster.list<ApiPod>(builtInTypes.Pod)).filter(({ status }) => status?.phase === "Running");
    expect(left.map(({ metadata }) => metadata.name)).toEqual([third?.metadata.name]);
  });

  it("05:CP-L2 says why it cannot make pods, and goes on when it can", async () => {
    cluster = await workloadWorld();
    const impossible = replicaSet("web", 2);
    await cluster.create({
      ...impossible,
      spec: {
        ...impossible.spec,
        template: {
          ...impossible.spec.template,
          spec: { ...impossible.spec.template.spec, priorityClassName: "none" },
        },
      },
    });
    await cluster.pass(5);
    const stuck = await cluster.get<ReplicaSet>(builtInTypes.ReplicaSet, "web");
    expect(stuck?.status?.conditions).toMatchObject([
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate" },
    ]);
    await cluster.create({
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "none" },
      value: 1,
    });
    await cluster.pass(400);
    const healed = await cluster.get<ReplicaSet>(builtInTypes.ReplicaSet, "web");
    expect(healed?.status).toMatchObject({ replicas: 2, readyReplicas: 2 });
    expect(healed?.status?.conditions).toBeUndefined();
  });
});
