import { describe, expect, it } from "vitest";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { OwnerReference } from "../../api/object.ts";
import { isFiniteWork } from "./finite-work.ts";

const owner = (apiVersion: string, kind: string): OwnerReference => ({
  apiVersion,
  kind,
  name: "o",
  uid: "o",
  controller: true,
});

const pod = (owners: readonly OwnerReference[], restartPolicy?: string): Pod =>
  ({ metadata: { name: "p", ownerReferences: owners }, spec: { containers: [], restartPolicy } }) as unknown as Pod;

describe("work that ends by itself", () => {
  it.each([
    ["a pod of a Job", pod([owner("batch/v1", "Job")], "Never"), true],
    ["a pod of a Job whose policy is not written", pod([owner("batch/v1", "Job")]), true],
    ["a pod of a ReplicaSet", pod([owner("apps/v1", "ReplicaSet")], "Always"), false],
    ["a pod of somebody else's Job", pod([owner("batch.example.com/v1", "Job")], "Always"), false],
    ["a pod of Volcano's Job", pod([owner("batch.volcano.sh/v1alpha1", "Job")], "Always"), true],
    ["a pod of its own that runs once", pod([], "Never"), true],
    ["a pod of its own that is repeated until it succeeds", pod([], "OnFailure"), true],
    ["a pod of its own that is always restarted", pod([], "Always"), false],
    ["a pod of its own without a policy", pod([]), false],
    ["a pod that a Job only mentions", pod([{ ...owner("batch/v1", "Job"), controller: false }]), false],
  ])("%s", (_, one, expected) => {
    expect(isFiniteWork(one)).toBe(expected);
  });
});
