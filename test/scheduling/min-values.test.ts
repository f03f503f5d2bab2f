import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { nodePool } from "../builders/node-pool.ts";
import { problem } from "../builders/problem.ts";
import {
  codes,
  messages,
  placesPerNewNode,
  podsPerNewNode,
  poolsOfNewNodes,
  sizesOfNewNodes,
  typesPerNewNode,
} from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

const cpu = "karpenter.kwok.sh/instance-cpu";
const sizes = [2, 4, 8, 16].map((cpus) =>
  instanceType(`of-${cpus}`)
    .cpu(cpus)
    .label(cpu, String(cpus))
    .label("arch", cpus > 4 ? "arm64" : "amd64"),
);
const all = problem().types(...sizes);
const relaxed = (decision: ReturnType<typeof solved>) =>
  decision.newNodes.map(({ minValuesRelaxed }) => minValuesRelaxed);

describe("at least so many values", () => {
  it("02:R-30 are there: pods share a node", () => {
    const decision = solved(all.pools(nodePool().minValues("type", 3)).pods(2, web));
    expect([sizesOfNewNodes(decision), typesPerNewNode(decision)]).toEqual([[2], [["of-2", "of-4", "of-8", "of-16"]]]);
  });

  it("02:F-2 keep pods from joining a node that would lose too many", () => {
    const decision = solved(all.pools(nodePool().minValues("type", 3)).pods(3, web.cpu("2")));
    expect(podsPerNewNode(decision)).toEqual([["p-0", "p-1"], ["p-2"]]);
  });

  it("02:F-2 cannot be had: the pod waits, and is told which", () => {
    const decision = solved(all.pools(nodePool().minValues("type", 3)).pod(web.cpu("6")));
    expect(codes(decision)).toEqual({ "p-0": "min-values" });
    expect(messages(decision)["p-0"]).toMatch(
      /^minValues requirement is not met for label\(s\) \(label\(s\)=\[node.kubernetes.io\/instance-type\]\), requirements=.* minValues 3.*, resources={"cpu":"6","pods":"1"}$/,
    );
  });

  it("02:T-6 no type list has: the pool offers nothing, and that is why", () => {
    const decision = solved(all.pools(nodePool().minValues("type", 5)).pod(web));
    expect(decision.emptyPools).toEqual([{ pool: "default", becauseOfMinValues: true }]);
    expect(codes(decision)).toEqual({ "p-0": "no-templates" });
  });

  it.each([
    ["In", nodePool().minValues("type", 2, "In", "of-4", "of-8"), ["of-4", "of-8"]],
    ["NotIn", nodePool().minValues("type", 2, "NotIn", "of-2", "of-16"), ["of-4", "of-8"]],
    ["Gt", nodePool().minValues(cpu, 2, "Gt", "4"), ["of-8", "of-16"]],
    ["Lt", nodePool().minValues(cpu, 2, "Lt", "8"), ["of-2", "of-4"]],
    ["Gte", nodePool().minValues(cpu, 2, "Gte", "8"), ["of-8", "of-16"]],
    ["Lte", nodePool().minValues(cpu, 2, "Lte", "4"), ["of-2", "of-4"]],
  ])("02:R-30 with %s", (_, pool, expected) => {
    expect(typesPerNewNode(solved(all.pools(pool).pod(web)))).toEqual([expected]);
  });

  it.each([
    ["In", nodePool().minValues("type", 3, "In", "of-4", "of-8")],
    ["Gt", nodePool().minValues(cpu, 3, "Gt", "4")],
    ["Lt", nodePool().minValues(cpu, 3, "Lt", "8")],
  ])("02:R-30 with %s, too few", (_, pool) => {
    expect(solved(all.pools(pool).pod(web)).emptyPools).toEqual([{ pool: "default", becauseOfMinValues: true }]);
  });

  it("02:R-10 of one key said twice: the larger counts", () => {
    const pool = nodePool().minValues("type", 1, "In", "of-2", "of-4", "of-8").minValues("type", 3);
    expect(codes(solved(all.pools(pool).pod(web.cpu("3"))))).toEqual({ "p-0": "min-values" });
  });

  it("02:R-30 of several keys: each must be met", () => {
    const pool = nodePool().minValues("type", 2).minValues("arch", 2);
    expect(solved(all.pools(pool).pod(web.cpu("3"))).refusals).toEqual([]);
    const decision = solved(all.pools(pool).pod(web.cpu("6")));
    expect(messages(decision)["p-0"]).toContain("(label(s)=[kubernetes.io/arch])");
  });

  it("02:R-30 of zones: values of the types count, available or not", () => {
    const types = all.types(...sizes.map((type) => type.soldOutIn("b").soldOutIn("c")));
    expect(solved(types.pools(nodePool().minValues("zone", 3)).pod(web)).refusals).toEqual([]);
  });

  it("02:Q-52 lost when the list is cut to 600: the node is not made", () => {
    // Six hundred cheap types of one architecture, and an expensive one of another.
    const types = [
      ...Array.from({ length: 600 }, (_, at) => instanceType(`t${at}`).label("arch", "amd64")),
      instanceType("expensive").price(99).label("arch", "arm64"),
    ];
    const decision = solved(
      problem()
        .types(...types)
        .pools(nodePool().minValues("arch", 2))
        .pod(web),
    );
    expect(messages(decision)).toEqual({
      "p-0":
        "pod didn’t schedule because NodePool couldn’t meet minValues requirements, validating minValues, minValues requirement is not met for label(s) (label(s)=[kubernetes.io/arch]) (NodePool=default)",
    });
    const lenient = problem().policy({ minValues: "BestEffort" });
    expect(
      sizesOfNewNodes(
        solved(
          lenient
            .types(...types)
            .pools(nodePool().minValues("arch", 2))
            .pod(web),
        ),
      ),
    ).toEqual([1]);
  });
});

describe("at least so many values, as far as can be", () => {
  const lenient = all.policy({ minValues: "BestEffort" });

  it("02:F-2 02:Q-23 of types: lowered to what there is, and marked", () => {
    const decision = solved(lenient.pools(nodePool().minValues("type", 3)).pod(web.cpu("6")));
    expect([typesPerNewNode(decision), relaxed(decision)]).toEqual([[["of-8", "of-16"]], [true]]);
    expect(decision.newNodes[0]?.requirements.get("node.kubernetes.io/instance-type").minValues).toBe(2);
  });

  it("02:F-2 of zones", () => {
    const types = lenient.types(instanceType("m").cpu(4).zones("a", "b"));
    const decision = solved(types.pools(nodePool().minValues("zone", 3)).pod(web));
    expect([placesPerNewNode(decision).length, relaxed(decision)]).toEqual([1, [true]]);
  });

  it("02:F-2 of both", () => {
    const pool = nodePool().minValues("type", 9).minValues("zone", 9);
    expect(relaxed(solved(lenient.pools(pool).pod(web)))).toEqual([true]);
  });

  it("02 §11.8-9 02:Q-23 each node is marked for itself (02 §12.2-6)", () => {
    const decision = solved(
      lenient.pools(nodePool().minValues("type", 3)).pod(web.cpu("6"), web.cpu("4").apart("host", { app: "web" })),
    );
    expect(relaxed(decision)).toEqual([true, false]);
  });

  it("02:F-2 only when a node is opened, never to let a pod join", () => {
    const decision = solved(lenient.pools(nodePool().minValues("type", 3)).pods(2, web.cpu("3")));
    expect([podsPerNewNode(decision), relaxed(decision)]).toEqual([
      [["p-0"], ["p-1"]],
      [false, false],
    ]);
  });

  it("02:Q-22 a heavier pool lowers its demands before a lighter one is asked", () => {
    const pools = [nodePool("heavy").weight(9).minValues("type", 9), nodePool("light")];
    expect(poolsOfNewNodes(solved(lenient.pools(...pools).pod(web)))).toEqual(["heavy"]);
    expect(poolsOfNewNodes(solved(all.pools(...pools).pod(web)))).toEqual(["light"]);
  });
});
