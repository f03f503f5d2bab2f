import { describe, expect, it } from "vitest";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { hasNewReplicas, mayNeedNodes } from "./static-pools.ts";

function pool({ replicas, isReady }: { readonly replicas: number; readonly isReady: boolean }): NodePool {
  const condition = { reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "default" },
    spec: {
      replicas,
      template: {
        spec: { requirements: [], nodeClassRef: { group: "g", kind: "K", name: "n" }, expireAfter: "720h" },
      },
      disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "0s", budgets: [] },
    },
    status: { nodes: 0, conditions: [{ type: "Ready", status: isReady ? "True" : "False", ...condition }] },
  };
}

describe("changes of a static pool that matter", () => {
  const cases = [
    ["another number of replicas", { replicas: 5, isReady: false }, { replicas: 3, isReady: false }, [true, true]],
    ["it becomes ready", { replicas: 5, isReady: false }, { replicas: 5, isReady: true }, [true, false]],
    ["it stops being ready", { replicas: 5, isReady: true }, { replicas: 5, isReady: false }, [false, false]],
    ["it stays ready", { replicas: 5, isReady: true }, { replicas: 5, isReady: true }, [false, false]],
    ["it stays unready", { replicas: 5, isReady: false }, { replicas: 5, isReady: false }, [false, false]],
  ] as const;

  it.each(cases)("03:SP-3 %s", (_, old, object, [toAdd, toRemove]) => {
    const change = { old: pool(old), object: pool(object) };
    expect([mayNeedNodes(change), hasNewReplicas(change)]).toEqual([toAdd, toRemove]);
  });

  it("03:SP-3 a new pool matters, one that is gone does not", () => {
    const one = pool({ replicas: 1, isReady: false });
    expect([mayNeedNodes({ object: one, old: undefined }), hasNewReplicas({ object: one, old: undefined })]).toEqual([
      true,
      true,
    ]);
    expect([mayNeedNodes({ object: undefined, old: one }), hasNewReplicas({ object: undefined, old: one })]).toEqual([
      false,
      false,
    ]);
  });
});
