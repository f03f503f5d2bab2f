import type { Pod, Toleration } from "../../../api/kubernetes/pod.ts";
import type { Taint } from "../../../api/labels.ts";
import type { Pool } from "../../scheduling/problem.ts";
import { formatTaint } from "../../tolerations.ts";
import { adding, removing } from "../patch.ts";
import { type Change, change, podObject, poolName, poolObject, together, weights } from "./change.ts";

/** Tolerate the taints, or take them off the pool. */
export function taintChanges(taints: readonly Taint[], { pod, pool }: { pod: Pod; pool: Pool }): readonly Change[] {
  const off = taints.flatMap((taint) => untainting(taint, pool));
  const both = [tolerating(taints, pod), together(off)];
  return both.filter((one) => one !== undefined);
}

/** One toleration a taint, no wider than it. */
export function tolerating(taints: readonly Taint[], pod: Pod): Change | undefined {
  return together(
    taints.map((taint) =>
      change(podObject(pod), {
        text: `add a toleration for ${formatTaint(taint)} to the pod`,
        weight: weights.addToleration,
        operations: [adding(pod, ["spec", "tolerations", "-"], tolerationFor(taint))],
      }),
    ),
  );
}

function tolerationFor({ key, value = "", effect }: Taint): Toleration {
  return value === "" ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect };
}

function untainting(taint: Taint, pool: Pool): readonly Change[] {
  const all = pool.nodePool.spec.template.spec.taints ?? [];
  const index = all.findIndex((one) => formatTaint(one) === formatTaint(taint));
  if (index < 0) return [];
  return [
    change(poolObject(pool), {
      text: `take the taint ${formatTaint(taint)} off pool ${poolName(pool)}`,
      weight: weights.dropPoolRule,
      operations: [removing(["spec", "template", "spec", "taints", index])],
    }),
  ];
}
