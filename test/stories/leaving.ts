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
import type { Stage, Story } from "./story.ts";
import { barePod, deployment, onePerNode } from "./workloads.ts";

const repairing = { gates: { ...defaultGates, NodeRepair: true } };

/** Pods that stay where they are, however their node does. */
const loyal = ["not-ready", "unreachable"].map((trouble) => ({
  key: `node.kubernetes.io/${trouble}`,
  operator: "Exists",
  effect: "NoExecute",
}));

/** A pool and an app of so many pods that run, on a node each. */
async function runsOnNodes(stage: Stage, replicas: number): Promise<readonly string[]> {
  await stage.apply(
    kwokClass,
    pool(),
    deployment("web", { replicas, pod: { ...onePerNode("web"), tolerations: loyal } }),
  );
  await stage.until("all run", running(stage, "web", replicas));
  await stage.until("they are settled", settled(stage, replicas));
  return (await nodesOf(stage)).map(nameOf);
}

/** Nothing is left of the node, its claim and its machine, and the app runs whole elsewhere. */
async function isReplaced(stage: Stage, node: string, replicas: number): Promise<void> {
  await stage.until("the node is gone", gone(stage, builtInTypes.Node, node));
  await stage.until("all run again", running(stage, "web", replicas));
  await stage.until("they are settled", settled(stage, replicas));
  expect((await nodesOf(stage)).map(nameOf)).not.toContain(node);
}

export const leaving: readonly Story[] = [
  {
    title: "03:L-32 a claim deleted by hand takes its node and its machine along, and its pods move",
    isSmoke: true,
    play: async (stage) => {
      const [node = ""] = await runsOnNodes(stage, 2);
      const claim = (await claimsOf(stage)).find(({ status }) => status?.nodeName === node);
      await stage.remove(karpenterTypes.NodeClaim, claim?.metadata.name ?? "");
      await isReplaced(stage, node, 2);
    },
  },
  {
    title: "03:T-1 a node deleted by hand takes its claim and its machine along, and its pods move",
    play: async (stage) => {
      const [node = ""] = await runsOnNodes(stage, 2);
      await stage.remove(builtInTypes.Node, node);
      await isReplaced(stage, node, 2);
    },
  },
  {
    title: "03:T-5 03:G-2 a machine that vanishes takes its node and its claim along",
    needsVirtualTime: true,
    play: async (stage) => {
      const [node = ""] = await runsOnNodes(stage, 2);
      stage.cloud.vanish(node);
      await isReplaced(stage, node, 2);
    },
  },
  {
    title: "03:G-1 a machine that vanishes with its node is noticed by its claim",
    needsVirtualTime: true,
    play: async (stage) => {
      const [node = ""] = await runsOnNodes(stage, 1);
      const claim = nameOf(await theClaim(stage));
      stage.cloud.vanish(node);
      await stage.patch(builtInTypes.Node, node, { metadata: { finalizers: null } });
      await stage.remove(builtInTypes.Node, node);
      await stage.until("its claim goes", gone(stage, karpenterTypes.NodeClaim, claim), 300);
      await isReplaced(stage, node, 1);
    },
  },
  {
    title: "03:L-18 05:CP-L11 a node that falls silent loses its pods to others, and is used again when it is back",
    needsVirtualTime: true,
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { pod: onePerNode("web") }));
      await stage.until("it runs", running(stage, "web", 1));
      const silent = nameOf(await theNode(stage));
      stage.cloud.setKubelet(silent, "silent");
      await stage.until(
        "it runs elsewhere",
        async () => {
          const [pod] = await podsOf(stage, "web");
          return pod !== undefined && isReady(pod) && pod.spec.nodeName !== silent;
        },
        600,
      );
      expect((await nodesOf(stage)).filter(isLeaving)).toEqual([]);
      expect(await claimsOf(stage)).toHaveLength(2);
      stage.cloud.setKubelet(silent, "healthy");
      await stage.scale("web", 2);
      await stage.until("two run", running(stage, "web", 2));
      await stage.until("on two nodes", settled(stage, 2));
    },
  },
  {
    title: "03:L-33 a claim deleted while its machine boots leaves nothing behind",
    play: async (stage) => {
      await stage.apply({ ...kwokClass, spec: { nodeRegistrationDelay: "8s" } }, pool(), barePod("web"));
      await stage.until("a machine", async () => stage.cloud.list().length === 1);
      await stage.remove(builtInTypes.Pod, "web");
      await stage.remove(karpenterTypes.NodeClaim, nameOf(await theClaim(stage)));
      await stage.until("all is given back", nothingLeft(stage));
    },
  },
  {
    title: "03:I-3 03:I-6 a spot interruption empties the node before the machine is taken",
    isSmoke: true,
    play: async (stage) => {
      const [node = ""] = await runsOnNodes(stage, 2);
      const claim = (await claimsOf(stage)).find(({ status }) => status?.nodeName === node);
      const type = claim?.metadata.labels?.[labels.instanceType];
      const zone = claim?.metadata.labels?.[labels.zone];
      stage.cloud.interrupt(node);
      await stage.until("it is told", told(stage, { about: node, reason: "SpotInterrupted" }));
      await isReplaced(stage, node, 2);
      const young = (await claimsOf(stage)).at(-1)?.metadata.labels ?? {};
      const where = [young[labels.instanceType], young[labels.zone], young[labels.capacityType]];
      expect(where).not.toEqual([type, zone, "spot"]);
    },
  },
  {
    title: "03:I-3 advice to rebalance is told and not acted on",
    play: async (stage) => {
      const [node = ""] = await runsOnNodes(stage, 1);
      stage.cloud.notify(node, "rebalance_recommendation");
      await stage.until("it is told", told(stage, { about: node, reason: "SpotRebalanceRecommendation" }));
      await stage.pass(5);
      expect((await theNode(stage)).metadata.deletionTimestamp).toBeUndefined();
      expect(await running(stage, "web", 1)()).toBe(true);
    },
  },
  {
    title: "03:E-1 03:E-2 a claim that has reached its age is replaced",
    needsVirtualTime: true,
    play: async (stage) => {
      await stage.apply(kwokClass, pool({ template: { expireAfter: "1h" } }), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const first = nameOf(await theClaim(stage));
      await stage.pass(3_500);
      expect(nameOf(await theClaim(stage))).toBe(first);
      await stage.until("it expires", gone(stage, karpenterTypes.NodeClaim, first), 180);
      await stage.until("it runs again", running(stage, "web", 1));
      expect(logged(stage, "deleting expired nodeclaim")).toBe(1);
      await stage.until("one node", settled(stage, 1));
    },
  },
  {
    title: "03:R-3 03:R-5 a node that stays unwell is replaced, without asking its pods",
    needsVirtualTime: true,
    settings: repairing,
    play: async (stage) => {
      const [node = ""] = await runsOnNodes(stage, 3);
      stage.cloud.setKubelet(node, "not-ready");
      await stage.pass(9 * 60);
      expect(await stage.get(builtInTypes.Node, node)).toBeDefined();
      await isReplaced(stage, node, 3);
      expect(logged(stage, "deleting unhealthy node")).toBe(1);
    },
  },
  {
    title: "03:R-4 when more than a fifth of a pool is unwell nobody is repaired",
    needsVirtualTime: true,
    settings: repairing,
    play: async (stage) => {
      const nodes = await runsOnNodes(stage, 5);
      const sick = nodes.slice(0, 2);
      for (const node of sick) stage.cloud.setKubelet(node, "silent");
      await stage.pass(20 * 60);
      for (const node of sick) {
        expect((await stage.get(builtInTypes.Node, node))?.metadata).not.toHaveProperty("deletionTimestamp");
        expect(await told(stage, { about: node, reason: "NodeRepairBlocked" })()).toBe(true);
      }
      expect(logged(stage, "deleting unhealthy node")).toBe(0);
      stage.cloud.setKubelet(sick[0] ?? "", "healthy");
      await isReplaced(stage, sick[1] ?? "", 5);
    },
  },
  {
    title: "03:G-3 a machine nobody claims is ended",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const [machine] = stage.cloud.records();
      if (machine === undefined) throw new Error("no machine");
      const stray = { id: "stray", providerId: "kwok://stray", nodeName: "stray", kubelet: "silent" as const };
      stage.cloud.restore([
        { ...machine, instance: { ...machine.instance, ...stray }, clientToken: "stray", claimName: "stray" },
      ]);
      await stage.until("it is ended", async () => stage.cloud.list().every(({ id }) => id !== "stray"));
      expect(await running(stage, "web", 1)()).toBe(true);
      await stage.until("the other stays", settled(stage, 1));
    },
  },
  {
    title: "03:D-11 a node that is not ours is not touched",
    play: async (stage) => {
      const metadata = { name: "own-metal", labels: { [labels.hostname]: "own-metal", [labels.os]: "linux" } };
      const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
      await stage.apply(kwokClass, pool(), {
        apiVersion: "v1",
        kind: "Node",
        metadata,
        spec: { providerID: "metal:///1" },
      });
      await stage.patch(
        builtInTypes.Node,
        "own-metal",
        { status: { capacity, allocatable: capacity } },
        { subresource: "status" },
      );
      await stage.apply(deployment("web"));
      await stage.pass(10);
      const node = await stage.get(builtInTypes.Node, "own-metal");
      expect(node?.metadata.finalizers ?? []).toEqual([]);
      expect(Object.keys(node?.metadata.labels ?? {}).filter((key) => key.startsWith("karpenter"))).toEqual([]);
      await stage.remove(builtInTypes.Node, "own-metal");
      await stage.until("it goes at once", gone(stage, builtInTypes.Node, "own-metal"), 5);
    },
  },
  {
    title: "03:L-35 a pool deleted with everything running gives everything back, and pods move to another",
    play: async (stage) => {
      await runsOnNodes(stage, 2);
      await stage.apply(pool({ name: "other" }));
      await stage.remove(karpenterTypes.NodePool, "default");
      await stage.until("they moved", async () => {
        const pools = await whereRuns(stage, "web", labels.nodePool);
        return pools.length === 2 && pools.every((name) => name === "other") && (await running(stage, "web", 2)());
      });
      await stage.until("two nodes", settled(stage, 2));
    },
  },
  {
    title: "03:T-32 a bare pod on a node that goes is gone for good",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), barePod("lonely"));
      await stage.until("it runs", running(stage, "lonely", 1));
      const claim = await theClaim(stage);
      await stage.remove(builtInTypes.Node, claim.status?.nodeName ?? "");
      await stage.until("all is given back", givenBack(stage, claim));
      expect(await podsOf(stage, "lonely")).toEqual([]);
      await stage.until("it was told", told(stage, { about: "lonely", reason: "Evicted" }));
    },
  },
];
