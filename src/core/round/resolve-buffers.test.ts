import { expect, it } from "vitest";
import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import { resolveBuffers } from "./resolve-buffers.ts";

const sources = {
  podTemplates: [{ metadata: { name: "t" }, template: { spec: { containers: [{ name: "a" }] } } }],
  workloads: [],
};
const buffer = (name: string, replicas: number): CapacityBuffer => ({
  apiVersion: "autoscaling.x-k8s.io/v1beta1",
  kind: "CapacityBuffer",
  metadata: { name },
  spec: { provisioningStrategy: "buffer.x-k8s.io/active-capacity", podTemplateRef: { name: "t" }, replicas },
});

it("02:B-3 buffers have a hundred thousand pods together, and one that is too many has none", () => {
  const buffers = [buffer("a", 30), buffer("b", 2_000_000_000), buffer("c", 20)];
  const resolve = (otherPods?: number) => {
    const { pods, faults } = resolveBuffers(buffers, sources, { otherPods });
    return [pods.length, faults.map(({ buffer: { metadata }, reason }) => `${metadata.name}: ${reason}`)];
  };
  expect(resolve()).toEqual([50, ["b: TooManyReplicas"]]);
  expect(resolve(99_970)).toEqual([30, ["b: TooManyReplicas", "c: TooManyReplicas"]]);
});
