import { expect } from "vitest";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  conditionOf,
  givenBack,
  gone,
  isTrue,
  type LiveClaim,
  logged,
  nameOf,
  nodesOf,
  running,
  says,
  settled,
  theClaim,
  theNode,
  told,
} from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, budget, deployment, onePerNode } from "./workloads.ts";

const slowly = { ...kwokClass, spec: { nodeRegistrationDelay: "8s" } };
const held = { key: "example.com/held", effect: "NoSchedule" };

/** The controller dies at a point of a launch; the next one finishes it, with the same claim and one machine. */
function deathAt(point: string, isThere: (claim: LiveClaim, cluster: StoryCluster) => Promise<boolean>): Story {
  return {
    title: `03 §8.3 a controller that dies ${point} leaves nothing that the next does not finish`,
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "slow", ms: 3_000 });
      await cluster.apply(slowly, pool({ template: { startupTaints: [held] } }), deployment("web"));
      await cluster.until(point, async () => {
        const [claim] = await claimsOf(cluster);
        return claim !== undefined && isThere(claim, cluster);
      });
      const claim = nameOf(await theClaim(cluster));
      await cluster.restart();
      await cluster.until(
        "its node waits",
        says(cluster, {
          type: karpenterTypes.NodeClaim,
          name: claim,
          condition: "Initialized",
          is: "Unknown",
          reason: "StartupTaintsExist",
        }),
      );
      await cluster.patch(builtInTypes.Node, nameOf(await theNode(cluster)), { spec: { taints: null } });
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.until("one machine", settled(cluster, 1));
      expect(nameOf(await theClaim(cluster))).toBe(claim);
    },
  };
}

export const restarts: readonly Story[] = [
  deathAt("before the machine is ordered", async (claim) => conditionOf(claim, "Launched")?.status !== "True"),
  deathAt("before the node joins", async (claim) => isTrue(claim, "Launched")),
  deathAt("when the node has joined", async (_, cluster) => (await cluster.list(builtInTypes.Node)).length === 1),
  deathAt("before the node is usable", async (claim) => isTrue(claim, "Registered")),
  {
    title: "03:S-12 a controller that dies while the cloud answers does not buy twice",
    isSmoke: true,
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "slow", ms: 8_000 });
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("the machine is there, and nobody knows", async () => cluster.cloud.list().length === 1);
      expect(conditionOf(await theClaim(cluster), "Launched")?.status).not.toBe("True");
      await cluster.restart();
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.until("one machine", settled(cluster, 1));
    },
  },
  {
    title: "03:S-12 03:G-3 lost answers and a death in between leave one machine for each claim",
    needsVirtualTime: true,
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "lost" }, 4);
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 3, pod: onePerNode("web") }));
      await cluster.until("machines", async () => cluster.cloud.list().length > 0);
      await cluster.restart();
      await cluster.until("all run", running(cluster, "web", 3));
      await cluster.pass(180);
      expect(await settled(cluster, 3)()).toBe(true);
    },
  },
  {
    title: "03 §8.3 a drain that waits goes on with the next controller",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"), budget("web", { maxUnavailable: 0 }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const claim = await theClaim(cluster);
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      const about = claim.status?.nodeName ?? "";
      await cluster.until("it waits", told(cluster, { about, reason: "FailedDraining" }));
      await cluster.restart();
      await cluster.remove(builtInTypes.PodDisruptionBudget, "web");
      await cluster.until("it goes", givenBack(cluster, claim));
      await cluster.until("it runs again", running(cluster, "web", 1));
      await cluster.until("one machine", settled(cluster, 1));
    },
  },
  {
    title: "03 §8.3 a machine that is being ended is ended by the next controller",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), barePod("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const claim = await theClaim(cluster);
      await cluster.remove(builtInTypes.Pod, "web");
      await cluster.until("it is gone", gone(cluster, builtInTypes.Pod, "web"));
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      const ending = { type: karpenterTypes.NodeClaim, name: nameOf(claim), condition: "Drained" } as const;
      await cluster.until(
        "it is drained",
        async () => (await says(cluster, ending)()) || gone(cluster, karpenterTypes.NodeClaim, nameOf(claim))(),
      );
      await cluster.restart();
      await cluster.until("all is given back", givenBack(cluster, claim));
    },
  },
  {
    title: "03 §8.3 a restart of a cluster at rest changes nothing",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 2, pod: onePerNode("web") }));
      await cluster.until("both run", running(cluster, "web", 2));
      await cluster.until("two nodes", settled(cluster, 2));
      const before = (await claimsOf(cluster)).map(nameOf);
      const nodes = (await nodesOf(cluster)).map(({ metadata }) => metadata.uid);
      await cluster.restart();
      await cluster.until("the next one leads", async () => logged(cluster, "became the leader") === 2);
      await cluster.pass(10);
      expect((await claimsOf(cluster)).map(nameOf)).toEqual(before);
      expect((await nodesOf(cluster)).map(({ metadata }) => metadata.uid)).toEqual(nodes);
      expect(await running(cluster, "web", 2)()).toBe(true);
    },
  },
  {
    title: "03:M-3 a restart does not make quiet nodes busy",
    run: async (cluster) => {
      const disruption = { consolidateAfter: "10s", budgets: [{ nodes: "0" }] };
      await cluster.apply(kwokClass, pool({ spec: { disruption } }), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const name = nameOf(await theClaim(cluster));
      const marked = { type: karpenterTypes.NodeClaim, name, condition: "Consolidatable" };
      await cluster.until("it is quiet", says(cluster, marked));
      const { lastPodEventTime } = (await theClaim(cluster)).status ?? {};
      await cluster.restart();
      await cluster.until("the next one leads", async () => logged(cluster, "became the leader") === 2);
      await cluster.pass(5);
      expect((await theClaim(cluster)).status?.lastPodEventTime).toBe(lastPodEventTime);
      expect(await says(cluster, marked)()).toBe(true);
    },
  },
  {
    title: "03:P-23 a restart does not forget that a pool's nodes do not join",
    needsVirtualTime: true,
    settings: { registrationTimeoutMs: 60_000 },
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "silent-kubelet" }, 10);
      await cluster.apply(kwokClass, pool(), deployment("web"));
      const health = {
        type: karpenterTypes.NodePool,
        name: "default",
        condition: "NodeRegistrationHealthy",
        is: "False",
      } as const;
      await cluster.until("it is marked", says(cluster, health));
      await cluster.restart();
      await cluster.pass(60);
      expect(await says(cluster, health)()).toBe(true);
    },
  },
  {
    title: "03 §8.3 restarts in the middle of everything: what was wanted is there in the end",
    needsVirtualTime: true,
    settings: { gates: { ...defaultGates, StaticCapacity: true } },
    run: async (cluster) => {
      const static_ = pool({
        name: "fixed",
        spec: { replicas: 2 },
        requirements: [
          isIn("karpenter.kwok.sh/instance-cpu", "4"),
          isIn("node.kubernetes.io/instance-type", "c-4x-amd64-linux"),
        ],
        template: { taints: [held] },
      });
      await cluster.apply(kwokClass, pool(), static_);
      await cluster.apply(
        deployment("web", { replicas: 3, pod: onePerNode("web") }),
        budget("web", { maxUnavailable: 1 }),
      );
      cluster.cloud.failNext("create", { kind: "lost" }, 2);
      await cluster.pass(3);
      await cluster.restart();
      await cluster.until("all run", running(cluster, "web", 3));
      const [first] = await claimsOf(cluster, "default");
      await cluster.remove(karpenterTypes.NodeClaim, first?.metadata.name ?? "");
      await cluster.patch(karpenterTypes.NodePool, "fixed", { spec: { replicas: 3 } });
      await cluster.apply(deployment("more", { replicas: 2, cpu: "10" }));
      for (let death = 0; death < 4; death++) {
        await cluster.pass(17);
        await cluster.restart();
      }
      cluster.cloud.vanish((await nodesOf(cluster, "fixed")).map(nameOf)[0] ?? "");
      await cluster.restart();
      await cluster.until("web runs", running(cluster, "web", 3));
      await cluster.until("more runs", running(cluster, "more", 2));
      await cluster.until("three fixed nodes", async () => (await claimsOf(cluster, "fixed")).length === 3, 600);
      await cluster.until("everything is whole", settled(cluster), 600);
      expect(await gone(cluster, karpenterTypes.NodeClaim, first?.metadata.name ?? "")()).toBe(true);
    },
  },
];
