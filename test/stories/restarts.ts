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
import type { Stage, Story } from "./story.ts";
import { barePod, budget, deployment, onePerNode } from "./workloads.ts";

const slowly = { ...kwokClass, spec: { nodeRegistrationDelay: "8s" } };
const held = { key: "example.com/held", effect: "NoSchedule" };

/** The controller dies at a point of a launch; the next one finishes it, with the same claim and one machine. */
function deathAt(point: string, isThere: (claim: LiveClaim, stage: Stage) => Promise<boolean>): Story {
  return {
    title: `03 §8.3 a controller that dies ${point} leaves nothing that the next does not finish`,
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "slow", ms: 3_000 });
      await stage.apply(slowly, pool({ template: { startupTaints: [held] } }), deployment("web"));
      await stage.until(point, async () => {
        const [claim] = await claimsOf(stage);
        return claim !== undefined && isThere(claim, stage);
      });
      const claim = nameOf(await theClaim(stage));
      await stage.restart();
      await stage.until(
        "its node waits",
        says(stage, {
          type: karpenterTypes.NodeClaim,
          name: claim,
          condition: "Initialized",
          is: "Unknown",
          reason: "StartupTaintsExist",
        }),
      );
      await stage.patch(builtInTypes.Node, nameOf(await theNode(stage)), { spec: { taints: null } });
      await stage.until("it runs", running(stage, "web", 1));
      await stage.until("one machine", settled(stage, 1));
      expect(nameOf(await theClaim(stage))).toBe(claim);
    },
  };
}

export const restarts: readonly Story[] = [
  deathAt("before the machine is ordered", async (claim) => conditionOf(claim, "Launched")?.status !== "True"),
  deathAt("before the node joins", async (claim) => isTrue(claim, "Launched")),
  deathAt("when the node has joined", async (_, stage) => (await stage.list(builtInTypes.Node)).length === 1),
  deathAt("before the node is usable", async (claim) => isTrue(claim, "Registered")),
  {
    title: "03:S-12 a controller that dies while the cloud answers does not buy twice",
    isSmoke: true,
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "slow", ms: 8_000 });
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("the machine is there, and nobody knows", async () => stage.cloud.list().length === 1);
      expect(conditionOf(await theClaim(stage), "Launched")?.status).not.toBe("True");
      await stage.restart();
      await stage.until("it runs", running(stage, "web", 1));
      await stage.until("one machine", settled(stage, 1));
    },
  },
  {
    title: "03:S-12 03:G-3 lost answers and a death in between leave one machine for each claim",
    needsVirtualTime: true,
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "lost" }, 4);
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 3, pod: onePerNode("web") }));
      await stage.until("machines", async () => stage.cloud.list().length > 0);
      await stage.restart();
      await stage.until("all run", running(stage, "web", 3));
      await stage.pass(180);
      expect(await settled(stage, 3)()).toBe(true);
    },
  },
  {
    title: "03 §8.3 a drain that waits goes on with the next controller",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"), budget("web", { maxUnavailable: 0 }));
      await stage.until("it runs", running(stage, "web", 1));
      const claim = await theClaim(stage);
      await stage.remove(karpenterTypes.NodeClaim, nameOf(claim));
      const about = claim.status?.nodeName ?? "";
      await stage.until("it waits", told(stage, { about, reason: "FailedDraining" }));
      await stage.restart();
      await stage.remove(builtInTypes.PodDisruptionBudget, "web");
      await stage.until("it goes", givenBack(stage, claim));
      await stage.until("it runs again", running(stage, "web", 1));
      await stage.until("one machine", settled(stage, 1));
    },
  },
  {
    title: "03 §8.3 a machine that is being ended is ended by the next controller",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), barePod("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const claim = await theClaim(stage);
      await stage.remove(builtInTypes.Pod, "web");
      await stage.until("it is gone", gone(stage, builtInTypes.Pod, "web"));
      await stage.remove(karpenterTypes.NodeClaim, nameOf(claim));
      const ending = { type: karpenterTypes.NodeClaim, name: nameOf(claim), condition: "Drained" } as const;
      await stage.until(
        "it is drained",
        async () => (await says(stage, ending)()) || gone(stage, karpenterTypes.NodeClaim, nameOf(claim))(),
      );
      await stage.restart();
      await stage.until("all is given back", givenBack(stage, claim));
    },
  },
  {
    title: "03 §8.3 a restart of a cluster at rest changes nothing",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 2, pod: onePerNode("web") }));
      await stage.until("both run", running(stage, "web", 2));
      await stage.until("two nodes", settled(stage, 2));
      const before = (await claimsOf(stage)).map(nameOf);
      const nodes = (await nodesOf(stage)).map(({ metadata }) => metadata.uid);
      await stage.restart();
      await stage.until("the next one leads", async () => logged(stage, "became the leader") === 2);
      await stage.pass(10);
      expect((await claimsOf(stage)).map(nameOf)).toEqual(before);
      expect((await nodesOf(stage)).map(({ metadata }) => metadata.uid)).toEqual(nodes);
      expect(await running(stage, "web", 2)()).toBe(true);
    },
  },
  {
    title: "03:M-3 a restart does not make quiet nodes busy",
    play: async (stage) => {
      const disruption = { consolidateAfter: "10s", budgets: [{ nodes: "0" }] };
      await stage.apply(kwokClass, pool({ spec: { disruption } }), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const name = nameOf(await theClaim(stage));
      const marked = { type: karpenterTypes.NodeClaim, name, condition: "Consolidatable" };
      await stage.until("it is quiet", says(stage, marked));
      const { lastPodEventTime } = (await theClaim(stage)).status ?? {};
      await stage.restart();
      await stage.until("the next one leads", async () => logged(stage, "became the leader") === 2);
      await stage.pass(5);
      expect((await theClaim(stage)).status?.lastPodEventTime).toBe(lastPodEventTime);
      expect(await says(stage, marked)()).toBe(true);
    },
  },
  {
    title: "03:P-23 a restart does not forget that a pool's nodes do not join",
    needsVirtualTime: true,
    settings: { registrationTimeoutMs: 60_000 },
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "dud" }, 10);
      await stage.apply(kwokClass, pool(), deployment("web"));
      const health = {
        type: karpenterTypes.NodePool,
        name: "default",
        condition: "NodeRegistrationHealthy",
        is: "False",
      } as const;
      await stage.until("it is marked", says(stage, health));
      await stage.restart();
      await stage.pass(60);
      expect(await says(stage, health)()).toBe(true);
    },
  },
  {
    title: "03 §8.3 restarts in the middle of everything: what was wanted is there in the end",
    needsVirtualTime: true,
    settings: { gates: { ...defaultGates, StaticCapacity: true } },
    play: async (stage) => {
      const static_ = pool({
        name: "fixed",
        spec: { replicas: 2 },
        requirements: [
          isIn("karpenter.kwok.sh/instance-cpu", "4"),
          isIn("node.kubernetes.io/instance-type", "c-4x-amd64-linux"),
        ],
        template: { taints: [held] },
      });
      await stage.apply(kwokClass, pool(), static_);
      await stage.apply(
        deployment("web", { replicas: 3, pod: onePerNode("web") }),
        budget("web", { maxUnavailable: 1 }),
      );
      stage.cloud.failNext("create", { kind: "lost" }, 2);
      await stage.pass(3);
      await stage.restart();
      await stage.until("all run", running(stage, "web", 3));
      const [first] = await claimsOf(stage, "default");
      await stage.remove(karpenterTypes.NodeClaim, first?.metadata.name ?? "");
      await stage.patch(karpenterTypes.NodePool, "fixed", { spec: { replicas: 3 } });
      await stage.apply(deployment("more", { replicas: 2, cpu: "10" }));
      for (let death = 0; death < 4; death++) {
        await stage.pass(17);
        await stage.restart();
      }
      stage.cloud.vanish((await nodesOf(stage, "fixed")).map(nameOf)[0] ?? "");
      await stage.restart();
      await stage.until("web runs", running(stage, "web", 3));
      await stage.until("more runs", running(stage, "more", 2));
      await stage.until("three fixed nodes", async () => (await claimsOf(stage, "fixed")).length === 3, 600);
      await stage.until("everything is whole", settled(stage), 600);
      expect(await gone(stage, karpenterTypes.NodeClaim, first?.metadata.name ?? "")()).toBe(true);
    },
  },
];
