import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { EmptyPool } from "../../core/scheduling/decision.ts";
import type { LoopWorld, Subject } from "../../kube/loop.ts";

type News = Parameters<LoopWorld["tell"]>[1];

const failedSchedulingMs = 5 * 60_000;
const nominatedMs = 2 * 60_000;
const noCompatibleTypesMs = 60_000;

/** 02:L-20. */
export function failedScheduling({ metadata }: Pod, because: string): News {
  return {
    type: "Warning",
    reason: "FailedScheduling",
    message: `Failed to schedule pod, ${because}`,
    dedupe: { values: [metadata.uid ?? ""], forMs: failedSchedulingMs },
  };
}

/** Where a pod is expected to run. */
export interface Target {
  readonly claim?: string | undefined;
  readonly node?: string | undefined;
}

/** 02:L-21. */
export function nominated({ metadata }: Pod, { claim, node }: Target): News {
  const targets = [
    ...(claim === undefined ? [] : [`nodeclaim/${claim}`]),
    ...(node === undefined ? [] : [`node/${node}`]),
  ];
  return {
    type: "Normal",
    reason: "Nominated",
    message: `Pod should schedule on: ${targets.join(", ")}`,
    dedupe: { values: [metadata.uid ?? ""], forMs: nominatedMs },
  };
}

/** 02:L-22, T-6. */
export function noCompatibleTypes({ metadata }: NodePool, { becauseOfMinValues }: EmptyPool): News {
  const because = becauseOfMinValues ? " due to minValues incompatibility" : "";
  return {
    type: "Warning",
    reason: "NoCompatibleInstanceTypes",
    message: `NodePool requirements filtered out all compatible available instance types${because}`,
    dedupe: { values: [metadata.uid ?? ""], forMs: noCompatibleTypesMs },
  };
}

/** Pods in memory do not all carry what kind they are. */
export function subjectOf({ metadata }: Pod): Subject {
  return { apiVersion: "v1", kind: "Pod", metadata };
}
