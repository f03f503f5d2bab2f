import type { Pod, Toleration } from "../../../api/kubernetes/pod.ts";
import type { Taint } from "../../../api/labels.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { formatTaint } from "../../tolerations.ts";
import { addOperation, removeOperation } from "../json-patch.ts";
import {
  type CandidateChange,
  changeOf,
  changeWeights,
  combineChanges,
  editedNodePool,
  editedPod,
  poolName,
} from "./candidate-change.ts";

/** Tolerates the taints, or removes them from the pool. */
export function taintChanges(
  taints: readonly Taint[],
  { pod, pool }: { pod: Pod; pool: Pool },
): readonly CandidateChange[] {
  const removals = taints.flatMap((taint) => removeTaintChanges(taint, pool));
  const both = [tolerationChange(taints, pod), combineChanges(removals)];
  return both.filter((one) => one !== undefined);
}

/** One toleration for each taint, no wider than the taint. */
export function tolerationChange(taints: readonly Taint[], pod: Pod): CandidateChange | undefined {
  return combineChanges(
    taints.map((taint) =>
      changeOf(editedPod(pod), {
        text: `add a toleration for ${formatTaint(taint)} to the pod`,
        weight: changeWeights.addToleration,
        operations: [addOperation(pod, ["spec", "tolerations", "-"], tolerationFor(taint))],
      }),
    ),
  );
}

function tolerationFor({ key, value = "", effect }: Taint): Toleration {
  return value === "" ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect };
}

function removeTaintChanges(taint: Taint, pool: Pool): readonly CandidateChange[] {
  const all = pool.nodePool.spec.template.spec.taints ?? [];
  const index = all.findIndex((one) => formatTaint(one) === formatTaint(taint));
  if (index < 0) return [];
  return [
    changeOf(editedNodePool(pool), {
      text: `remove the taint ${formatTaint(taint)} from NodePool ${poolName(pool)}`,
      weight: changeWeights.dropPoolRule,
      operations: [removeOperation(["spec", "template", "spec", "taints", index])],
    }),
  ];
}
