import { afterEach, describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import type { Deployment, ReplicaSet } from "../../../../src/control-plane/controllers/workloads/types.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { brokenImage } from "./test-kubelet.ts";
import { deployment, newImage, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

let cluster: WorkloadWorld;
afterEach(() => cluster.stop());

async function status(name: string) {
  return (await cluster.get<Deployment>(builtInTypes.Deployment, name))?.status;
}

async function sizes(app: string): Promise<readonly (readonly [string, number])[]> {
  const sets = await cluster.list<ReplicaSet>(builtInTypes.ReplicaSet, `app=${app}`);
  const byRevision = [...sets].sort((a, b) => Number(revision(a)) - Number(revision(b)));
  return byRevision.map((set) => [revision(set), set.spec.replicas ?? 0]);
}

function revision({ metadata }: ReplicaSet): string {
  return metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "";
}

function conditions(found: Deployment["status"]) {
  return found?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
}

describe("deployments on the embedded control plane", () => {
  it("05:CP-L1 a new deployment gets a replica set and pods, and says so", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web"));
    await cluster.pass(5);

    const found = await status("web");
    expect(found).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    });
    expect(conditions(found)).toEqual([
      "Available=True MinimumReplicasAvailable",
      "Progressing=True NewReplicaSetAvailable",
    ]);
    const [set] = await cluster.list<ReplicaSet>(builtInTypes.ReplicaSet);
    const hash = set?.metadata.labels?.["pod-template-hash"] ?? "";
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{8,10}$/);
    expect(set?.metadata.name).toBe(`web-${hash}`);
    expect(set?.metadata.annotations).toEqual({
      "deployment.kubernetes.io/revision": "1",
      "deployment.kubernetes.io/desired-replicas": "3",
      "deployment.kubernetes.io/max-replicas": "4",
    });
    const pods = await cluster.list<ApiPod>(builtInTypes.Pod);
    expect(pods).toHaveLength(3);
    for (const pod of pods) {
      expect(pod.metadata.name).toMatch(new RegExp(`^web-${hash}-[a-z0-9]{5}$`));
      expect(pod.metadata.labels).toEqual({ app: "web", "pod-template-hash": hash });
      expect(pod.metadata.ownerReferences).toEqual([
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: set?.metadata.name,
          uid: set?.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L1 a rollout never has too many pods nor too few that are available", async () => {
    cluster = await workloadWorld();
    await cluster.create(
      deployment("web", { replicas: 10, strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } } }),
    );
    await cluster.pass(10);
    await cluster.patch(builtInTypes.Deployment, "web", newImage("app:2"));
    const seen: string[] = [];
    for (let step = 0; step < 200; step++) {
      await cluster.pass(0.1);
      const now = await sizes("web");
      const text = now.map(([, size]) => size).join("+");
      if (seen.at(-1) !== text) seen.push(text);
      expect(now.reduce((sum, [, size]) => sum + size, 0)).toBeLessThanOrEqual(13);
      const pods = await cluster.list<ApiPod>(builtInTypes.Pod);
      const available = pods.filter(
        ({ metadata, status: pod }) =>
          metadata.deletionTimestamp === undefined &&
          pod?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
      );
      expect(available.length).toBeGreaterThanOrEqual(8);
    }
    expect(seen[0]).toBe("8+5");
    expect(seen.at(-1)).toBe("0+10");
    expect(conditions(await status("web"))).toEqual([
      "Available=True MinimumReplicasAvailable",
      "Progressing=True NewReplicaSetAvailable",
    ]);
    expect((await status("web"))?.unavailableReplicas).toBeUndefined();
  });

  it("05:CP-L1 undoing a rollout brings the old set back under a new revision", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web"));
    await cluster.pass(5);
    await cluster.patch(builtInTypes.Deployment, "web", newImage("app:2"));
    await cluster.pass(20);
    expect(await sizes("web")).toEqual([
      ["1", 0],
      ["2", 3],
    ]);
    await cluster.patch(builtInTypes.Deployment, "web", newImage("app:1"));
    await cluster.pass(20);
    expect(await sizes("web")).toEqual([
      ["2", 0],
      ["3", 3],
    ]);
    const sets = await cluster.list<ReplicaSet>(builtInTypes.ReplicaSet);
    const restored = sets.find((set) => revision(set) === "3");
    expect(restored?.metadata.annotations?.["deployment.kubernetes.io/revision-history"]).toBe("1");
    const found = await cluster.get<Deployment>(builtInTypes.Deployment, "web");
    expect(found?.metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
  });

  it("05:CP-L1 keeps as many old revisions as it is told", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web", { replicas: 1, revisionHistoryLimit: 2 }));
    for (let version = 2; version <= 6; version++) {
      await cluster.pass(10);
      await cluster.patch(builtInTypes.Deployment, "web", newImage(`app:${version}`));
    }
    await cluster.pass(20);
    expect(await sizes("web")).toEqual([
      ["4", 0],
      ["5", 0],
      ["6", 1],
    ]);
  });

  it("05:CP-L1 recreate stops every old pod before the first new one", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web", { strategy: { type: "Recreate" } }));
    await cluster.pass(5);
    await cluster.patch(builtInTypes.Deployment, "web", newImage("app:2"));
    for (let step = 0; step < 60; step++) {
      await cluster.pass(0.1);
      const pods = await cluster.list<ApiPod>(builtInTypes.Pod);
      expect(new Set(pods.map(({ spec }) => spec.containers?.[0]?.image)).size).toBeLessThanOrEqual(1);
    }
    expect(await sizes("web")).toEqual([
      ["1", 0],
      ["2", 3],
    ]);
    const pods = await cluster.list<ApiPod>(builtInTypes.Pod);
    expect(pods.map(({ spec }) => spec.containers?.[0]?.image)).toEqual(["app:2", "app:2", "app:2"]);
  });

  it("05:CP-L1 a rollout that does not get on exceeds its deadline, and says when", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web", { progressDeadlineSeconds: 60 }));
    await cluster.pass(5);
    await cluster.patch(builtInTypes.Deployment, "web", newImage(brokenImage));
    await cluster.pass(55);
    expect(conditions(await status("web"))).toEqual([
      "Available=True MinimumReplicasAvailable",
      "Progressing=True ReplicaSetUpdated",
    ]);
    await cluster.pass(15);
    expect(conditions(await status("web"))).toEqual([
      "Available=True MinimumReplicasAvailable",
      "Progressing=False ProgressDeadlineExceeded",
    ]);
    // One may surge, none may be missing: the old pods stay.
    expect(await sizes("web")).toEqual([
      ["1", 3],
      ["2", 1],
    ]);
    await cluster.patch(builtInTypes.Deployment, "web", newImage("app:3"));
    await cluster.pass(20);
    expect(conditions(await status("web"))).toEqual([
      "Available=True MinimumReplicasAvailable",
      "Progressing=True NewReplicaSetAvailable",
    ]);
  });

  it("05:CP-L1 a pause holds a rollout, not scaling; scaling in the middle is proportional", async () => {
    cluster = await workloadWorld({ readyAfterMs: 1_000_000 });
    await cluster.create(
      deployment("web", { replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
    );
    await cluster.pass(1010);
    await cluster.patch(builtInTypes.Deployment, "web", newImage("app:2"));
    await cluster.pass(10);
    expect(await sizes("web")).toEqual([
      ["1", 8],
      ["2", 5],
    ]);
    await cluster.patch(builtInTypes.Deployment, "web", { spec: { paused: true } });
    await cluster.pass(1);
    expect(conditions(await status("web"))?.at(-1)).toBe("Progressing=Unknown DeploymentPaused");
    await cluster.patch(builtInTypes.Deployment, "web", { spec: { replicas: 15 } });
    await cluster.pass(1);
    // The example of the Kubernetes documentation: 5 more, 3 for the old set and 2 for the new one.
    expect(await sizes("web")).toEqual([
      ["1", 11],
      ["2", 7],
    ]);
    await cluster.patch(builtInTypes.Deployment, "web", { spec: { paused: false } });
    await cluster.pass(1);
    expect(conditions(await status("web"))?.at(-1)).toBe("Progressing=Unknown DeploymentResumed");
  });

  it("05:CP-L1 minReadySeconds holds pods back from being available", async () => {
    cluster = await workloadWorld();
    await cluster.create(deployment("web", { minReadySeconds: 30 }));
    await cluster.pass(10);
    expect(await status("web")).toMatchObject({ readyReplicas: 3, unavailableReplicas: 3 });
    await cluster.pass(25);
    expect(await status("web")).toMatchObject({ readyReplicas: 3, availableReplicas: 3 });
  });
});
