import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { nextCommands } from "../../src/core/disruption/next-commands.ts";
import { clusterChangeOf } from "../../src/core/repack/cluster-projection.ts";
import { clusterPrice } from "../../src/core/repack/node-prices.ts";
import { runSteps } from "../../src/util/steps.ts";
import {
  ask,
  type ClusterFacts,
  type ClusterObjects,
  cluster,
  commandTexts,
  type MachineFacts,
  machine,
  pool,
  projectedCluster,
} from "./cluster.ts";

const spread = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: labels.zone,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "web" } },
    },
  ],
};
const inZones = { key: labels.zone, operator: "In", values: ["a", "b"] };
/** A node of sixteen cpus with so many pods, of which two fill one of eight. */
const large = (name: string, pods: number, facts: MachineFacts = {}) =>
  machine(name, {
    type: "cpu-16",
    pods: Array.from({ length: pods }, () => ({ cpu: "3500m", spec: spread })),
    ...facts,
  });
const largeNodes = (facts: MachineFacts = {}): ClusterObjects => [
  large("a1", 1, { zone: "a", ...facts }),
  large("a2", 1, { zone: "a", ...facts }),
  large("b1", 2, { zone: "b", ...facts }),
  large("b2", 1, { zone: "b", ...facts }),
  large("b3", 1, { zone: "b", ...facts }),
];
const chosen = (objects: ClusterObjects, facts: ClusterFacts = {}) => {
  const proposal = ask(cluster(objects, facts), "multi-node-consolidation", { sweep: "several" });
  return { text: commandTexts(proposal)[0], savings: proposal.commands[0]?.savings };
};

/** What the cluster costs when nothing is left to do. */
function settledPrice(objects: ClusterObjects, facts: ClusterFacts): number {
  const world = projectedCluster(objects, facts);
  for (let step = 0; step < 20; step++) {
    const [command] = runSteps(nextCommands(world.snapshot(), { mayContinue: () => true }))?.commands ?? [];
    if (command === undefined) return clusterPrice(world.snapshot());
    world.carryOut(clusterChangeOf(command));
  }
  throw new Error("still not settled");
}

describe("03:D-51 which of the commands that were found is chosen", () => {
  it("03:D-51 not the one that brings pods together on nodes too large for them", () => {
    const objects = [pool({ requirements: [inZones] }), ...largeNodes()];
    // Deleting three nodes would save 12, and leave three pods on each of the others, which no node of eight has room for.
    expect(chosen(objects)).toEqual({ text: "replace a1,a2 -> cpu-8", savings: 6 });
    expect(settledPrice(objects, { packing: "polished" })).toBeCloseTo(7);
    expect(settledPrice(objects, { mode: "upstream" })).toBeCloseTo(7);
  });

  it("03:D-46b with MultiReplacement the one that saves the most: two new nodes can take the place of one", () => {
    const objects = [pool({ requirements: [inZones] }), ...largeNodes()];
    expect(chosen(objects, { allowsMultiReplacement: true }).savings).toBeGreaterThanOrEqual(12);
  });

  it("03:D-47 the one that saves the most where a smaller node could not come anyway", () => {
    const objects = [
      pool({ requirements: [inZones], capacityTypes: ["spot"] }),
      ...largeNodes({ capacityType: "spot" }),
    ];
    expect(chosen(objects).text).toMatch(/^delete \w+,\w+,\w+$/);
  });

  it("03:D-17 the one that saves the most where pods come together on a node that stays in any case", () => {
    const held = { cpu: "1", labels: { app: "db" }, annotations: { [annotations.doNotDisrupt]: "true" } };
    const keeper = machine("keeper", { type: "cpu-16", pods: [held] });
    const nodes = ["n1", "n2", "n3"].map((name) => machine(name, { type: "cpu-16", pods: [{ cpu: "3500m" }] }));
    expect(chosen([pool(), keeper, ...nodes])).toEqual({ text: "delete n1,n2,n3", savings: 12 });
  });
});
