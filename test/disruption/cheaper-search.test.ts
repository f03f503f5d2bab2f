import { describe, expect, it } from "vitest";
import { nextCommands } from "../../src/core/disruption/next-commands.ts";
import type { DisruptionSearch } from "../../src/core/disruption/snapshot.ts";
import { cheaperSearch } from "../../src/core/repack/cheaper-search.ts";
import { clusterPrice } from "../../src/core/repack/node-prices.ts";
import { runSteps } from "../../src/util/steps.ts";
import { commandTexts, machine, pool, projectedCluster } from "./cluster.ts";

const openSearch = () => ({ mayContinue: () => true });
const nodesWith = (...pods: readonly (readonly string[])[]) => [
  pool(),
  ...pods.map((cpus, at) => machine(`n${at + 1}`, { pods: cpus.map((cpu) => ({ cpu })) })),
];
const clusterIn = (mode: DisruptionSearch, objects: ReturnType<typeof nodesWith>) =>
  projectedCluster(objects, { mode, packing: "polished" });
const searchOf = (objects: ReturnType<typeof nodesWith>): DisruptionSearch =>
  runSteps(cheaperSearch({ projectionOf: (mode) => clusterIn(mode, objects), openSearch }));

/** Steps of one mode, as texts, and the price they lead to. */
function followed(mode: DisruptionSearch, objects: ReturnType<typeof nodesWith>) {
  const projection = clusterIn(mode, objects);
  const steps: string[] = [];
  for (;;) {
    const next = runSteps(nextCommands(projection.snapshot(), openSearch()));
    if (next === undefined) return { steps, price: clusterPrice(projection.snapshot()) };
    steps.push(commandTexts(next).join("; "));
    for (const { candidates, replacements: newNodes, placements } of next.commands)
      projection.carryOut({ removedNodes: candidates.map(({ name }) => name), newNodes, placements });
  }
}

describe("03 §10.2-6 the search that leads to the cheaper cluster", () => {
  const spoiled = nodesWith(["5", "1"], ["3", "3"], ["2", "1"], ["3"]);

  it("03 §10.2-6 is stepwise where our best command leads to nodes that cannot be made smaller", () => {
    const [ours, stepwise] = [followed("default", spoiled), followed("stepwise", spoiled)];
    expect(stepwise.price).toBeLessThan(ours.price);
    expect(searchOf(spoiled)).toBe("stepwise");
  });

  it("03 §10.2-6 is the usual one where both lead to the same price", () => {
    const alike = nodesWith(["1"], ["1"], ["1"]);
    expect(followed("default", alike).price).toBe(followed("stepwise", alike).price);
    expect(searchOf(alike)).toBe("default");
  });
});
