import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, gone, logged, nameOf, nodesOf, nothingLeft, podsOf, running, settled } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, deployment, undisturbed } from "./workloads.ts";

const settings = { gates: { ...defaultGates, StaticCapacity: true } };

const fixed = (replicas: number, spec: object = {}) =>
  pool({ requirements: [isIn(labels.instanceType, "c-4x-amd64-linux")], spec: { replicas, ...spec } });

const resize = (cluster: StoryCluster, replicas: number) =>
  cluster.patch(karpenterTypes.NodePool, "default", { spec: { replicas } });

export const staticPools: readonly Story[] = [
  {
    title: "03:SP-3 a static pool has its nodes without a single pod",
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fixed(2));
      await cluster.until("two nodes", settled(cluster, 2));
      const types = (await nodesOf(cluster)).map(({ metadata }) => metadata.labels?.[labels.instanceType]);
      expect(types).toEqual(["c-4x-amd64-linux", "c-4x-amd64-linux"]);
    },
  },
  {
    title: "03:SP-3 03:SP-4 a static pool goes up and down as it is told",
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fixed(1));
      await cluster.until("one node", settled(cluster, 1));
      await resize(cluster, 3);
      await cluster.until("three nodes", settled(cluster, 3));
      await resize(cluster, 0);
      await cluster.until("all is given back", nothingLeft(cluster));
    },
  },
  {
    title: "03:SP-4 an empty node goes before one with pods, and before one that must not be disturbed",
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fixed(3));
      await cluster.until("three nodes", settled(cluster, 3));
      await cluster.apply(barePod("careful", { cpu: "3", annotations: undisturbed }), deployment("web", { cpu: "3" }));
      await cluster.until("one is careful", running(cluster, "careful", 1));
      await cluster.until("one is not", running(cluster, "web", 1));
      const [web] = await podsOf(cluster, "web");
      const [careful] = await podsOf(cluster, "careful");
      await resize(cluster, 2);
      await cluster.until("two nodes", settled(cluster, 2));
      const left = (await nodesOf(cluster)).map(nameOf);
      expect(left).toEqual([web?.spec.nodeName, careful?.spec.nodeName].sort());
      await resize(cluster, 1);
      await cluster.until("one node", settled(cluster, 1));
      expect((await nodesOf(cluster)).map(nameOf)).toEqual([careful?.spec.nodeName]);
    },
  },
  {
    title: "03:SP-2 a static pool stops at its limit, and goes on when that is raised",
    settings,
    needsVirtualTime: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fixed(3, { limits: { nodes: "2" } }));
      await cluster.until("two nodes", settled(cluster, 2));
      await cluster.until("the log says why", async () => logged(cluster, "nodepool node limit reached") > 0);
      await cluster.pass(60);
      expect(await claimsOf(cluster)).toHaveLength(2);
      await cluster.patch(karpenterTypes.NodePool, "default", { spec: { limits: { nodes: "5" } } });
      await cluster.until("three nodes", settled(cluster, 3));
    },
  },
  {
    title: "03:SP-3 a node lost from a static pool is replaced",
    isSmoke: true,
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fixed(2));
      await cluster.until("two nodes", settled(cluster, 2));
      const [claim] = await claimsOf(cluster);
      const name = claim?.metadata.name ?? "";
      await cluster.remove(karpenterTypes.NodeClaim, name);
      await cluster.until("it is gone", gone(cluster, karpenterTypes.NodeClaim, name));
      await cluster.until("two nodes again", settled(cluster, 2));
    },
  },
  {
    title: "03:SP-5 pods use the nodes of a static pool, and buy none from it",
    settings,
    run: async (cluster) => {
      await cluster.apply(kwokClass, fixed(1), pool({ name: "other" }));
      await cluster.until("one node", settled(cluster, 1));
      await cluster.apply(deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await claimsOf(cluster, "other")).toEqual([]);
      await cluster.apply(deployment("more", { cpu: "3" }));
      await cluster.until("more runs", running(cluster, "more", 1));
      expect(await claimsOf(cluster, "other")).toHaveLength(1);
      expect(await claimsOf(cluster, "default")).toHaveLength(1);
    },
  },
  {
    title: "03 §6.4 without the gate a static pool is left as it is",
    run: async (cluster) => {
      await cluster.apply(kwokClass, fixed(2), barePod("web"));
      await cluster.pass(15);
      expect(await claimsOf(cluster)).toEqual([]);
      expect((await cluster.get(builtInTypes.Pod, "web"))?.spec).not.toHaveProperty("nodeName");
    },
  },
];
