import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, gone, logged, nameOf, nodesOf, nothingLeft, podsOf, running, settled } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Stage, Story } from "./story.ts";
import { barePod, deployment, undisturbed } from "./workloads.ts";

const settings = { gates: { ...defaultGates, StaticCapacity: true } };

const fixed = (replicas: number, spec: object = {}) =>
  pool({ requirements: [isIn(labels.instanceType, "c-4x-amd64-linux")], spec: { replicas, ...spec } });

const resize = (stage: Stage, replicas: number) =>
  stage.patch(karpenterTypes.NodePool, "default", { spec: { replicas } });

export const staticPools: readonly Story[] = [
  {
    title: "03:SP-3 a static pool has its nodes without a single pod",
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fixed(2));
      await stage.until("two nodes", settled(stage, 2));
      const types = (await nodesOf(stage)).map(({ metadata }) => metadata.labels?.[labels.instanceType]);
      expect(types).toEqual(["c-4x-amd64-linux", "c-4x-amd64-linux"]);
    },
  },
  {
    title: "03:SP-3 03:SP-4 a static pool goes up and down as it is told",
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fixed(1));
      await stage.until("one node", settled(stage, 1));
      await resize(stage, 3);
      await stage.until("three nodes", settled(stage, 3));
      await resize(stage, 0);
      await stage.until("all is given back", nothingLeft(stage));
    },
  },
  {
    title: "03:SP-4 an empty node goes before one with pods, and before one that must not be disturbed",
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fixed(3));
      await stage.until("three nodes", settled(stage, 3));
      await stage.apply(barePod("careful", { cpu: "3", annotations: undisturbed }), deployment("web", { cpu: "3" }));
      await stage.until("one is careful", running(stage, "careful", 1));
      await stage.until("one is not", running(stage, "web", 1));
      const [web] = await podsOf(stage, "web");
      const [careful] = await podsOf(stage, "careful");
      await resize(stage, 2);
      await stage.until("two nodes", settled(stage, 2));
      const left = (await nodesOf(stage)).map(nameOf);
      expect(left).toEqual([web?.spec.nodeName, careful?.spec.nodeName].sort());
      await resize(stage, 1);
      await stage.until("one node", settled(stage, 1));
      expect((await nodesOf(stage)).map(nameOf)).toEqual([careful?.spec.nodeName]);
    },
  },
  {
    title: "03:SP-2 a static pool stops at its limit, and goes on when that is raised",
    settings,
    needsVirtualTime: true,
    play: async (stage) => {
      await stage.apply(kwokClass, fixed(3, { limits: { nodes: "2" } }));
      await stage.until("two nodes", settled(stage, 2));
      await stage.until("the log says why", async () => logged(stage, "nodepool node limit reached") > 0);
      await stage.pass(60);
      expect(await claimsOf(stage)).toHaveLength(2);
      await stage.patch(karpenterTypes.NodePool, "default", { spec: { limits: { nodes: "5" } } });
      await stage.until("three nodes", settled(stage, 3));
    },
  },
  {
    title: "03:SP-3 a node lost from a static pool is replaced",
    isSmoke: true,
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fixed(2));
      await stage.until("two nodes", settled(stage, 2));
      const [claim] = await claimsOf(stage);
      const name = claim?.metadata.name ?? "";
      await stage.remove(karpenterTypes.NodeClaim, name);
      await stage.until("it is gone", gone(stage, karpenterTypes.NodeClaim, name));
      await stage.until("two nodes again", settled(stage, 2));
    },
  },
  {
    title: "03:SP-5 pods use the nodes of a static pool, and buy none from it",
    settings,
    play: async (stage) => {
      await stage.apply(kwokClass, fixed(1), pool({ name: "other" }));
      await stage.until("one node", settled(stage, 1));
      await stage.apply(deployment("web", { cpu: "3" }));
      await stage.until("it runs", running(stage, "web", 1));
      expect(await claimsOf(stage, "other")).toEqual([]);
      await stage.apply(deployment("more", { cpu: "3" }));
      await stage.until("more runs", running(stage, "more", 1));
      expect(await claimsOf(stage, "other")).toHaveLength(1);
      expect(await claimsOf(stage, "default")).toHaveLength(1);
    },
  },
  {
    title: "03 §6.4 without the gate a static pool is left as it is",
    play: async (stage) => {
      await stage.apply(kwokClass, fixed(2), barePod("web"));
      await stage.pass(15);
      expect(await claimsOf(stage)).toEqual([]);
      expect((await stage.get(builtInTypes.Pod, "web"))?.spec).not.toHaveProperty("nodeName");
    },
  },
];
