import { expect } from "vitest";
import { annotations as annotationKeys } from "../../src/api/labels.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  hearsaySeconds,
  type LiveNode,
  logged,
  nameOf,
  nodesOf,
  nothingLeft,
  podsOf,
  running,
  scaleToNone,
  settled,
  theNode,
  told,
} from "./facts.ts";
import { cpuIs, eager, eagerPool, halfEmpty, isTainted, mostAtOnce } from "./half-empty.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story } from "./story.ts";
import { budget, deployment, undisturbed } from "./workloads.ts";

const { doNotDisrupt } = annotationKeys;

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
  {
    title: "03 §10.2-9 of many nodes with little on them most go at the same time",
    run: async (cluster) => {
      await halfEmpty(cluster, { count: 8 });
      await cluster.until("three nodes are left", settled(cluster, 3), 150);
      await cluster.until("all pods run", running(cluster, "web", 8));
    },
  },
  {
    title: "03:D-1 in mode upstream there is one command at a time, and the end is the same",
    settings: { disruptionMode: "upstream" },
    run: async (cluster) => {
      await halfEmpty(cluster, { count: 8 });
      await cluster.until("three nodes are left", settled(cluster, 3), 600);
      await cluster.until("all pods run", running(cluster, "web", 8));
    },
  },
  {
    title: "03:D-21 03:D-28 a budget of one: never are two nodes on their way out",
    run: async (cluster) => {
      await halfEmpty(cluster, { count: 6, spec: { disruption: { ...eager, budgets: [{ nodes: "1" }] } } });
      const probe = settled(cluster, 2);
      expect(await mostAtOnce(cluster, "two nodes are left", { probe, seconds: 900 })).toBe(1);
    },
  },
  {
    title: "03:D-22 03:D-26 a budget of none holds all nodes and says so, until it is raised",
    run: async (cluster) => {
      await halfEmpty(cluster, { spec: { disruption: { ...eager, budgets: [{ nodes: "0" }] } } });
      await cluster.pass(120);
      expect(await nodesOf(cluster)).toHaveLength(2);
      await cluster.until("the pool says why", told(cluster, { about: "default", reason: "DisruptionBlocked" }));
      await cluster.patch(karpenterTypes.NodePool, "default", { spec: { disruption: eager } });
      await cluster.until("one node is left", settled(cluster, 1), 120);
    },
  },
  {
    title: "03:D-21 a budget for empty nodes does not hold those with pods",
    run: async (cluster) => {
      const budgets = [{ nodes: "0", reasons: ["Empty"] }, { nodes: "100%" }];
      await halfEmpty(cluster, { spec: { disruption: { ...eager, budgets } } });
      await cluster.until("one node is left", settled(cluster, 1), 120);
      await cluster.scale("web", 0);
      await cluster.pass(120);
      expect(await nodesOf(cluster)).toHaveLength(1);
    },
  },
  {
    title: "03:D-25 a window holds nodes as long as it is open",
    needsVirtualTime: true,
    run: async (cluster) => {
      const now = new Date(cluster.now());
      const schedule = `${now.getUTCMinutes()} ${now.getUTCHours()} * * *`;
      const budgets = [{ nodes: "0", schedule, duration: "15m" }, { nodes: "100%" }];
      await halfEmpty(cluster, { spec: { disruption: { ...eager, budgets } } });
      await cluster.pass(600);
      expect(await nodesOf(cluster)).toHaveLength(2);
      await cluster.until("one node is left", settled(cluster, 1), 900);
    },
  },
  {
    title: "03:D-18 03:D-34 a budget of pods holds their nodes, and no longer than it is there",
    run: async (cluster) => {
      await cluster.apply(budget("web", { maxUnavailable: 0 }));
      await halfEmpty(cluster);
      await cluster.pass(120);
      expect(await nodesOf(cluster)).toHaveLength(2);
      const [node] = await nodesOf(cluster);
      const says = { reason: "DisruptionBlocked", words: "prevents pod evictions" };
      await cluster.until("it says why", told(cluster, { about: nameOf(node as LiveNode), ...says }));
      await cluster.remove(builtInTypes.PodDisruptionBudget, "web");
      await cluster.until("one node is left", settled(cluster, 1), 60);
    },
  },
  {
    title: "03:D-17 pods that must not be disrupted hold their nodes",
    run: async (cluster) => {
      await halfEmpty(cluster, { annotations: undisturbed });
      await cluster.pass(120);
      expect(await nodesOf(cluster)).toHaveLength(2);
      for (const pod of await podsOf(cluster, "web"))
        await cluster.patch(builtInTypes.Pod, nameOf(pod), { metadata: { annotations: { [doNotDisrupt]: null } } });
      await cluster.until("one node is left", settled(cluster, 1), 60);
    },
  },
  {
    title: "03:D-17 03:D-34 protection for a while ends by itself",
    needsVirtualTime: true,
    run: async (cluster) => {
      await halfEmpty(cluster, { annotations: { [doNotDisrupt]: "10m" } });
      await cluster.pass(400);
      expect(await nodesOf(cluster)).toHaveLength(2);
      await cluster.until("one node is left", settled(cluster, 1), 400);
    },
  },
  {
    title: "03:D-14 a node that must not be disrupted stays; the other goes",
    run: async (cluster) => {
      await halfEmpty(cluster, { isStopped: true });
      const [kept] = await nodesOf(cluster);
      await cluster.patch(builtInTypes.Node, nameOf(kept as LiveNode), { metadata: { annotations: undisturbed } });
      await cluster.pass(hearsaySeconds);
      await cluster.patch(karpenterTypes.NodePool, "default", { spec: { disruption: eager } });
      await cluster.until("one node is left", settled(cluster, 1), 120);
      expect(nameOf(await theNode(cluster))).toBe(nameOf(kept as LiveNode));
    },
  },
  {
    title: "03:D-35 03:M-4 a node is left alone until nothing has happened on it for a while",
    needsVirtualTime: true,
    run: async (cluster) => {
      await halfEmpty(cluster, { spec: { disruption: { ...eager, consolidateAfter: "20m" } } });
      await cluster.pass(900);
      expect(await nodesOf(cluster)).toHaveLength(2);
      await cluster.until("one node is left", settled(cluster, 1), 900);
    },
  },
  {
    title: "03:D-36 with WhenEmpty nodes with pods stay, and empty ones go",
    run: async (cluster) => {
      await halfEmpty(cluster, { spec: { disruption: { ...eager, consolidationPolicy: "WhenEmpty" } } });
      await cluster.pass(120);
      expect(await nodesOf(cluster)).toHaveLength(2);
      await cluster.scale("web", 0);
      await cluster.until("all is given back", nothingLeft(cluster), 120);
    },
  },
  {
    title: "03:D-36 03:B-1 with Balanced a node that saves half of the pool goes",
    run: async (cluster) => {
      await halfEmpty(cluster, { spec: { disruption: { ...eager, consolidationPolicy: "Balanced" } } });
      await cluster.until("one node is left", settled(cluster, 1), 120);
    },
  },
  {
    title: "03:D-47 without its gate spot is not replaced by spot, and the node says so",
    run: async (cluster) => {
      const spot = isIn("karpenter.sh/capacity-type", "spot");
      await cluster.apply(kwokClass, pool({ requirements: [spot], spec: { disruption: eager } }));
      await cluster.apply(deployment("web", { replicas: 10, cpu: "2", memory: "4Gi" }));
      await cluster.until("all pods run", running(cluster, "web", 10));
      const node = nameOf(await theNode(cluster));
      await cluster.scale("web", 2);
      await cluster.pass(120);
      expect(nameOf(await theNode(cluster))).toBe(node);
      const says = { reason: "Unconsolidatable", words: "SpotToSpotConsolidation is disabled" };
      expect(await told(cluster, { about: node, ...says })()).toBe(true);
    },
  },
  {
    title: "03:D-61 a node that gets a pod while its command waits stays",
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")] }), deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      await scaleToNone(cluster, "web");
      await cluster.pass(20);
      await cluster.scale("web", 1);
      await cluster.until("it runs again", running(cluster, "web", 1));
      await cluster.pass(120);
      await cluster.until("one node", settled(cluster, 1));
    },
  },
  {
    title: "03:D-79 a replacement that cannot be launched leaves everything as it was",
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool(), deployment("web", { replicas: 10, cpu: "2", memory: "4Gi" }));
      await cluster.until("all pods run", running(cluster, "web", 10));
      const large = nameOf(await theNode(cluster));
      cluster.cloud.setAvailableCount({}, 0);
      await cluster.scale("web", 2);
      await cluster.until(
        "it was tried and given up",
        async () => logged(cluster, "failed terminating nodes while executing a disruption command") > 0,
        300,
      );
      await cluster.until("the node is as it was", async () => !isTainted(await theNode(cluster)), 60);
      expect(nameOf(await theNode(cluster))).toBe(large);
      cluster.cloud.setAvailableCount({}, 10);
      await cluster.until(
        "another node",
        async () => (await nodesOf(cluster)).every((one) => nameOf(one) !== large),
        900,
      );
      await cluster.until("both pods run", running(cluster, "web", 2));
    },
  },
  {
    title: "03 §8.3 03:D-3 a controller that dies while a replacement starts leaves no node marked",
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool(), deployment("web", { replicas: 10, cpu: "2", memory: "4Gi" }));
      await cluster.until("all pods run", running(cluster, "web", 10));
      const large = nameOf(await theNode(cluster));
      await cluster.scale("web", 2);
      await cluster.until("it is marked", async () => (await nodesOf(cluster)).some(isTainted), 300);
      await cluster.restart();
      await cluster.until(
        "another node alone",
        async () => (await nodesOf(cluster)).every((one) => nameOf(one) !== large),
        600,
      );
      await cluster.until("at rest", settled(cluster, 1), 300);
      expect((await nodesOf(cluster)).some(isTainted)).toBe(false);
      await cluster.until("both pods run", running(cluster, "web", 2));
    },
  },
  {
    title: "03:D-31 03:P-2 a node of an old template is replaced, and its pods run on",
    run: async (cluster) => {
      const keeping = { disruption: { ...eager, consolidateAfter: "Never" } };
      await cluster.apply(kwokClass, eagerPool({ spec: keeping }), deployment("web", { replicas: 3 }));
      await cluster.until("all pods run", running(cluster, "web", 3));
      const old = nameOf(await theNode(cluster));
      await cluster.apply(eagerPool({ spec: keeping, labels: { generation: "two" } }));
      await cluster.until(
        "another node",
        async () => (await nodesOf(cluster)).every((one) => nameOf(one) !== old),
        300,
      );
      await cluster.until("at rest", settled(cluster, 1), 120);
      await cluster.until("all pods run", running(cluster, "web", 3));
      expect((await theNode(cluster)).metadata.labels).toMatchObject({ generation: "two" });
    },
  },
  {
    title: "03:D-30 drifted nodes of a static pool are replaced one for one",
    settings: { gates: { ...defaultGates, StaticCapacity: true } },
    run: async (cluster) => {
      const spec = { replicas: 2, disruption: { ...eager, budgets: [{ nodes: "1" }] } };
      const { consolidationPolicy: _policy, ...disruption } = spec.disruption;
      const fixed = { replicas: spec.replicas, disruption: { ...disruption, consolidateAfter: "Never" } };
      await cluster.apply(kwokClass, eagerPool({ spec: fixed }));
      await cluster.until("two nodes", settled(cluster, 2));
      const old = (await nodesOf(cluster)).map(nameOf);
      await cluster.apply(eagerPool({ spec: fixed, labels: { generation: "two" } }));
      await cluster.until(
        "both are replaced",
        async () => (await nodesOf(cluster)).every((one) => !old.includes(nameOf(one))),
        600,
      );
      await cluster.until("two nodes", settled(cluster, 2), 120);
    },
  },
];
