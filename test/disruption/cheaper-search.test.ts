import { describe, expect, it } from "vitest";
import { nextCommands } from "../../src/core/disruption/next-commands.ts";
import type { DisruptionSearch } from "../../src/core/disruption/snapshot.ts";
import { canForesee, cheaperSearch, isSmallCluster, mayBeCheaper } from "../../src/core/repack/cheaper-search.ts";
import { clusterChangeOf } from "../../src/core/repack/cluster-projection.ts";
import { clusterPrice } from "../../src/core/repack/node-prices.ts";
import { runSteps } from "../../src/util/steps.ts";
import { ago, cluster, machine, pool, projectedCluster } from "./cluster.ts";

const openSearch = () => ({ mayContinue: () => true });
const nodesWith = (...pods: readonly (readonly string[])[]) => [
  pool(),
  ...pods.map((cpus, at) => machine(`n${at + 1}`, { pods: cpus.map((cpu) => ({ cpu })) })),
];
const clusterIn = (mode: DisruptionSearch, objects: ReturnType<typeof nodesWith>) =>
  projectedCluster(objects, { mode, packing: "polished" });
const searchOf = (objects: ReturnType<typeof nodesWith>): DisruptionSearch =>
  runSteps(cheaperSearch({ projectionOf: (mode) => clusterIn(mode, objects), openSearch }));

/** What the commands of one search lead to. */
function priceAfter(mode: DisruptionSearch, objects: ReturnType<typeof nodesWith>): number {
  const projection = clusterIn(mode, objects);
  for (;;) {
    const next = runSteps(nextCommands(projection.snapshot(), openSearch()));
    if (next === undefined) return clusterPrice(projection.snapshot());
    for (const command of next.commands) projection.carryOut(clusterChangeOf(command));
  }
}

describe("03 §10.2-6 the search that leads to the cheaper cluster", () => {
  const spoiled = nodesWith(["5", "1"], ["3", "3"], ["2", "1"], ["3"]);

  it("03 §10.2-6 is stepwise where our best command leads to nodes that cannot be made smaller", () => {
    expect(priceAfter("stepwise", spoiled)).toBeLessThan(priceAfter("default", spoiled));
    expect(searchOf(spoiled)).toBe("stepwise");
  });

  it("03 §10.2-6 is the usual one where both lead to the same price", () => {
    const alike = nodesWith(["1"], ["1"], ["1"]);
    expect(priceAfter("default", alike)).toBe(priceAfter("stepwise", alike));
    expect(searchOf(alike)).toBe("default");
  });

  it("03 §10.2-6 is the usual one where a replacement could not be launched", () => {
    const projectionOf = (mode: DisruptionSearch) => {
      const projection = clusterIn(mode, spoiled);
      const carryOut: typeof projection.carryOut = (change) => change.newNodes.map(() => undefined);
      return { snapshot: () => projection.snapshot(), carryOut };
    };
    expect(runSteps(cheaperSearch({ projectionOf, openSearch }))).toBe("default");
  });

  const small = (count: number, ...more: ReturnType<typeof nodesWith>) =>
    cluster([...nodesWith(...Array.from({ length: count }, () => ["1"])), ...more]);

  it("03 §10.2-6 is looked for in small clusters only", () => {
    expect(canForesee(small(20))).toBe(true);
    expect(canForesee(small(21))).toBe(false);
    expect(isSmallCluster(small(20))).toBe(true);
    expect(isSmallCluster(small(21))).toBe(false);
    expect(canForesee(small(2))).toBe(false); // no order in which two could go the wrong way
  });

  it("03 §10.2-6 is not looked for while nodes come, or leave with pods", () => {
    const leaving = { claim: { metadata: { deletionTimestamp: ago(1) } } };
    expect(canForesee(small(3, machine("empty", leaving)))).toBe(true);
    expect(canForesee(small(3, machine("full", { ...leaving, pods: [{}] })))).toBe(false);
    expect(canForesee(small(3, machine("coming", { conditions: ["Initialized=False"], without: ["node"] })))).toBe(
      false,
    );
  });

  it("03 §10.2-6 is looked for before a consolidation of the usual search", () => {
    expect(mayBeCheaper("multi-node-consolidation", small(3))).toBe(true);
    expect(mayBeCheaper("single-node-consolidation", small(3))).toBe(true);
    expect(mayBeCheaper("emptiness", small(3))).toBe(false);
    expect(mayBeCheaper("drift", small(3))).toBe(false);
    expect(mayBeCheaper("multi-node-consolidation", { ...small(3), mode: "stepwise" })).toBe(false);
  });
});
