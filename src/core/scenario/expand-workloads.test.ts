import { describe, expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject, ObjectMeta } from "../../api/object.ts";
import { expandWorkloads } from "./expand-workloads.ts";

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app" }] } };

function workload(kind: string, spec: Readonly<Record<string, unknown>> = {}, metadata: ObjectMeta = {}): KubeObject {
  const group = kind === "Job" || kind === "CronJob" ? "batch" : "apps";
  return { apiVersion: `${group}/v1`, kind, metadata: { name: "web", ...metadata }, spec: { template, ...spec } };
}

function names(...objects: readonly KubeObject[]): readonly string[] {
  return expandWorkloads(objects).objects.map(({ object }) => `${object.kind} ${object.metadata.name}`);
}

const ownedBy = (kind: string, name = "web") => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: name, controller: true }],
});

const replicaSet = (name: string, owner: string, ownerKind = "ReplicaSet") =>
  workload(
    "ReplicaSet",
    { replicas: 2 },
    { name, ownerReferences: [{ apiVersion: "apps/v1", kind: ownerKind, name: owner, uid: owner, controller: true }] },
  );

describe("workloads that cannot be expanded", () => {
  it("are those of more pods and volume claims than fit, in total", () => {
    const half = (name: string) => workload("Deployment", { replicas: 100_000 }, { name });
    const { problems, objects } = expandWorkloads([half("a"), half("b"), workload("Job", { parallelism: 1 })]);
    expect(problems).toMatchObject([{ sourceIndex: 2, problem: { code: "too-large", path: ["spec", "parallelism"] } }]);
    expect(objects).toEqual([]);
    const claim = { metadata: { name: "data" }, spec: {} };
    const set = workload("StatefulSet", { replicas: 100_000, volumeClaimTemplates: [claim, claim] });
    expect(expandWorkloads([set])).toMatchObject({
      objects: [],
      problems: [{ problem: { code: "too-large", path: ["spec", "replicas"] } }],
    });
  });

  it("are those that own themselves, directly or through others", () => {
    const problemsOf = (...objects: readonly KubeObject[]) =>
      expandWorkloads(objects).problems.map(({ sourceIndex, problem }) => [sourceIndex, problem.code, problem.path]);
    const path = ["metadata", "ownerReferences"];
    expect(problemsOf(replicaSet("a", "a"))).toEqual([[0, "invalid-value", path]]);
    expect(problemsOf(replicaSet("a", "b"), replicaSet("b", "a"), replicaSet("c", "a"))).toEqual([
      [0, "invalid-value", path],
      [1, "invalid-value", path],
    ]);
    expect(problemsOf(replicaSet("a", "web", "Deployment"), workload("Deployment", {}, { name: "web" }))).toEqual([]);
  });
});

describe("expanding workloads", () => {
  it.each([
    ["a Deployment", workload("Deployment", { replicas: 2 }), ["Pod web-0", "Pod web-1"]],
    ["without replicas there is one", workload("ReplicaSet"), ["Pod web-0"]],
    ["none when scaled down", workload("StatefulSet", { replicas: 0 }), []],
    ["a StatefulSet that counts from five", workload("StatefulSet", { ordinals: { start: 5 } }), ["Pod web-5"]],
    [
      "as many of a Job as run at once",
      workload("Job", { parallelism: 3, completions: 2 }),
      ["Pod web-0", "Pod web-1"],
    ],
    ["none of a suspended Job", workload("Job", { suspend: true }), []],
    ["one run of a CronJob", { ...workload("CronJob"), spec: { jobTemplate: { spec: { template } } } }, ["Pod web-0"]],
    [
      "none of a suspended CronJob",
      { ...workload("CronJob"), spec: { suspend: true, jobTemplate: { spec: { template } } } },
      [],
    ],
    [
      "none of a Job that is over",
      { ...workload("Job"), status: { conditions: [{ type: "Complete", status: "True" }] } },
      [],
    ],
    ["a DaemonSet stays what it is", workload("DaemonSet"), ["DaemonSet web"]],
  ])("%s", (_, object, expected) => {
    expect(names(object)).toEqual(expected);
  });

  it("makes pods that belong to their workload, with shared parts shared", () => {
    const { objects, workloads } = expandWorkloads([workload("Deployment", { replicas: 2 }, { namespace: "shop" })]);
    const [first, second] = objects.map(({ object }) => object as unknown as Pod);
    expect(first?.metadata).toEqual({
      name: "web-0",
      namespace: "shop",
      labels: { app: "web" },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "web", controller: true }],
    });
    expect(first?.spec).toBe(second?.spec);
    expect(objects.map(({ sourceIndex }) => sourceIndex)).toEqual([0, 0]);
    expect(workloads.map(({ kind }) => kind)).toEqual(["Deployment"]);
  });

  it("leaves a Deployment alone whose ReplicaSet is there, and that one if its pods are", () => {
    const set = workload("ReplicaSet", {}, { name: "web-1", ...ownedBy("Deployment") });
    const pod: KubeObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web-1-x", ...ownedBy("ReplicaSet", "web-1") },
    };
    expect(names(workload("Deployment"), set)).toEqual(["Deployment web", "Pod web-1-0"]);
    expect(names(workload("Deployment"), set, pod)).toEqual(["Deployment web", "ReplicaSet web-1", "Pod web-1-x"]);
    const elsewhere = { ...pod, metadata: { ...pod.metadata, namespace: "other" } };
    expect(names(set, elsewhere)).toEqual(["Pod web-1-0", "Pod web-1-x"]);
  });

  it("makes the claims of a StatefulSet, unless they are given", () => {
    const set = workload("StatefulSet", {
      replicas: 2,
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { storageClassName: "fast" } }],
    });
    const given: KubeObject = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data-web-1" } };
    const { objects } = expandWorkloads([set, given]);
    expect(names(set, given)).toEqual([
      "PersistentVolumeClaim data-web-0",
      "Pod web-0",
      "Pod web-1",
      "PersistentVolumeClaim data-web-1",
    ]);
    const pods = objects.map(({ object }) => object).filter(({ kind }) => kind === "Pod") as unknown as readonly Pod[];
    expect(pods.map(({ spec }) => spec.volumes)).toEqual([
      [{ name: "data", persistentVolumeClaim: { claimName: "data-web-0" } }],
      [{ name: "data", persistentVolumeClaim: { claimName: "data-web-1" } }],
    ]);
  });
});
