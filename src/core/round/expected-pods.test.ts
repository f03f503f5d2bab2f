import { expect, it } from "vitest";
import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import { isBufferPod, isVirtualPod } from "../virtual-pods.ts";
import { canBeExpected, expectedPods, expectedReplicaSetOf, replicaSetOf } from "./expected-pods.ts";

function pod(spec: PodSpec = {}): Pod {
  return { metadata: { name: "web-1", namespace: "shop", uid: "1", labels: { app: "web" } }, spec };
}

it("02:P-35 expected pods are like one that exists, and are not bound", () => {
  const containers = [{ name: "main" }];
  const pods = expectedPods([{ uid: "set", example: pod({ nodeName: "node", containers }), missing: 2 }]);

  expect(pods.map(({ metadata }) => metadata.name)).toEqual(["expected-set-1", "expected-set-2"]);
  for (const { metadata, spec } of pods) {
    expect(metadata).toMatchObject({ namespace: "shop", labels: { app: "web" } });
    expect(spec).toEqual({ containers });
  }
  expect(pods.map(expectedReplicaSetOf)).toEqual(["set", "set"]);
  expect(pods.every((one) => isVirtualPod(one) && !isBufferPod(one))).toBe(true);
});

it("02:P-35 a mistyped number of replicas expects 5,000 pods at most, of all ReplicaSets together", () => {
  const sets = ["a", "b"].map((uid) => ({ uid, example: pod(), missing: 4_000_000 }));
  expect(expectedPods(sets)).toHaveLength(5_000);
  expect(expectedPods([{ uid: "a", example: pod(), missing: -3 }])).toEqual([]);
});

it.each<[string, PodSpec]>([
  [
    "spread over domains",
    { topologySpreadConstraints: [{ topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }] },
  ],
  ["near others", { affinity: { podAffinity: {} } }],
  ["away from others", { affinity: { podAntiAffinity: {} } }],
  ["with volumes of their own", { volumes: [{ name: "scratch", ephemeral: {} }] }],
  ["with devices of their own", { resourceClaims: [{ name: "gpu" }] }],
])("02:P-35 pods %s are not expected", (_, spec) => {
  expect(canBeExpected(pod(spec))).toBe(false);
});

it("02:P-35 others are", () => {
  const affinity = { nodeAffinity: {} };
  expect(canBeExpected(pod({ affinity, volumes: [{ name: "config" }] }))).toBe(true);
});

it("02:P-35 only a ReplicaSet that controls the pod counts", () => {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "set", controller: true };
  const owned = (change: object): Pod => ({ ...pod(), metadata: { ownerReferences: [{ ...owner, ...change }] } });
  expect(replicaSetOf(owned({}))?.uid).toBe("set");
  expect(replicaSetOf(owned({ controller: false }))).toBeUndefined();
  expect(replicaSetOf(owned({ kind: "Job", apiVersion: "batch/v1" }))).toBeUndefined();
  expect(replicaSetOf(owned({ apiVersion: "example.com/v1" }))).toBeUndefined();
  expect(replicaSetOf(pod())).toBeUndefined();
});
