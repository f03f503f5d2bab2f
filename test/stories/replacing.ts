import { expect } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  hearsaySeconds,
  isLeaving,
  nameOf,
  nodesOf,
  nothingLeft,
  podsOf,
  running,
  settled,
  theNode,
  told,
  whereRuns,
} from "./facts.ts";
import { cpuIs, eager, eagerPool, halfEmpty, isTainted, replaced, stopped } from "./half-empty.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, budget, daemonSet, deployment, job, onePerNode, spreadOver, undisturbed } from "./workloads.ts";

const decisions = (cluster: StoryCluster, type: string): number =>
  [...cluster.series()]
    .filter(([name]) => name.startsWith("voluntary_disruption_decisions_total{"))
    .filter(([name]) => name.includes(`consolidation_type="${type}"`))
    .reduce((sum, [, value]) => sum + value, 0);

/** A node that is much too large: two of many pods are left on it. */
async function tooLarge(cluster: StoryCluster, nodePool: object = eagerPool(), replicas = 10): Promise<string> {
  await cluster.apply(kwokClass, nodePool, deployment("web", { replicas, cpu: "2", memory: "4Gi" }));
  await cluster.until("all pods run", running(cluster, "web", replicas));
  const large = nameOf(await theNode(cluster));
  await cluster.scale("web", 2);
  return large;
}

const isMarked = (cluster: StoryCluster) => async () => (await nodesOf(cluster)).some(isTainted);

const setDisruption = (cluster: StoryCluster, disruption: object) =>
  cluster.patch(karpenterTypes.NodePool, "default", { spec: { disruption } });

/** One small node and both pods on it, with no marks. */
async function comesToRest(cluster: StoryCluster, large: string): Promise<void> {
  await cluster.until("another node", replaced(cluster, [large]), 900);
  await cluster.until("at rest", settled(cluster, 1), 600);
  await cluster.until("both pods run", running(cluster, "web", 2));
  expect((await nodesOf(cluster)).some(isTainted)).toBe(false);
}

export const replacing: readonly Story[] = [
  {
    title: "03:D-51 03:D-53 three nodes become one that is cheaper than the three",
    isSmoke: true,
    run: async (cluster) => {
      const of = (disruption: object, ...types: string[]) =>
        eagerPool({ requirements: [isIn(labels.instanceType, ...types)], spec: { disruption } });
      const [small, large] = ["s-4x-amd64-linux", "c-8x-amd64-linux"];
      await cluster.apply(kwokClass, of(stopped, small), deployment("web", { replicas: 3, cpu: "2500m" }));
      await cluster.until("all pods run", running(cluster, "web", 3));
      await cluster.until("three nodes", settled(cluster, 3));
      await cluster.apply(of(eager, small, large));
      await cluster.until("one node", settled(cluster, 1), 300);
      await cluster.until("all pods run", running(cluster, "web", 3));
      expect(await whereRuns(cluster, "web", labels.instanceType)).toEqual([large, large, large]);
      expect(decisions(cluster, "multi")).toBeGreaterThan(0);
    },
  },
  {
    title: "03:D-47 with its gate spot is replaced by cheaper spot",
    settings: { gates: { ...defaultGates, SpotToSpotConsolidation: true } },
    run: async (cluster) => {
      const spot = isIn(labels.capacityType, "spot");
      // So large that fifteen types are cheaper.
      const large = await tooLarge(cluster, pool({ requirements: [spot], spec: { disruption: eager } }), 50);
      await comesToRest(cluster, large);
      expect(await whereRuns(cluster, "web", labels.capacityType)).toEqual(["spot", "spot"]);
    },
  },
  {
    title: "03:D-48 an on-demand node becomes a spot node once the pool allows spot",
    run: async (cluster) => {
      const of = (...types: string[]) =>
        pool({ requirements: [cpuIs("4"), isIn(labels.capacityType, ...types)], spec: { disruption: eager } });
      await cluster.apply(kwokClass, of("on-demand"), deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      await cluster.apply(of("on-demand", "spot"));
      await cluster.until("it is replaced", replaced(cluster, [old]), 400);
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", labels.capacityType)).toEqual(["spot"]);
    },
  },
  {
    title: "03:D-34 03:D-48 a price that falls is noticed at once, and the node is replaced",
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")] }), deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      await cluster.pass(60);
      expect(nameOf(await theNode(cluster))).toBe(old);
      cluster.cloud.setPrice({ instanceType: "m-4x-amd64-linux" }, 0.0001);
      await cluster.until("it is replaced", replaced(cluster, [old]), 120);
      expect((await theNode(cluster)).metadata.labels?.[labels.instanceType]).toBe("m-4x-amd64-linux");
    },
  },
  {
    title: "03:D-48 a price that rises moves nobody who has nowhere cheaper to go",
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")] }), deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      cluster.cloud.setPrice({}, 5);
      await cluster.pass(90);
      expect((await nodesOf(cluster)).map(nameOf)).toEqual([old]);
    },
  },
  {
    title: "03:D-75 a replacement whose first choice is out of stock is launched as the next cheapest",
    run: async (cluster) => {
      const nodePool = eagerPool({ requirements: [cpuIs("4", "8", "32")] });
      cluster.cloud.setAvailableCount({ instanceType: "c-8x-amd64-linux" }, 0);
      const large = await tooLarge(cluster, nodePool);
      await comesToRest(cluster, large);
      expect(await whereRuns(cluster, "web", labels.instanceType)).not.toContain("c-8x-amd64-linux");
    },
  },
  {
    title: "03:D-75 03:D-79 a replacement that a person deletes ends the command, and another one comes",
    run: async (cluster) => {
      const large = await tooLarge(cluster);
      await cluster.until("a replacement starts", async () => (await claimsOf(cluster)).length === 2, 300);
      const claim = (await claimsOf(cluster)).find(({ status }) => status?.nodeName !== large);
      await cluster.remove(karpenterTypes.NodeClaim, claim === undefined ? "" : nameOf(claim));
      await comesToRest(cluster, large);
    },
  },
  {
    title: "03:D-80 a node that a person deletes while its replacement starts is not waited for",
    run: async (cluster) => {
      const large = await tooLarge(cluster);
      await cluster.until("it is marked", isMarked(cluster), 300);
      await cluster.remove(builtInTypes.Node, large);
      await comesToRest(cluster, large);
    },
  },
  {
    title: "03:I-3 a node that is interrupted while its replacement starts leaves nothing behind",
    run: async (cluster) => {
      const large = await tooLarge(cluster);
      await cluster.until("it is marked", isMarked(cluster), 300);
      cluster.cloud.interrupt(large);
      await comesToRest(cluster, large);
    },
  },
  {
    title: "03:D-75 03:D-77 node and replacement say in events what happens to them",
    run: async (cluster) => {
      const large = await tooLarge(cluster);
      await cluster.until("it says it goes", told(cluster, { about: large, reason: "DisruptionTerminating" }), 300);
      const claim = (await claimsOf(cluster)).find(({ status }) => status?.nodeName !== large);
      const name = claim === undefined ? "" : nameOf(claim);
      expect(await told(cluster, { about: name, reason: "DisruptionLaunching", words: "Underutilized" })()).toBe(true);
      expect(await told(cluster, { about: large, reason: "ConsolidationCandidate" })()).toBe(true);
      await comesToRest(cluster, large);
    },
  },
  {
    title: "03:D-61 a budget of pods that appears while a command waits stops it",
    run: async (cluster) => {
      await halfEmpty(cluster, { isStopped: true });
      await setDisruption(cluster, eager);
      await cluster.pass(8);
      await cluster.apply(budget("web", { maxUnavailable: 0 }));
      await cluster.pass(60);
      expect(await nodesOf(cluster)).toHaveLength(2);
      expect((await nodesOf(cluster)).some(isTainted)).toBe(false);
      await cluster.remove(builtInTypes.PodDisruptionBudget, "web");
      await cluster.until("one node is left", settled(cluster, 1), 120);
    },
  },
  {
    title: "03:D-61 a protected pod that arrives while a replacement is being considered stops it",
    run: async (cluster) => {
      const large = await tooLarge(cluster);
      await cluster.pass(8);
      await cluster.apply(barePod("careful", { annotations: undisturbed, cpu: "100m", memory: "64Mi" }));
      await cluster.until("it runs", running(cluster, "careful", 1));
      await cluster.pass(60);
      expect((await nodesOf(cluster)).map(nameOf)).toContain(large);
      await cluster.remove(builtInTypes.Pod, "careful");
      await comesToRest(cluster, large);
    },
  },
  {
    title: "03:D-34 a protected job holds its node until it is done, and not much longer",
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")] }));
      await cluster.apply(withAnnotations(job("batch", { seconds: 60, completions: 1 }), undisturbed));
      await cluster.until("it runs", async () => (await nodesOf(cluster)).length === 1);
      await cluster.pass(30);
      expect((await nodesOf(cluster)).some((node) => isTainted(node) || isLeaving(node))).toBe(false);
      await cluster.until("the node goes", nothingLeft(cluster), 150);
    },
  },
  {
    title: "03:D-44 pods that must be apart keep their nodes",
    run: async (cluster) => {
      const web = deployment("web", { replicas: 3, cpu: "200m", pod: onePerNode("web") });
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("1")] }), web);
      await cluster.until("all pods run", running(cluster, "web", 3));
      await cluster.pass(90);
      await cluster.until("three nodes", settled(cluster, 3));
      expect(decisions(cluster, "single") + decisions(cluster, "multi")).toBe(0);
    },
  },
  {
    title: "03:D-44 pods that are spread over zones stay so when nodes go",
    run: async (cluster) => {
      const zones = isIn(labels.zone, "test-zone-a", "test-zone-b", "test-zone-c");
      const web = deployment("web", { replicas: 3, cpu: "1", pod: spreadOver("web", labels.zone) });
      const nodePool = (disruption: object) => eagerPool({ requirements: [cpuIs("4"), zones], spec: { disruption } });
      await cluster.apply(kwokClass, nodePool(stopped), web, deployment("large", { replicas: 3, cpu: "2500m" }));
      await cluster.until("all pods run", running(cluster, "web", 3));
      await cluster.until("the others too", running(cluster, "large", 3));
      await cluster.scale("large", 0);
      await cluster.apply(nodePool(eager));
      await cluster.until("three nodes", settled(cluster, 3), 300);
      await cluster.pass(60);
      expect(new Set(await whereRuns(cluster, "web", labels.zone)).size).toBe(3);
      expect(await nodesOf(cluster)).toHaveLength(3);
    },
  },
  {
    title: "03:D-29c pods of a DaemonSet do not keep a node",
    run: async (cluster) => {
      const agent = daemonSet("agent", { cpu: "100m", memory: "64Mi" });
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")] }), agent, deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.scale("web", 0);
      await cluster.until("all is given back", nothingLeft(cluster), 150);
    },
  },
  {
    title: "03:D-5 03:D-9 the node whose pods are cheaper to evict goes first",
    run: async (cluster) => {
      await halfEmpty(cluster, { isStopped: true });
      const [pod] = await podsOf(cluster, "web");
      const cost = { metadata: { annotations: { [annotations.podDeletionCost]: "2147483647" } } };
      await cluster.patch(builtInTypes.Pod, pod === undefined ? "" : nameOf(pod), cost);
      await cluster.pass(hearsaySeconds);
      await setDisruption(cluster, { ...eager, budgets: [{ nodes: "1" }] });
      await cluster.until("one node is left", settled(cluster, 1), 180);
      expect(nameOf(await theNode(cluster))).toBe(pod?.spec.nodeName);
    },
  },
  {
    title: "03:D-29a room that a buffer keeps is not given back",
    settings: { gates: { ...defaultGates, CapacityBuffer: true } },
    run: async (cluster) => {
      const scalableRef = { apiGroup: "apps", kind: "Deployment", name: "web" };
      const spare = {
        apiVersion: "autoscaling.x-k8s.io/v1beta1",
        kind: "CapacityBuffer",
        metadata: { name: "spare" },
        spec: { scalableRef, replicas: 1 },
      };
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")] }), deployment("web", { cpu: "3" }), spare);
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.until("two nodes", settled(cluster, 2));
      await cluster.pass(120);
      expect(await nodesOf(cluster)).toHaveLength(2);
      await cluster.remove(karpenterTypes.CapacityBuffer, "spare");
      await cluster.until("one node is left", settled(cluster, 1), 180);
    },
  },
  {
    title: "03:D-36 a pool that begins to consolidate gives back what it did not before",
    run: async (cluster) => {
      await halfEmpty(cluster, { spec: { disruption: { ...eager, consolidationPolicy: "WhenEmpty" } } });
      await cluster.pass(60);
      expect(await nodesOf(cluster)).toHaveLength(2);
      await setDisruption(cluster, eager);
      await cluster.until("one node is left", settled(cluster, 1), 120);
    },
  },
  {
    title: "03:B-1 with Balanced a node that saves little for what it disrupts stays",
    run: async (cluster) => {
      const balanced = { ...eager, consolidationPolicy: "Balanced" };
      const nodePool = eagerPool({ requirements: [cpuIs("16", "32")], spec: { disruption: balanced } });
      const pods = { replicas: 30, cpu: "500m", memory: "64Mi" };
      await cluster.apply(kwokClass, nodePool, deployment("web", pods));
      await cluster.until("all pods run", running(cluster, "web", 30));
      const old = (await nodesOf(cluster)).map(nameOf);
      cluster.cloud.setPrice({ instanceType: "s-16x-amd64-linux" }, 0.42); // a little less than what it has
      await cluster.pass(120);
      expect((await nodesOf(cluster)).map(nameOf)).toEqual(old);
    },
  },
  {
    title: "02:O-2 03:D-34 an overlay that makes another type cheaper has the node replaced",
    settings: { gates: { ...defaultGates, NodeOverlay: true } },
    run: async (cluster) => {
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")] }), deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      const requirements = [isIn(labels.instanceType, "m-4x-amd64-linux")];
      const spec = { requirements, price: "0.0001" };
      await cluster.apply({
        apiVersion: "karpenter.sh/v1alpha1",
        kind: "NodeOverlay",
        metadata: { name: "cheap" },
        spec,
      });
      await cluster.until("it is replaced", replaced(cluster, [old]), 180);
      expect(await whereRuns(cluster, "web", labels.instanceType)).toEqual(["m-4x-amd64-linux"]);
    },
  },
  {
    title: "03:D-43 a pod that waits for ever holds nothing back",
    run: async (cluster) => {
      await cluster.apply(barePod("giant", { cpu: "5000" }));
      await halfEmpty(cluster);
      await cluster.until("one node is left", settled(cluster, 1), 150);
    },
  },
  {
    title: "03:D-38 03:D-73 pods that arrive while nodes go get their place, and no node too many",
    run: async (cluster) => {
      await halfEmpty(cluster, { count: 4 });
      await cluster.pass(10);
      await cluster.apply(deployment("more", { replicas: 2, cpu: "1" }));
      await cluster.until("the new ones run", running(cluster, "more", 2));
      await cluster.until("the old ones run", running(cluster, "web", 4), 300);
      await cluster.until("two nodes are left", settled(cluster, 2), 400);
    },
  },
  {
    title: "03:D-3 03:D-79 a stock-out in the middle leaves no node marked, and what is there runs on",
    run: async (cluster) => {
      const large = await tooLarge(cluster);
      cluster.cloud.setAvailableCount({}, 0);
      await cluster.until("it was tried", async () => cluster.log().some(isGivenUp), 400);
      await cluster.until("no marks", async () => !(await isMarked(cluster)()), 120);
      expect(nameOf(await theNode(cluster))).toBe(large);
      await cluster.until("both pods run", running(cluster, "web", 2));
    },
  },
  {
    title: "03:M-4 03:D-29a a node that is empty for a moment only is kept by consolidateAfter",
    run: async (cluster) => {
      const spec = { disruption: { ...eager, consolidateAfter: "60s" } };
      await cluster.apply(kwokClass, eagerPool({ requirements: [cpuIs("4")], spec }), deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      for (let round = 0; round < 3; round++) {
        await cluster.scale("web", 0);
        await cluster.pass(25);
        await cluster.scale("web", 1);
        await cluster.until("it runs", running(cluster, "web", 1));
      }
      expect((await nodesOf(cluster)).map(nameOf)).toEqual([old]);
      await cluster.scale("web", 0);
      await cluster.until("then it goes", nothingLeft(cluster), 240);
    },
  },
  {
    title: "03:E-1 a node that expires is replaced though consolidation would keep it",
    needsVirtualTime: true,
    isLong: true,
    run: async (cluster) => {
      const nodePool = eagerPool({
        requirements: [cpuIs("4")],
        template: { expireAfter: "30m" },
        spec: { disruption: stopped },
      });
      await cluster.apply(kwokClass, nodePool, deployment("web", { cpu: "3" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const old = nameOf(await theNode(cluster));
      await cluster.until("it is replaced", replaced(cluster, [old]), 2_400);
      await cluster.until("it runs", running(cluster, "web", 1));
    },
  },
];

function isGivenUp({ message }: { readonly message: string }): boolean {
  return message === "failed terminating nodes while executing a disruption command";
}

function withAnnotations(workload: ReturnType<typeof job>, own: Readonly<Record<string, string>>) {
  const { template } = workload.spec;
  const metadata = { ...template.metadata, annotations: { ...template.metadata.annotations, ...own } };
  return { ...workload, spec: { ...workload.spec, template: { ...template, metadata } } };
}
