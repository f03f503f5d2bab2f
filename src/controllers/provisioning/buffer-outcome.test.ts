import { expect, it } from "vitest";
import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { annotations } from "../../api/labels.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import type { Decision, PlannedNode } from "../../core/scheduling/decision.ts";
import { bufferOutcomes, bufferPodCounts, provisioningCondition } from "./buffer-outcome.ts";

const real: Pod = { metadata: { name: "web", namespace: "default" }, spec: {} };

function virtual(buffer: string, index: number): Pod {
  return {
    metadata: {
      name: `capacity-buffer-${buffer}-${index}`,
      namespace: "team",
      annotations: {
        [annotations.bufferFakePod]: "true",
        [annotations.bufferName]: buffer,
        [annotations.bufferNamespace]: "team",
      },
    },
    spec: {},
  };
}

const decision: Decision = {
  placements: [
    { node: "node-1", pods: [virtual("warm", 1), real, virtual("warm", 2)] },
    { node: "node-2", pods: [real] },
  ],
  newNodes: [{ pods: [virtual("large", 1), virtual("large", 2)] } as unknown as PlannedNode],
  refusals: [
    { pod: virtual("large", 3), code: "limits", message: "", pools: [] },
    { pod: real, code: "limits", message: "", pools: [] },
  ],
  emptyPools: [],
  statistics: { pods: 0, classes: 0, candidatesTried: 0, timedOut: false },
};

function buffer({ replicas, isReady = true }: { replicas?: number; isReady?: boolean }): CapacityBuffer {
  const conditions = [{ type: "ReadyForProvisioning", status: isReady ? "True" : "False" }];
  return { metadata: {}, spec: {}, status: { replicas, conditions } } as unknown as CapacityBuffer;
}

it("02:B-7 counts the virtual pods of each buffer by where they went, and no real ones", () => {
  expect(bufferOutcomes(decision)).toEqual(
    new Map([
      ["team/warm", { onExisting: 2, onNew: 0, failed: 0 }],
      ["team/large", { onExisting: 0, onNew: 2, failed: 1 }],
    ]),
  );
});

it("02:B-8 counts virtual pods by the existing node", () => {
  const nodes = ["node-1", "node-2"].map((name) => ({ providerId: `id-${name}`, existing: { name } }));

  expect(bufferPodCounts(decision, { nodes } as unknown as ClusterSnapshot)).toEqual(new Map([["id-node-1", 2]]));
});

it("02:B-7 a buffer that is not ready says so, whatever the round saw", () => {
  expect(
    provisioningCondition(buffer({ replicas: 2, isReady: false }), { onExisting: 2, onNew: 0, failed: 0 }),
  ).toMatchObject({
    status: "False",
    reason: "NotReadyForProvisioning",
  });
});

it("02:B-7 a buffer of nothing is empty", () => {
  expect(provisioningCondition(buffer({ replicas: 0 }), undefined)).toMatchObject({
    status: "False",
    reason: "BufferEmpty",
  });
  expect(provisioningCondition(buffer({}), undefined)).toMatchObject({ status: "False", reason: "BufferEmpty" });
});

it("02:B-7 pods on new nodes, and pods that found no place, require new capacity", () => {
  expect(provisioningCondition(buffer({ replicas: 3 }), { onExisting: 0, onNew: 2, failed: 1 })).toEqual({
    status: "False",
    reason: "RequiresNewCapacity",
    message: "2/3 virtual pods required new capacity, 1 failed",
  });
});

it("02:B-7 all pods on nodes that exist fit", () => {
  expect(provisioningCondition(buffer({ replicas: 2 }), { onExisting: 2, onNew: 0, failed: 0 })).toEqual({
    status: "True",
    reason: "FitsExistingCapacity",
    message: "All 2 virtual pods fit on existing capacity",
  });
});

it("02:B-7 a buffer the round did not see in full keeps what it says", () => {
  expect(provisioningCondition(buffer({ replicas: 2 }), undefined)).toBeUndefined();
  expect(provisioningCondition(buffer({ replicas: 2 }), { onExisting: 1, onNew: 0, failed: 0 })).toBeUndefined();
});
