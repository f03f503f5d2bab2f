import { describe, expect, it } from "vitest";
import type { CapacityBuffer } from "../../src/api/kinds/capacity-buffer.ts";
import type { NodeOverlay } from "../../src/api/kinds/node-overlay.ts";
import { labelPolicy } from "../../src/api/label-policy.ts";
import { applyOverlays } from "../../src/core/overlay.ts";
import { resolveBuffers } from "../../src/core/round/resolve-buffers.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { isVirtualPod, virtualPods } from "../../src/core/virtual-pods.ts";
import { expression, type ShortRequirement } from "../builders/keys.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { type ProblemBuilder, problem } from "../builders/problem.ts";
import { codes, podsOnNodes, podsPerNewNode, poolsOfNewNodes, typesPerNewNode } from "../builders/readers.ts";
import { large, small, web } from "./solved.ts";

function overlay(name: string, requirements: readonly ShortRequirement[], spec: object): NodeOverlay {
  const written = { requirements: requirements.map(expression), ...spec };
  return {
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name },
    spec: written,
  } as unknown as NodeOverlay;
}

function solvedUnder(builder: ProblemBuilder, ...overlays: readonly NodeOverlay[]) {
  const built = builder.build();
  const { pools, faults } = applyOverlays(built.pools, { overlays, policy: labelPolicy("kwok") });
  return { ...solve({ ...built, pools }), faults };
}

const sizes = problem().types(small, large);

describe("overlays in scheduling", () => {
  it("02:O-2 a price that is set changes what is cheapest", () => {
    const decision = solvedUnder(sizes.pod(web), overlay("o", [["type", "In", "large"]], { price: "0.001" }));
    expect([typesPerNewNode(decision), decision.newNodes[0]?.price]).toEqual([[["large", "small"]], 0.001]);
  });

  it("02:O-2 a price that is raised by a percentage", () => {
    const decision = solvedUnder(sizes.pod(web), overlay("o", [["type", "In", "small"]], { priceAdjustment: "+900%" }));
    expect(typesPerNewNode(decision)).toEqual([["large", "small"]]);
  });

  it("02:O-6 a price by zone binds where the pod goes there", () => {
    const inB = overlay(
      "o",
      [
        ["zone", "In", "b"],
        ["type", "In", "small"],
      ],
      { price: "9" },
    );
    expect(typesPerNewNode(solvedUnder(sizes.pod(web.on("zone", "b")), inB))).toEqual([["large", "small"]]);
    expect(typesPerNewNode(solvedUnder(sizes.pod(web.on("zone", "a")), inB))).toEqual([["small", "large"]]);
  });

  it("02:O-6 resources only an overlay knows of can be asked for", () => {
    const fpga = web.request("example.com/fpga", "1");
    expect(codes(solvedUnder(sizes.pod(fpga)))).toEqual({ "p-0": "instance-types" });
    const given = overlay("o", [["type", "In", "large"]], { capacity: { "example.com/fpga": "2" } });
    const decision = solvedUnder(sizes.pods(3, fpga), given);
    expect([typesPerNewNode(decision), podsPerNewNode(decision)]).toEqual([
      [["large"], ["large"]],
      [["p-0", "p-1"], ["p-2"]],
    ]);
  });

  it("02:O-5 for one pool only", () => {
    const pools = sizes.pools(nodePool("a"), nodePool("b"));
    const given = overlay("o", [["pool", "In", "a"]], { capacity: { "example.com/fpga": "1" } });
    expect(poolsOfNewNodes(solvedUnder(pools.pod(web.request("example.com/fpga", "1")), given))).toEqual(["a"]);
  });

  it("02:O-7 in conflict: the earlier name is applied nowhere, and the other stays", () => {
    const one = overlay("a", [], { price: "5" });
    const other = overlay("b", [["type", "In", "large"]], { price: "0.001" });
    const decision = solvedUnder(sizes.pod(web), one, other);
    expect(decision.faults.map(({ overlay: { metadata }, reason }) => [metadata.name, reason])).toEqual([
      ["a", "Conflict"],
    ]);
    expect(typesPerNewNode(decision)).toEqual([["large", "small"]]);
  });
});

describe("buffers in scheduling", () => {
  const buffer = (spec: object): CapacityBuffer =>
    ({
      apiVersion: "autoscaling.x-k8s.io/v1beta1",
      kind: "CapacityBuffer",
      metadata: { name: "spare", namespace: "default", uid: "u" },
      spec,
    }) as unknown as CapacityBuffer;
  const template = { spec: { containers: [{ name: "app", resources: { requests: { cpu: "2" } } }] } };
  const withBuffer = (builder: ProblemBuilder) => {
    const built = builder.build();
    return solve({ ...built, pods: [...built.pods, ...virtualPods(buffer({ replicas: 2 }), { template })] });
  };

  const sources = {
    podTemplates: [{ metadata: { name: "t", namespace: "default" }, template }],
    workloads: [
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d", namespace: "default" },
        spec: { replicas: 4, template },
      },
    ],
  };
  it.each([
    ["a pod template", { podTemplateRef: { name: "t" }, replicas: 2 }, 2],
    ["a pod template that is missing", { podTemplateRef: { name: "x" }, replicas: 2 }, "PodTemplateNotFound"],
    ["a workload", { scalableRef: { apiGroup: "apps", kind: "Deployment", name: "d" }, percentage: 50 }, 2],
    ["a workload, its group left out", { scalableRef: { kind: "Deployment", name: "d" }, replicas: 1 }, 1],
    [
      "a workload that is missing",
      { scalableRef: { kind: "Deployment", name: "x" }, replicas: 1 },
      "ScalableRefNotFound",
    ],
    [
      "a kind that cannot be scaled",
      { scalableRef: { kind: "DaemonSet", name: "d" }, replicas: 1 },
      "ResolutionFailed",
    ],
    ["nothing", { replicas: 1 }, "ResolutionFailed"],
  ])("02:B-1 02:B-2 refer to %s", (_, spec, expected) => {
    const { pods, faults } = resolveBuffers([buffer(spec)], sources);
    expect(faults.length === 0 ? pods.length : faults[0]?.reason).toBe(expected);
  });

  it("02:B-6 virtual pods are sorted among real ones by size", () => {
    const decision = withBuffer(problem().types(large).pod(web.cpu("3"), web));
    expect(podsPerNewNode(decision)).toEqual([["p-0", "capacity-buffer-spare-1", "capacity-buffer-spare-2", "p-1"]]);
  });

  it("02:B-6 virtual pods use existing nodes, and new ones for the rest", () => {
    const decision = withBuffer(problem().nodes(node("n1").cpu("2")));
    expect(podsOnNodes(decision)).toEqual({ n1: ["capacity-buffer-spare-1"] });
    expect(podsPerNewNode(decision)).toEqual([["capacity-buffer-spare-2"]]);
    expect(decision.newNodes.flatMap(({ pods }) => pods.map(isVirtualPod))).toEqual([true]);
  });
});
