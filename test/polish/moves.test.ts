import { describe, expect, it } from "vitest";
import type { Decision } from "../../src/core/scheduling/decision.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { instanceType } from "../builders/instance-type.ts";
import { pod } from "../builders/pod.ts";
import { type ProblemBuilder, problem } from "../builders/problem.ts";

const sizes = [1, 2, 4, 8].map((cpu) => instanceType(`t${cpu}`).cpu(cpu).memory("64Gi"));

/** Nodes as what they cost and how many pods each has, most expensive first. */
function plan(asked: ProblemBuilder, packing: "plain" | "polished"): readonly string[] {
  return shapes(solve(asked.policy({ packing }).build()));
}

function shapes({ newNodes }: Decision): readonly string[] {
  return newNodes
    .map(({ price, pods }) => `${pods.length} for ${price.toFixed(3)}`)
    .sort()
    .reverse();
}

describe("polishing", () => {
  it("moves pods into room that is paid for", () => {
    const apart = pod().label("app", "x").apart("host", { app: "x" }).on("capacity-type", "on-demand");
    const other = pod().label("app", "y").on("capacity-type", "on-demand");
    const asked = problem()
      .types(...sizes)
      .pods(1, apart.cpu("1400m"))
      .pods(1, apart.cpu("900m"))
      .pods(2, other.cpu("250m"));
    expect(plan(asked, "plain")).toEqual(["2 for 0.500", "2 for 0.500"]);
    expect(plan(asked, "polished")).toEqual(["3 for 0.500", "1 for 0.250"]);
  });

  it("sets pods that can run on spot apart from one that cannot", () => {
    expect(plan(spotAndOnDemand(), "plain")).toEqual(["2 for 1.000", "2 for 1.000"]);
    expect(plan(spotAndOnDemand(), "polished")).toEqual(["3 for 1.000", "1 for 0.700"]);
  });

  it("leaves zones as they were", () => {
    const spread = pod().label("app", "x").spread("zone");
    const asked = problem()
      .types(...sizes)
      .pods(5, spread.cpu("1700m"))
      .pods(7, spread.cpu("300m"));
    const zones = (packing: "plain" | "polished"): readonly string[] =>
      solve(asked.policy({ packing }).build())
        .newNodes.flatMap(({ pods, requirements }) =>
          pods.map(() => requirements.get("topology.kubernetes.io/zone").singleValue ?? ""),
        )
        .sort();
    expect(zones("polished")).toEqual(zones("plain"));
  });

  it("does not decide on a zone for pods that a spread counts and that might still go anywhere", () => {
    const big = pod().label("kind", "k").apart("host", { kind: "k" });
    const inZone = (cpu: string) => pod().cpu(cpu).on("zone", "a");
    const asked = problem()
      .types(...sizes, instanceType("t2b").cpu(2).resource("cpu", "2200m").memory("64Gi").price(0.51))
      .pods(
        1,
        big
          .cpu("3600m")
          .label("app", "x")
          .spread("zone", { selects: { app: "x" } }),
      )
      .pods(1, big.cpu("1400m").label("app", "x"))
      .pods(1, big.cpu("900m").on("zone", "a"))
      .pods(2, pod().cpu("250m"))
      .pods(1, inZone("240m"));
    expect(plan(asked, "plain")).toEqual(["2 for 0.700", "2 for 0.350", "2 for 0.350"]);
    expect(plan(asked, "polished")).toEqual(plan(asked, "plain"));
  });
});

function spotAndOnDemand(): ProblemBuilder {
  const stays = pod().cpu("250m").on("capacity-type", "on-demand");
  const apart = pod().cpu("3").label("app", "x").apart("host", { app: "x" });
  return problem()
    .types(...sizes)
    .pods(2, apart)
    .pods(2, stays);
}
