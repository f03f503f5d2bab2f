import { describe, expect, it } from "vitest";
import { type BufferReplicaInputs, bufferReplicas } from "./capacity-buffer.ts";

const requests = { cpu: "500m", memory: "1Gi" };

describe("bufferReplicas", () => {
  it.each<[string, Partial<BufferReplicaInputs>, number]>([
    ["a fixed number", { replicas: 7 }, 7],
    ["a percentage, rounded up", { percentage: 20, scalable: { replicas: 11 } }, 3],
    ["at least one if both are positive", { percentage: 1, scalable: { replicas: 1 } }, 1],
    ["a workload without replicas has one", { percentage: 100, scalable: {} }, 1],
    ["zero percent", { percentage: 0, scalable: { replicas: 10 } }, 0],
    ["the larger of both", { replicas: 2, percentage: 50, scalable: { replicas: 10 } }, 5],
    ["the larger of both, the other way", { replicas: 8, percentage: 50, scalable: { replicas: 10 } }, 8],
    ["an empty workload leaves the fixed number", { replicas: 2, percentage: 50, scalable: { replicas: 0 } }, 2],
    ["an empty workload alone is nothing", { percentage: 50, scalable: { replicas: 0 } }, 0],
    ["percentage without a workload says nothing", { percentage: 50, replicas: 1 }, 1],
    ["limits cap it", { replicas: 10, limits: { cpu: "2" } }, 4],
    ["the tightest limit counts", { replicas: 10, limits: { cpu: "2", memory: "3Gi" } }, 3],
    ["limits it does not reach do not matter", { replicas: 2, limits: { cpu: "100" } }, 2],
    ["limits alone are the size", { limits: { cpu: "2", memory: "10Gi" } }, 4],
    ["limits and an empty workload", { percentage: 50, scalable: { replicas: 0 }, limits: { cpu: 1 } }, 2],
    ["limits on other resources do not cap", { replicas: 3, limits: { "example.com/gpu": "0" } }, 3],
    ["limits on other resources are no size", { limits: { "example.com/gpu": "4" } }, 0],
    ["a limit below one pod", { replicas: 3, limits: { cpu: "499m" } }, 0],
    ["zero replicas stay zero", { replicas: 0, limits: { cpu: "100" } }, 0],
    ["nothing at all", {}, 0],
  ])("01 §1.5, §9.10: %s", (_what, size, expected) => {
    expect(bufferReplicas({ requests, ...size })).toBe(expected);
  });

  it("01 §1.5 a resource nobody asks for cannot cap", () => {
    expect(bufferReplicas({ replicas: 3, limits: { cpu: "1" }, requests: { cpu: "0" } })).toBe(3);
  });
});
