import { afterEach, describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import type { CronJob, Job } from "../../../../src/control-plane/controllers/workloads/types.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { runAnnotation } from "./test-kubelet.ts";
import { startAt, template, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

let cluster: WorkloadWorld;
afterEach(() => cluster.stop());

function jobSpec(run: string, spec: object = {}) {
  const base = template("work", { annotations: { [runAnnotation]: run } });
  return { template: { ...base, spec: { ...base.spec, restartPolicy: "Never" } }, ...spec };
}

function job(run: string, spec: object = {}) {
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name: "work" }, spec: jobSpec(run, spec) };
}

async function status() {
  return (await cluster.get<Job>(builtInTypes.Job, "work"))?.status;
}

async function conditions() {
  return (await status())?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
}

async function pods() {
  return cluster.list<ApiPod>(builtInTypes.Pod);
}

function active(all: readonly ApiPod[]) {
  return all.filter(
    ({ metadata, status: pod }) =>
      metadata.deletionTimestamp === undefined && pod?.phase !== "Succeeded" && pod?.phase !== "Failed",
  );
}

describe("jobs on the embedded control plane", () => {
  it("05:CP-L5 runs as many pods at a time as it may until enough succeeded", async () => {
    cluster = await workloadWorld();
    await cluster.create(job("10:Succeeded", { completions: 5, parallelism: 2 }));
    await cluster.pass(5);
    expect(await status()).toMatchObject({ active: 2, ready: 2 });
    for (let step = 0; step < 30; step++) {
      await cluster.pass(1);
      expect(active(await pods()).length).toBeLessThanOrEqual(2);
    }
    await cluster.pass(10);
    expect(await conditions()).toEqual([
      "SuccessCriteriaMet=True CompletionsReached",
      "Complete=True CompletionsReached",
    ]);
    const done = await status();
    expect(done).toMatchObject({ succeeded: 5, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    expect(done?.active).toBeUndefined();
    expect(done?.completionTime).toBeDefined();
    expect(await pods()).toHaveLength(5);
    expect((await pods()).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L5 counts a pod once, though it is gone before anybody looked", async () => {
    cluster = await workloadWorld();
    await cluster.create(job("1:Succeeded", { completions: 3 }));
    for (let step = 0; step < 60; step++) {
      await cluster.pass(0.5);
      for (const { metadata, status: pod } of await pods()) {
        if (pod?.phase === "Succeeded") await cluster.delete(builtInTypes.Pod, metadata.name ?? "").catch(() => {});
      }
    }
    expect(await status()).toMatchObject({ succeeded: 3, uncountedTerminatedPods: {} });
    expect(await pods()).toEqual([]);
  });

  it("05:CP-L5 retries with growing pauses and gives up after its limit", async () => {
    cluster = await workloadWorld();
    await cluster.create(job("1:Failed", { backoffLimit: 3 }));
    await cluster.pass(300);
    expect(await conditions()).toEqual(["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"]);
    const tries = (await pods())
      .map(({ metadata }) => (Date.parse(metadata.creationTimestamp ?? "") - startAt) / 1000)
      .sort((a, b) => a - b);
    expect(tries).toHaveLength(4);
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    // Ten seconds, twenty, forty, and the two a try takes.
    expect(pauses).toEqual([12, 22, 42]);
    expect(await status()).toMatchObject({ failed: 4 });
  });

  it("05:CP-L5 ends at its deadline, and deletes what still runs", async () => {
    cluster = await workloadWorld();
    await cluster.create(job("1000:Succeeded", { activeDeadlineSeconds: 30, parallelism: 2, completions: 2 }));
    await cluster.pass(29);
    expect(active(await pods())).toHaveLength(2);
    await cluster.pass(5);
    expect(await conditions()).toEqual(["FailureTarget=True DeadlineExceeded", "Failed=True DeadlineExceeded"]);
    expect(await pods()).toEqual([]);
  });

  it("05:CP-L5 is deleted when its time after the end is over, with its pods", async () => {
    cluster = await workloadWorld();
    await cluster.create(job("1:Succeeded", { ttlSecondsAfterFinished: 60 }));
    await cluster.pass(30);
    expect(await conditions()).toContain("Complete=True CompletionsReached");
    await cluster.pass(40);
    expect(await cluster.get(builtInTypes.Job, "work")).toBeUndefined();
    expect(await pods()).toEqual([]);
  });

  it("05:CP-L5 a suspended job has no pods, and starts when it is resumed", async () => {
    cluster = await workloadWorld();
    await cluster.create(job("5:Succeeded", { suspend: true }));
    await cluster.pass(10);
    expect(await pods()).toEqual([]);
    expect(await conditions()).toEqual(["Suspended=True JobSuspended"]);
    expect((await status())?.startTime).toBeUndefined();
    await cluster.patch(builtInTypes.Job, "work", { spec: { suspend: false } });
    await cluster.pass(3);
    expect(await conditions()).toEqual(["Suspended=False JobResumed"]);
    await cluster.patch(builtInTypes.Job, "work", { spec: { suspend: true } });
    await cluster.pass(5);
    expect(active(await pods())).toEqual([]);
    expect(await conditions()).toEqual(["Suspended=True JobSuspended"]);
    await cluster.patch(builtInTypes.Job, "work", { spec: { suspend: false } });
    await cluster.pass(60);
    expect(await conditions()).toContain("Complete=True CompletionsReached");
  });

  it("05:CP-L5 indexed jobs give every index one success", async () => {
    cluster = await workloadWorld();
    await cluster.create(job("2:Succeeded", { completionMode: "Indexed", completions: 5, parallelism: 3 }));
    await cluster.pass(3);
    const [pod] = await pods();
    expect(pod?.metadata).toMatchObject({
      name: expect.stringMatching(/^work-0-[a-z0-9]{5}$/),
      labels: { "batch.kubernetes.io/job-completion-index": "0" },
      annotations: { "batch.kubernetes.io/job-completion-index": "0" },
    });
    expect(pod?.spec.hostname).toBe("work-0");
    await cluster.pass(30);
    expect(await status()).toMatchObject({ succeeded: 5, completedIndexes: "0-4" });
    expect(await pods()).toHaveLength(5);
  });

  it("05:CP-L5 rules about failures: a disruption is ignored where they say so", async () => {
    cluster = await workloadWorld();
    const podFailurePolicy = {
      rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
    };
    await cluster.create(job("1000:Succeeded", { backoffLimit: 0, podFailurePolicy }));
    await cluster.pass(5);
    const [victim] = await pods();
    const disrupted = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" };
    await cluster.client.patch(
      builtInTypes.Pod,
      { name: victim?.metadata.name ?? "", namespace: "default" },
      { kind: "merge", body: { status: { phase: "Failed", conditions: [disrupted] } } },
      { subresource: "status" },
    );
    await cluster.pass(30);
    expect(await conditions()).toBeUndefined();
    expect((await status())?.failed).toBeUndefined();
    expect(active(await pods())).toHaveLength(1);
  });
});

describe("cron jobs on the embedded control plane", () => {
  function cronJob(run: string, spec: object = {}) {
    return {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "tick" },
      spec: { schedule: "*/5 * * * *", jobTemplate: { spec: jobSpec(run) }, ...spec },
    };
  }

  it("05:CP-L5 makes a job at each of its times and keeps the history it should", async () => {
    cluster = await workloadWorld();
    await cluster.create(cronJob("10:Succeeded"));
    await cluster.pass(60 * 60 + 30);
    const cron = await cluster.get<CronJob>(builtInTypes.CronJob, "tick");
    expect(cron?.status).toEqual({
      lastScheduleTime: "2026-01-01T01:00:00Z",
      lastSuccessfulTime: "2026-01-01T01:00:11Z",
    });
    const names = (await cluster.list(builtInTypes.Job)).map(({ metadata }) => metadata.name);
    expect(names).toEqual([50, 55, 60].map((minute) => `tick-${startAt / 60_000 + minute}`));
    expect(cluster.failures).toEqual([]);
  });

  it.each([
    // Runs of eight minutes every five.
    ["Allow", 2],
    ["Forbid", 1],
    ["Replace", 1],
  ] as const)("05:CP-L5 concurrencyPolicy %s has at most %i at a time", async (concurrencyPolicy, most) => {
    cluster = await workloadWorld();
    await cluster.create(cronJob("480:Succeeded", { concurrencyPolicy }));
    let seen = 0;
    for (let minute = 0; minute < 40; minute++) {
      await cluster.pass(60);
      seen = Math.max(seen, active(await pods()).length);
    }
    expect(seen).toBe(most);
    const ended = (await cluster.list<Job>(builtInTypes.Job)).filter(
      ({ status: one }) => one?.completionTime !== undefined,
    );
    expect(ended.length > 0).toBe(concurrencyPolicy !== "Replace");
  });

  it("05:CP-L5 time zones shift it, suspension stops it, late runs beyond the deadline are missed", async () => {
    cluster = await workloadWorld();
    // Half past six in India is one o'clock in UTC.
    const inIndia = { schedule: "30 6 * * *", timeZone: "Asia/Kolkata" };
    await cluster.create(cronJob("1:Succeeded", inIndia));
    const held = cronJob("1:Succeeded", { ...inIndia, suspend: true, startingDeadlineSeconds: 60 });
    await cluster.create({ ...held, metadata: { name: "held" } });
    const late = cronJob("1:Succeeded", { ...inIndia, suspend: true });
    await cluster.create({ ...late, metadata: { name: "late" } });
    await cluster.pass(3700);
    const scheduled = async () =>
      (await cluster.list(builtInTypes.Job)).map(({ metadata: { ownerReferences, annotations } }) => [
        ownerReferences?.[0]?.name,
        annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"],
      ]);
    expect(await scheduled()).toEqual([["tick", "2026-01-01T01:00:00Z"]]);
    await cluster.patch(builtInTypes.CronJob, "held", { spec: { suspend: false } });
    await cluster.patch(builtInTypes.CronJob, "late", { spec: { suspend: false } });
    await cluster.pass(60);
    expect(await scheduled()).toEqual([
      ["late", "2026-01-01T01:00:00Z"],
      ["tick", "2026-01-01T01:00:00Z"],
    ]);
  });
});
