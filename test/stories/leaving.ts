import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  givenBack,
  gone,
  isLeaving,
  isReady,
  type LiveClaim,
  logged,
  nameOf,
  nodesOf,
  nothingLeft,
  podsOf,
  running,
  settled,
  theClaim,
  theNode,
  told,
  whereRuns,
} from "./facts.ts";
import { kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, deployment, onePerNode } from "./workloads.ts";

const repairing = { gates: { ...defaultGates, NodeRepair: true } };

/** Pods that stay where they are, however their node does. */
const loyal = ["not-ready", "unreachable"].map((trouble) => ({
  key: `node.kubernetes.io/${trouble}`,
  operator: "Exists",
  effect: "NoExecute",
}));

/** A pool and an app of so many pods that run, on a node each. */
async function runsOnNodes(cluster: StoryCluster, replicas: number): Promise<readonly string[]> {
  await cluster.apply(
    kwokClass,
    pool(),
    deployment("web", { replicas, pod: { ...onePerNode("web"), tolerations: loyal } }),
  );
  await cluster.until("all run", running(cluster, "web", replicas));
  await cluster.until("they are settled", settled(cluster, replicas));
  return (await nodesOf(cluster)).map(nameOf);
}

/** Nothing is left of the node, its claim and its machine, and the app runs whole elsewhere. */
async function isReplaced(cluster: StoryCluster, node: string, replicas: number): Promise<void> {
  await cluster.until("the node is gone", gone(cluster, builtInTypes.Node, node));
  await cluster.until("all run again", running(cluster, "web", replicas));
  await cluster.until("they are settled", settled(cluster, replicas));
  expect((await nodesOf(cluster)).map(nameOf)).not.toContain(node);
}

/** Type, zone and capacity type of a claim's instance. */
function offeringOf(claim: LiveClaim | undefined): readonly (string | undefined)[] {
  return [labels.instanceType, labels.zone, labels.capacityType].map((label) => claim?.metadata.labels?.[label]);
}

export const leaving: readonly Story[] = [
  {
    title: "03:L-32 a claim deleted by hand takes its node and its machine along, and its pods move",
    isSmoke: true,
    run: async (cluster) => {
      const [node = ""] = await runsOnNodes(cluster, 2);
      const claim = (await claimsOf(cluster)).find(({ status }) => status?.nodeName === node);
      await cluster.remove(karpenterTypes.NodeClaim, claim?.metadata.name ?? "");
      await isReplaced(cluster, node, 2);
    },
  },
  {
    title: "03:T-1 a node deleted by hand takes its claim and its machine along, and its pods move",
    run: async (cluster) => {
      const [node = ""] = await runsOnNodes(cluster, 2);
      await cluster.remove(builtInTypes.Node, node);
      await isReplaced(cluster, node, 2);
    },
  },
  {
    title: "03:T-5 03:G-2 a machine that vanishes takes its node and its claim along",
    needsVirtualTime: true,
    run: async (cluster) => {
      const [node = ""] = await runsOnNodes(cluster, 2);
      cluster.cloud.vanish(node);
      await isReplaced(cluster, node, 2);
    },
  },
  {
    title: "03:G-1 a machine that vanishes with its node is noticed by its claim",
    needsVirtualTime: true,
    run: async (cluster) => {
      const [node = ""] = await runsOnNodes(cluster, 1);
      const claim = nameOf(await theClaim(cluster));
      cluster.cloud.vanish(node);
      await cluster.patch(builtInTypes.Node, node, { metadata: { finalizers: null } });
      await cluster.remove(builtInTypes.Node, node);
      await cluster.until("its claim goes", gone(cluster, karpenterTypes.NodeClaim, claim), 300);
      await isReplaced(cluster, node, 1);
    },
  },
  {
    title: "03:L-18 05:CP-L11 a node that falls silent loses its pods to others, and is used again when it is back",
    needsVirtualTime: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { pod: onePerNode("web") }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const silent = nameOf(await theNode(cluster));
      cluster.cloud.setKubelet(silent, "silent");
      await cluster.until(
        "it runs elsewhere",
        async () => {
          const [pod] = await podsOf(cluster, "web");
          return pod !== undefined && isReady(pod) && pod.spec.nodeName !== silent;
        },
        600,
      );
      expect((await nodesOf(cluster)).filter(isLeaving)).toEqual([]);
      expect(await claimsOf(cluster)).toHaveLength(2);
      cluster.cloud.setKubelet(silent, "healthy");
      await cluster.scale("web", 2);
      await cluster.until("two run", running(cluster, "web", 2));
      await cluster.until("on two nodes", settled(cluster, 2));
    },
  },
  {
    title: "03:L-33 a claim deleted while its machine boots leaves nothing behind",
    run: async (cluster) => {
      await cluster.apply({ ...kwokClass, spec: { nodeRegistrationDelay: "8s" } }, pool(), barePod("web"));
      await cluster.until("a machine", async () => cluster.cloud.list().length === 1);
      await cluster.remove(builtInTypes.Pod, "web");
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(await theClaim(cluster)));
      await cluster.until("all is given back", nothingLeft(cluster));
    },
  },
  {
    title: "03:I-3 03:I-6 a spot interruption empties the node before the machine is taken",
    isSmoke: true,
    run: async (cluster) => {
      const [node = ""] = await runsOnNodes(cluster, 2);
      const before = await claimsOf(cluster);
      const interrupted = before.find(({ status }) => status?.nodeName === node);
      cluster.cloud.interrupt(node);
      await cluster.until("it is told", told(cluster, { about: node, reason: "SpotInterrupted" }));
      await isReplaced(cluster, node, 2);
      const known = new Set(before.map(nameOf));
      const replacements = (await claimsOf(cluster)).filter((claim) => !known.has(nameOf(claim)));
      expect(replacements).toHaveLength(1);
      expect(replacements.map(offeringOf)).not.toEqual([offeringOf(interrupted)]);
    },
  },
  {
    title: "03:I-3 advice to rebalance is told and not acted on",
    run: async (cluster) => {
      const [node = ""] = await runsOnNodes(cluster, 1);
      cluster.cloud.notify(node, "rebalance_recommendation");
      await cluster.until("it is told", told(cluster, { about: node, reason: "SpotRebalanceRecommendation" }));
      await cluster.pass(5);
      expect((await theNode(cluster)).metadata.deletionTimestamp).toBeUndefined();
      expect(await running(cluster, "web", 1)()).toBe(true);
    },
  },
  {
    title: "03:E-1 03:E-2 a claim that has reached its age is replaced",
    needsVirtualTime: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool({ template: { expireAfter: "1h" } }), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const first = nameOf(await theClaim(cluster));
      await cluster.pass(3_500);
      expect(nameOf(await theClaim(cluster))).toBe(first);
      await cluster.until("it expires", gone(cluster, karpenterTypes.NodeClaim, first), 180);
      await cluster.until("it runs again", running(cluster, "web", 1));
      expect(logged(cluster, "deleting expired nodeclaim")).toBe(1);
      await cluster.until("one node", settled(cluster, 1));
    },
  },
  {
    title: "03:R-3 03:R-5 a node that stays unwell is replaced, without asking its pods",
    needsVirtualTime: true,
    settings: repairing,
    run: async (cluster) => {
      const [node = ""] = await runsOnNodes(cluster, 3);
      cluster.cloud.setKubelet(node, "not-ready");
      await cluster.pass(9 * 60);
      expect(await cluster.get(builtInTypes.Node, node)).toBeDefined();
      await isReplaced(cluster, node, 3);
      expect(logged(cluster, "deleting unhealthy node")).toBe(1);
    },
  },
  {
    title: "03:R-4 when more than a fifth of a pool is unwell nobody is repaired",
    needsVirtualTime: true,
    settings: repairing,
    run: async (cluster) => {
      const nodes = await runsOnNodes(cluster, 5);
      const sick = nodes.slice(0, 2);
      for (const node of sick) cluster.cloud.setKubelet(node, "silent");
      await cluster.pass(20 * 60);
      for (const node of sick) {
        expect((await cluster.get(builtInTypes.Node, node))?.metadata).not.toHaveProperty("deletionTimestamp");
        expect(await told(cluster, { about: node, reason: "NodeRepairBlocked" })()).toBe(true);
      }
      expect(logged(cluster, "deleting unhealthy node")).toBe(0);
      cluster.cloud.setKubelet(sick[0] ?? "", "healthy");
      await isReplaced(cluster, sick[1] ?? "", 5);
    },
  },
  {
    title: "03:G-3 a machine nobody claims is ended",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const [machine] = cluster.cloud.records();
      if (machine === undefined) throw new Error("no machine");
      const stray = { id: "stray", providerId: "kwok://stray", nodeName: "stray", kubelet: "silent" as const };
      cluster.cloud.restore([
        { ...machine, instance: { ...machine.instance, ...stray }, clientToken: "stray", claimName: "stray" },
      ]);
      await cluster.until("it is ended", async () => cluster.cloud.list().every(({ id }) => id !== "stray"));
      expect(await running(cluster, "web", 1)()).toBe(true);
      await cluster.until("the other stays", settled(cluster, 1));
    },
  },
  {
    title: "03:D-11 a node that is not ours is not touched",
    run: async (cluster) => {
      const metadata = { name: "own-metal", labels: { [labels.hostname]: "own-metal", [labels.os]: "linux" } };
      const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
      await cluster.apply(kwokClass, pool(), {
        apiVersion: "v1",
        kind: "Node",
        metadata,
        spec: { providerID: "metal:///1" },
      });
      await cluster.patch(
        builtInTypes.Node,
        "own-metal",
        { status: { capacity, allocatable: capacity } },
        { subresource: "status" },
      );
      await cluster.apply(deployment("web"));
      await cluster.pass(10);
      const node = await cluster.get(builtInTypes.Node, "own-metal");
      expect(node?.metadata.finalizers ?? []).toEqual([]);
      expect(Object.keys(node?.metadata.labels ?? {}).filter((key) => key.startsWith("karpenter"))).toEqual([]);
      await cluster.remove(builtInTypes.Node, "own-metal");
      await cluster.until("it goes at once", gone(cluster, builtInTypes.Node, "own-metal"), 5);
    },
  },
  {
    title: "03:L-35 a pool deleted with everything running gives everything back, and pods move to another",
    run: async (cluster) => {
      await runsOnNodes(cluster, 2);
      await cluster.apply(pool({ name: "other" }));
      await cluster.remove(karpenterTypes.NodePool, "default");
      await cluster.until("they moved", async () => {
        const pools = await whereRuns(cluster, "web", labels.nodePool);
        return pools.length === 2 && pools.every((name) => name === "other") && (await running(cluster, "web", 2)());
      });
      await cluster.until("two nodes", settled(cluster, 2));
    },
  },
  {
    title: "03:T-32 a bare pod on a node that goes is gone for good",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), barePod("lonely"));
      await cluster.until("it runs", running(cluster, "lonely", 1));
      const claim = await theClaim(cluster);
      await cluster.remove(builtInTypes.Node, claim.status?.nodeName ?? "");
      await cluster.until("all is given back", givenBack(cluster, claim));
      expect(await podsOf(cluster, "lonely")).toEqual([]);
      await cluster.until("it was told", told(cluster, { about: "lonely", reason: "Evicted" }));
    },
  },
];
