import { describe, expect, it } from "vitest";
import type { CapacityBuffer } from "../api/kinds/capacity-buffer.ts";
import { isProvisionable } from "./pod-predicates.ts";
import { isVirtualPod, virtualPods } from "./virtual-pods.ts";

function buffer(spec: object): CapacityBuffer {
  return {
    apiVersion: "autoscaling.x-k8s.io/v1beta1",
    kind: "CapacityBuffer",
    metadata: { name: "spare", namespace: "shop", uid: "u" },
    spec,
  } as unknown as CapacityBuffer;
}

const template = {
  metadata: { labels: { app: "web" }, annotations: { note: "x" } },
  spec: {
    nodeName: "n",
    containers: [
      { name: "a", resources: { limits: { cpu: "500m" } }, volumeMounts: [{ name: "data" }, { name: "config" }] },
    ],
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: "data" } },
      { name: "scratch", ephemeral: {} },
      { name: "config" },
    ],
  },
};

describe("virtual pods", () => {
  it("02:B-5 look like pods of the template that wait, without claims", () => {
    const [first, second, ...others] = virtualPods(buffer({ replicas: 2 }), { template });
    expect(others).toEqual([]);
    expect(first?.metadata).toEqual({
      name: "capacity-buffer-spare-1",
      namespace: "shop",
      uid: "u-1",
      labels: { app: "web" },
      annotations: {
        "karpenter.sh/capacity-buffer-fake-pod": "true",
        "karpenter.sh/capacity-buffer-name": "spare",
        "karpenter.sh/capacity-buffer-namespace": "shop",
      },
    });
    expect(first?.spec).toEqual({
      priority: -(2 ** 31),
      containers: [
        {
          name: "a",
          resources: { limits: { cpu: "500m" }, requests: { cpu: "500m" } },
          volumeMounts: [{ name: "config" }],
        },
      ],
      volumes: [{ name: "config" }],
    });
    expect(second?.metadata.name).toBe("capacity-buffer-spare-2");
    expect(second?.spec).toBe(first?.spec);
    expect(first && isProvisionable(first) && isVirtualPod(first)).toBe(true);
  });

  it.each([
    ["replicas", { replicas: 3 }, undefined, 3],
    ["a percentage of the workload", { percentage: 25 }, { replicas: 9 }, 3],
    ["the larger of both", { replicas: 1, percentage: 50 }, { replicas: 4 }, 2],
    ["at most what the limits hold", { replicas: 9, limits: { cpu: "2" } }, undefined, 4],
    ["the limits alone", { limits: { cpu: "3" } }, undefined, 6],
  ])("02:B-3 are as many as %s say", (_, spec, scalable, count) => {
    const source = scalable === undefined ? { template } : { template, scalable };
    expect(virtualPods(buffer(spec), source)).toHaveLength(count);
  });
});
