import { describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import type {
  Deployment,
  Job,
  ReplicaSet,
  StatefulSet,
} from "../../../../src/control-plane/controllers/workloads/types.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { Random } from "../../../../src/util/random.ts";
import { runs } from "../../../runs.ts";
import { flakyClient } from "./flaky-client.ts";
import { runAnnotation } from "./test-kubelet.ts";
import { deployment, newImage, template, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const work = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work" },
  spec: {
    completions: 4,
    parallelism: 2,
    backoffLimit: 100,
    template: {
      ...template("work", { annotations: { [runAnnotation]: "7:Succeeded" } }),
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "app:1" }] },
    },
  },
};

const db = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: { replicas: 3, serviceName: "db", selector: { matchLabels: { app: "db" } }, template: template("db") },
};

const agent = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: { selector: { matchLabels: { app: "agent" } }, template: template("agent") },
};

/** Everything at once, with changes in the middle. */
async function scenario(
  cluster: WorkloadWorld,
  { random, crashes }: { random: Random; crashes: number },
): Promise<void> {
  await cluster.create(deployment("web", { replicas: 6 }));
  await cluster.create(work);
  await cluster.create(db);
  await cluster.create(agent);
  // A Deployment that changes before its first ReplicaSet exists never has the old one.
  for (let second = 0; second < 60 && (await cluster.list(builtInTypes.ReplicaSet)).length === 0; second++) {
    await cluster.pass(1);
  }
  const changes = [
    () => cluster.patch(builtInTypes.Deployment, "web", newImage("app:2")),
    () => cluster.patch(builtInTypes.StatefulSet, "db", newImage("app:2")),
    () => cluster.patch(builtInTypes.DaemonSet, "agent", newImage("app:2")),
    () => cluster.patch(builtInTypes.Deployment, "web", { spec: { replicas: 4 } }),
    () => cluster.create(deployment("gone", { replicas: 2 })),
    () => cluster.delete(builtInTypes.Deployment, "gone", random.pick(["Background", "Foreground"])),
  ];
  for (const change of changes) {
    await cluster.pass(random.int(8_000) / 1_000);
    await change();
    if (random.int(changes.length) < crashes) cluster.crash();
  }
}

async function images(cluster: WorkloadWorld): Promise<Readonly<Record<string, readonly (string | undefined)[]>>> {
  const found: Record<string, (string | undefined)[]> = {};
  for (const { metadata, spec } of await cluster.list<ApiPod>(builtInTypes.Pod)) {
    const app = metadata.labels?.["app"] ?? "";
    found[app] = [...(found[app] ?? []), spec.containers?.[0]?.image];
  }
  return found;
}

describe("the workload loops", () => {
  it("05:CP-T4 get there on a bad network, with crashes in between", async () => {
    for (let seed = 0; seed < runs(400) / 10; seed++) {
      const random = new Random(`robust-${seed}`);
      const cluster = await workloadWorld({
        seed: `robust-${seed}`,
        wrapClient: (client, world) => flakyClient(client, { ...world, oneIn: 12 }),
      });
      try {
        await scenario(cluster, { random, crashes: 2 });
        await cluster.pass(600);
        const two = "app:2";
        expect(await images(cluster), `seed ${seed}`).toEqual({
          web: [two, two, two, two],
          db: [two, two, two],
          agent: [two, two, two],
          work: expect.arrayContaining(["app:1"]),
        });
        const web = await cluster.get<Deployment>(builtInTypes.Deployment, "web");
        expect(web?.status, `seed ${seed}`).toMatchObject({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
        const sets = await cluster.list<ReplicaSet>(builtInTypes.ReplicaSet);
        expect(sets.map(({ spec }) => spec.replicas).sort(), `seed ${seed}`).toEqual([0, 4]);
        const job = await cluster.get<Job>(builtInTypes.Job, "work");
        expect(job?.status, `seed ${seed}`).toMatchObject({ succeeded: 4, uncountedTerminatedPods: {} });
        const set = await cluster.get<StatefulSet>(builtInTypes.StatefulSet, "db");
        expect(set?.status?.currentRevision, `seed ${seed}`).toBe(set?.status?.updateRevision);
      } finally {
        await cluster.stop();
      }
    }
  }, 300_000);

  it("05:CP-T3 the same seed gives the same writes, another seed others", async () => {
    const journalOf = async (seed: string) => {
      const cluster = await workloadWorld({
        seed,
        wrapClient: (client, world) => flakyClient(client, { ...world, oneIn: 20 }),
      });
      await scenario(cluster, { random: new Random(seed), crashes: 1 });
      await cluster.pass(60);
      await cluster.stop();
      return cluster.journal;
    };
    const first = await journalOf("one");
    expect(first.length).toBeGreaterThan(300);
    expect(await journalOf("one")).toEqual(first);
    expect(await journalOf("two")).not.toEqual(first);
  }, 30_000);

  it("05 §6 leave a world that is right alone: nothing is written while nothing changes", async () => {
    const cluster = await workloadWorld();
    await scenario(cluster, { random: new Random("quiet"), crashes: 0 });
    await cluster.pass(120);
    const before = cluster.journal.length;
    cluster.crash();
    await cluster.pass(600);
    await cluster.stop();
    expect(cluster.journal.slice(before)).toEqual([]);
    const ordinary = cluster.failures.filter(({ kind }) => kind !== "informer-failed");
    expect(ordinary).toEqual([]);
  });
});
