import { expect } from "vitest";
import { logged, nameOf, nodesOf, nothingLeft, running, settled, theNode } from "./facts.ts";
import { isIn, kwokClass, type PoolOptions, pool } from "./manifests.ts";
import type { Story } from "./story.ts";
import { deployment } from "./workloads.ts";

/** Nodes go as soon as they can. */
const eager = { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "0s", budgets: [{ nodes: "100%" }] };

function eagerPool({ spec = {}, ...options }: PoolOptions = {}) {
  return pool({
    ...options,
    requirements: [isIn("karpenter.sh/capacity-type", "on-demand"), ...(options.requirements ?? [])],
    spec: { disruption: eager, ...spec },
  });
}

const cpuIs = (...sizes: readonly string[]) => isIn("karpenter.kwok.sh/instance-cpu", ...sizes);

export const consolidation: readonly Story[] = [
  {
    title: "03:D-29b 03:D-77 nodes that became empty go by themselves",
    isSmoke: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool(), deployment("web", { replicas: 10, cpu: "2", memory: "4Gi" }));
      await cluster.until("all pods run", running(cluster, "web", 10));
      await cluster.scale("web", 0);
      await cluster.until("all is given back", nothingLeft(cluster), 120);
      expect(logged(cluster, "disrupting node(s)")).toBeGreaterThan(0);
    },
  },
  {
    title: "03:D-45 a node whose pods fit elsewhere is deleted",
    run: async (cluster) => {
      const four = eagerPool({ requirements: [cpuIs("4")] });
      await cluster.apply(kwokClass, four, deployment("web", { replicas: 6, cpu: "1", memory: "1Gi" }));
      await cluster.until("all pods run", running(cluster, "web", 6));
      await cluster.until("two nodes", settled(cluster, 2));
      await cluster.scale("web", 2);
      await cluster.until("one node is left", settled(cluster, 1), 180);
      await cluster.until("both pods run", running(cluster, "web", 2));
    },
  },
  {
    title: "03:D-48 03:D-72 03:D-75 a node that is too large is replaced by a cheaper one, which is ready first",
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool(), deployment("web", { replicas: 10, cpu: "2", memory: "4Gi" }));
      await cluster.until("all pods run", running(cluster, "web", 10));
      const large = nameOf(await theNode(cluster));
      await cluster.scale("web", 2);
      await cluster.until("a smaller node has both pods", settled(cluster, 1), 300);
      await cluster.until(
        "another node",
        async () => (await nodesOf(cluster)).every((one) => nameOf(one) !== large),
        300,
      );
      await cluster.until("both pods run", running(cluster, "web", 2));
      expect(logged(cluster, "disrupting node(s)")).toBe(1);
    },
  },
];
