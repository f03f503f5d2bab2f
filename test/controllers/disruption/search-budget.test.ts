import { describe, expect, it } from "vitest";
import type { Node } from "../../../src/api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { OpenSearch } from "../../../src/controllers/disruption/search-budget.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { isIn, kwokClass, pool } from "../../stories/manifests.ts";
import { deployment } from "../../stories/workloads.ts";
import { testWorld } from "../../world/test-world.ts";

const fourCpus = [isIn("karpenter.sh/capacity-type", "on-demand"), isIn("karpenter.kwok.sh/instance-cpu", "4")];
const disruption = { consolidateAfter: "0s", budgets: [{ nodes: "100%" }] };

const inDefault = <T extends { readonly metadata: object }>(object: T) => ({
  ...object,
  metadata: { ...object.metadata, namespace: "default" },
});

describe("03:D-55 a search that ends after a few simulations", () => {
  it("03:D-55 goes on where it stopped: every node is looked at within as many passes as that takes", async () => {
    const world = await testWorld({ seed: "search budget" });
    const nodes = 7;
    const simulations = 2;
    let isLimited = false;
    let searches = 0;
    const openSearch: OpenSearch = (method) => {
      if (method !== "single-node-consolidation") return { mayContinue: () => true };
      let left = isLimited ? simulations : 0;
      if (isLimited) searches++;
      return { mayContinue: () => left-- > 0 };
    };
    world.startCluster();
    world.startOperator("operator", { openSearch });
    // Each pod needs a node of its own, and no type is cheaper: only a simulation can tell.
    await world.create(kwokClass, pool({ requirements: fourCpus, spec: { disruption } }));
    await world.create(inDefault(deployment("web", { replicas: nodes, cpu: "3" })));
    await world.pass(60);
    const names = (await world.list<KubeObject & Node>(builtInTypes.Node)).map(({ metadata }) => metadata.name ?? "");
    expect(names).toHaveLength(nodes);
    const reached = async () => {
      const told = await Promise.all(names.map((name) => world.events(name)));
      return told.filter((events) => events.some(({ reason }) => reason === "Unconsolidatable")).length;
    };
    expect(await reached()).toBe(0);

    isLimited = true;
    const counts: number[] = [];
    while (counts.at(-1) !== nodes && counts.length < 10) {
      const before = searches;
      while (searches === before) await world.pass(1);
      await world.pass(1);
      counts.push(await reached());
    }
    expect(counts).toEqual([2, 4, 6, 7]);
    await world.stop();
  });
});
