import { expect } from "vitest";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  hearsaySeconds,
  isLeaving,
  isReady,
  nameOf,
  nodesOf,
  nothingLeft,
  podsOf,
  running,
  scaleToNone,
  settled,
  theNode,
} from "./facts.ts";
import { cpuIs, eager, eagerPool, halfEmpty, isTainted, mostAtOnce, replaced, stopped } from "./half-empty.ts";
import { kwokClass } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { budget, deployment } from "./workloads.ts";

const withBudgets = (...budgets: readonly object[]) => ({ disruption: { ...eager, budgets } });

/** So many nodes of four cpus, and no pod on them any more. */
async function emptyNodes(
  cluster: StoryCluster,
  count: number,
  { disruption }: ReturnType<typeof withBudgets>,
): Promise<void> {
  const four = (own: object) => eagerPool({ requirements: [cpuIs("4")], spec: { disruption: own } });
  await cluster.apply(kwokClass, four(stopped), deployment("web", { replicas: count, cpu: "3" }));
  await cluster.until("all pods run", running(cluster, "web", count));
  await cluster.until("each on a node", settled(cluster, count));
  await scaleToNone(cluster, "web");
  await cluster.apply(four(disruption));
}

export const disruptionBudgets: readonly Story[] = [
  {
    title: "03:D-29b 03:D-28 of empty nodes as many go at a time as the budget says",
    run: async (cluster) => {
      await emptyNodes(cluster, 5, withBudgets({ nodes: "2" }));
      const most = await mostAtOnce(cluster, "all go", { probe: nothingLeft(cluster), seconds: 400 });
      expect(most).toBe(2);
    },
  },
  {
    title: "03:D-22 a tenth of three nodes is one node",
    run: async (cluster) => {
      await emptyNodes(cluster, 3, withBudgets({ nodes: "10%" }));
      expect(await mostAtOnce(cluster, "all go", { probe: nothingLeft(cluster), seconds: 400 })).toBe(1);
    },
  },
  {
    title: "03:D-21 the strictest of several budgets counts",
    run: async (cluster) => {
      await emptyNodes(cluster, 3, withBudgets({ nodes: "100%" }, { nodes: "1", reasons: ["Empty"] }, { nodes: "2" }));
      expect(await mostAtOnce(cluster, "all go", { probe: nothingLeft(cluster), seconds: 400 })).toBe(1);
    },
  },
  {
    title: "03:D-21 a budget for drift holds drifted nodes until they are empty",
    run: async (cluster) => {
      const spec = withBudgets({ nodes: "0", reasons: ["Drifted"] }, { nodes: "100%" });
      const of = (generation: string) => eagerPool({ requirements: [cpuIs("4")], spec, labels: { generation } });
      await cluster.apply(kwokClass, of("one"), deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      await cluster.apply(of("two"));
      await cluster.pass(60);
      expect(nameOf(await theNode(cluster))).toBe(old);
      await cluster.scale("web", 0);
      await cluster.until("it goes", nothingLeft(cluster), 120);
    },
  },
  {
    title: "03:D-21 a budget for underused nodes does not hold drifted ones",
    run: async (cluster) => {
      const spec = withBudgets({ nodes: "0", reasons: ["Underutilized"] }, { nodes: "100%" });
      await halfEmpty(cluster, { spec, labels: { generation: "one" } });
      await cluster.pass(60);
      const old = (await nodesOf(cluster)).map(nameOf);
      expect(old).toHaveLength(2);
      await cluster.apply(eagerPool({ requirements: [cpuIs("4")], spec, labels: { generation: "two" } }));
      await cluster.until("both are replaced", replaced(cluster, old), 400);
      await cluster.until("both pods run", running(cluster, "web", 2));
    },
  },
  {
    title: "03:D-28 every pool has a budget of its own",
    run: async (cluster) => {
      const of = (name: string, disruption: object) =>
        eagerPool({ name, requirements: [cpuIs("4")], spec: { disruption }, labels: { team: name } });
      const on = (team: string) => deployment(team, { cpu: "3", pod: { nodeSelector: { team } } });
      await cluster.apply(kwokClass, of("a", stopped), of("b", stopped), on("a"), on("b"));
      for (const team of ["a", "b"]) await cluster.until(`${team} runs`, running(cluster, team, 1));
      await cluster.apply(of("b", eager));
      await cluster.scale("a", 0);
      await cluster.scale("b", 0);
      await cluster.until("that of b goes", async () => (await nodesOf(cluster, "b")).length === 0, 120);
      expect(await nodesOf(cluster, "a")).toHaveLength(1);
    },
  },
  {
    title: "03:D-24 03:D-27 a node that was deleted by hand uses up the budget until it is gone",
    run: async (cluster) => {
      await cluster.apply(budget("kept", { maxUnavailable: 0 }));
      await emptyNodesAnd(cluster, "kept");
      const [kept] = await podsOf(cluster, "kept");
      const claim = (await claimsOf(cluster)).find(({ status }) => status?.nodeName === kept?.spec.nodeName);
      await cluster.remove(karpenterTypes.NodeClaim, claim === undefined ? "" : nameOf(claim));
      await cluster.pass(hearsaySeconds);
      await openBudget(cluster, [{ nodes: "1" }]);
      await cluster.pass(90);
      const others = (await nodesOf(cluster)).filter((node) => nameOf(node) !== kept?.spec.nodeName);
      expect(others.filter((node) => isLeaving(node) || isTainted(node))).toEqual([]);
      expect(others).not.toEqual([]);
      await cluster.remove(builtInTypes.PodDisruptionBudget, "kept");
      await cluster.scale("kept", 0);
      await cluster.until("all go", nothingLeft(cluster), 300);
    },
  },
  {
    title: "03:D-24 a node that is not ready uses up the budget",
    run: async (cluster) => {
      await emptyNodesAnd(cluster, "sick");
      const [sick] = await podsOf(cluster, "sick");
      const name = sick?.spec.nodeName ?? "";
      cluster.cloud.setKubelet(name, "not-ready");
      await cluster.until("it is not ready", async () => !isReady((await nodeNamed(cluster, name)) ?? {}), 120);
      await cluster.pass(hearsaySeconds);
      await openBudget(cluster, [{ nodes: "1" }]);
      await cluster.pass(60);
      expect((await nodesOf(cluster)).some((node) => isLeaving(node) || isTainted(node))).toBe(false);
      cluster.cloud.setKubelet(name, "healthy");
      await cluster.until("the others go", async () => (await nodesOf(cluster)).length === 1, 300);
      expect(nameOf(await theNode(cluster))).toBe(name);
    },
  },
  {
    title: "03:D-27 a budget of none does not hold what is repaired",
    settings: { gates: { ...defaultGates, NodeRepair: true } },
    needsVirtualTime: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool({ spec: { disruption: stopped } }), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      cluster.cloud.setKubelet(old, "not-ready");
      await cluster.until("it is replaced", replaced(cluster, [old]), 1_500);
      await cluster.until("it runs again", running(cluster, "web", 1));
    },
  },
  {
    title: "03:D-25 a window that opens while nodes go holds those that are left",
    needsVirtualTime: true,
    isLong: true,
    run: async (cluster) => {
      const at = new Date(cluster.now() + 10 * 60_000);
      const schedule = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
      await emptyNodes(cluster, 2, withBudgets({ nodes: "1" }, { nodes: "0", schedule, duration: "2h" }));
      await cluster.until("one goes", settled(cluster, 1), 120);
      await cluster.apply(deployment("busy", { cpu: "3" }));
      await cluster.until("the other is used", running(cluster, "busy", 1));
      await cluster.pass(Math.max(0, (at.getTime() - cluster.now()) / 1_000 + 60));
      await scaleToNone(cluster, "busy");
      await cluster.pass(3_600);
      expect(await nodesOf(cluster)).toHaveLength(1);
      await cluster.until("it goes when the window is over", nothingLeft(cluster), 4_000);
    },
  },
];

/** Two empty nodes of four cpus, one with a pod of `app`, and a budget of none. */
async function emptyNodesAnd(cluster: StoryCluster, app: string): Promise<void> {
  const four = eagerPool({ requirements: [cpuIs("4")], spec: { disruption: stopped } });
  await cluster.apply(kwokClass, four, deployment(app, { cpu: "3" }), deployment("web", { replicas: 2, cpu: "3" }));
  await cluster.until("it runs", running(cluster, app, 1));
  await cluster.until("the others run", running(cluster, "web", 2));
  await cluster.until("three nodes", settled(cluster, 3));
  await cluster.scale("web", 0);
  await cluster.until("the others are gone", async () => (await podsOf(cluster, "web")).length === 0);
  await cluster.pass(hearsaySeconds);
}

function openBudget(cluster: StoryCluster, budgets: readonly object[]): Promise<void> {
  return cluster.patch(karpenterTypes.NodePool, "default", { spec: { disruption: { ...eager, budgets } } });
}

async function nodeNamed(cluster: StoryCluster, name: string) {
  return (await nodesOf(cluster)).find((node) => nameOf(node) === name);
}
