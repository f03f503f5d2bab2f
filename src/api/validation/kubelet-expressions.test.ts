import { describe, expect, it } from "vitest";
import { kubeletExpressionsOf } from "./kubelet-expressions.ts";

describe("kubelet expressions", () => {
  it.each([
    ["100m", false],
    ["1Gi", false],
    ["0", false],
    ["1e3", false],
    ["vcpus * 10", true],
    ["max_pods * 11", true],
    ["lots", true],
    ["10m * vcpus", true],
  ])("01 §1.6.4 %j is an expression: %s", (text, is) => {
    expect(kubeletExpressionsOf({ kubeReserved: { cpu: text } })).toHaveLength(is ? 1 : 0);
  });

  it.each([
    [undefined, 0],
    [{}, 0],
    [{ maxPods: 110, kubeReserved: { cpu: "100m" }, systemReserved: { memory: "128Mi" } }, 0],
    [{ maxPods: "vcpus * 10" }, 1],
    [{ maxPods: "110" }, 1],
    [{ kubeReserved: { cpu: "vcpus * 30" } }, 1],
    [{ systemReserved: { memory: "max_pods * 11" } }, 1],
    [{ maxPods: 110, kubeReserved: { cpu: "100m", memory: "vcpus", "ephemeral-storage": "1Gi" } }, 1],
    [{ evictionHard: { "memory.available": "10%" }, evictionSoft: { "memory.available": "15%" }, podsPerCore: 10 }, 0],
    [{ maxPods: "vcpus", kubeReserved: { cpu: "vcpus", memory: "vcpus" }, systemReserved: { cpu: "vcpus" } }, 4],
  ])("01 §8.3 %j holds %i expressions", (block, count) => {
    expect(kubeletExpressionsOf(block)).toHaveLength(count);
  });

  it("01 §8.3 says where each stands, maxPods first", () => {
    expect(kubeletExpressionsOf({ kubeReserved: { cpu: "vcpus" }, maxPods: "vcpus" })).toEqual([
      { field: "maxPods", text: "vcpus" },
      { field: "kubeReserved", resource: "cpu", text: "vcpus" },
    ]);
  });
});
