import { describe, expect, it } from "vitest";
import { explainNode } from "../../src/core/explain/explain-node.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";

describe("explainNode", () => {
  const asked = problem()
    .pools(nodePool().taint("x:NoSchedule"))
    .nodes(node("n").pool("default").cpu("2").running(pod().cpu("200m"), pod().cpu("700m").memory("1Gi")))
    .leaving(node("old").running(pod().cpu("100m").onNode("old")))
    .pod(
      pod().named("fits").cpu("500m"),
      pod().named("large").cpu("3"),
      pod().named("picky").cpu("100m").on("team", "a"),
    )
    .build();

  it("02 §5.4 tells what runs there by size, what comes, what is left, and why others do not fit", () => {
    const explanation = explainNode(asked, "n");
    expect(explanation?.running.map((one) => one.pod)).toEqual(["default/n-pod-1", "default/n-pod-0"]);
    expect(explanation?.arriving).toContain("default/fits");
    expect(explanation?.resources).toContainEqual({
      resource: "cpu",
      allocatable: "2",
      requested: "900m",
      coming: "600m",
      left: "500m",
    });
    expect(explanation?.refused).toEqual([
      {
        pods: ["default/large"],
        isUnplaced: true,
        checks: [{ check: "resources", reason: { code: "resources", resource: "cpu", asked: "3", available: "500m" } }],
      },
      {
        pods: ["default/picky"],
        isUnplaced: true,
        checks: [{ check: "requirements", reason: { code: "requirements", key: "team", wants: "In [a]" } }],
      },
    ]);
  });

  it("02:S-27 tells that a node is on its way out, and nothing of one it does not know", () => {
    expect(explainNode(asked, "old")).toMatchObject({ isLeaving: true, arriving: [] });
    expect(explainNode(asked, "nobody")).toBeUndefined();
  });
});
