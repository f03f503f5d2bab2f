import { expect } from "vitest";
import { annotations, taints } from "../../src/api/labels.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  conditionOf,
  givenBack,
  gone,
  isReady,
  type LiveClaim,
  type LivePod,
  nameOf,
  nodesOf,
  podsOf,
  running,
  settled,
  theClaim,
  theNode,
  told,
} from "./facts.ts";
import { kwokClass, pool } from "./manifests.ts";
import type { Stage, Story } from "./story.ts";
import { barePod, budget, daemonSet, deployment, onePerNode, undisturbed } from "./workloads.ts";

const none = { maxUnavailable: 0 };

/** Deletes the only claim and waits until its drain has begun. */
async function drain(stage: Stage): Promise<LiveClaim> {
  const claim = await theClaim(stage);
  await stage.remove(karpenterTypes.NodeClaim, nameOf(claim));
  await stage.until("the node is tainted", async () => {
    const node = await stage.get(builtInTypes.Node, claim.status?.nodeName ?? "");
    return (
      (node?.spec as { taints?: readonly object[] } | undefined)?.taints?.some(
        (taint) => "key" in taint && taint.key === taints.disrupted.key,
      ) === true
    );
  });
  return claim;
}

/** The order in which pods of these apps were seen to go. */
async function orderOfLeaving(stage: Stage, apps: readonly string[]): Promise<readonly string[]> {
  const left: string[] = [];
  await stage.until("all have left", async () => {
    for (const app of apps) {
      const pods = await stage.list<LivePod>(builtInTypes.Pod);
      const isThere = pods.some(({ metadata }) => metadata.labels?.["app"] === app);
      if (!isThere && !left.includes(app)) left.push(app);
    }
    return left.length === apps.length;
  });
  return left;
}

export const draining: readonly Story[] = [
  {
    title: "03:T-44 a drain waits for a disruption budget, says so, and goes on when it may",
    isSmoke: true,
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 2 }), budget("web", none));
      await stage.until("both run", running(stage, "web", 2));
      const claim = await drain(stage);
      const about = claim.status?.nodeName ?? "";
      await stage.until("it says so", told(stage, { about, reason: "FailedDraining" }));
      await stage.pass(15);
      expect(await running(stage, "web", 2)()).toBe(true);
      expect(conditionOf(await theClaim(stage), "Drained")).toMatchObject({ status: "Unknown", reason: "Draining" });
      await stage.apply(budget("web", { maxUnavailable: 1 }));
      await stage.until("the node goes", gone(stage, builtInTypes.Node, about));
      await stage.until("both run elsewhere", running(stage, "web", 2));
    },
  },
  {
    title: "03:T-44 02:P-31 an app under a budget moves pod by pod and is never below it",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 3 }), budget("web", { minAvailable: 2 }));
      await stage.until("all run", running(stage, "web", 3));
      const claim = await drain(stage);
      await stage.until("the node goes", async () => {
        expect((await podsOf(stage, "web")).filter(isReady).length).toBeGreaterThanOrEqual(2);
        return gone(stage, builtInTypes.Node, claim.status?.nodeName ?? "")();
      });
      await stage.until("all run", running(stage, "web", 3));
    },
  },
  {
    title: "02:P-31 pods of a leaving node have a new home before they leave",
    play: async (stage) => {
      const graceful = {
        pod: { terminationGracePeriodSeconds: 30 },
        annotations: { "sim.karpenter.sh/stop-seconds": "20" },
      };
      await stage.apply(kwokClass, pool(), deployment("web", graceful));
      await stage.until("it runs", running(stage, "web", 1));
      const first = nameOf(await theNode(stage));
      await drain(stage);
      await stage.until("another node is ready", async () =>
        (await nodesOf(stage)).some((node) => nameOf(node) !== first && isReady(node)),
      );
      expect(await stage.get(builtInTypes.Node, first)).toBeDefined();
      await stage.until("one node is left", settled(stage, 1));
      await stage.until("it runs there", running(stage, "web", 1));
      expect(nameOf(await theNode(stage))).not.toBe(first);
    },
  },
  {
    title: "03:T-42 a pod that must not be disturbed holds the drain until it may be",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), barePod("careful", { annotations: undisturbed }));
      await stage.until("it runs", running(stage, "careful", 1));
      const claim = await drain(stage);
      await stage.pass(15);
      expect(await running(stage, "careful", 1)()).toBe(true);
      await stage.patch(builtInTypes.Pod, "careful", {
        metadata: { annotations: { [annotations.doNotDisrupt]: null } },
      });
      await stage.until("all is given back", givenBack(stage, claim));
    },
  },
  {
    title: "03:T-42 02:P-7 protection for a while ends after a while",
    play: async (stage) => {
      const forAWhile = { [annotations.doNotDisrupt]: "25s" };
      await stage.apply(kwokClass, pool(), barePod("careful", { annotations: forAWhile }));
      await stage.until("it runs", running(stage, "careful", 1));
      const claim = await drain(stage);
      await stage.pass(10);
      expect(await running(stage, "careful", 1)()).toBe(true);
      await stage.until("all is given back", givenBack(stage, claim));
    },
  },
  {
    title: "03:L-31 03:T-50 a deadline ends what budgets and protection hold up",
    isSmoke: true,
    play: async (stage) => {
      const hurried = pool({ template: { terminationGracePeriod: "20s" } });
      await stage.apply(kwokClass, hurried, barePod("careful", { annotations: undisturbed }), budget("careful", none));
      await stage.until("it runs", running(stage, "careful", 1));
      const before = stage.now();
      const claim = await drain(stage);
      const about = nameOf(claim);
      await stage.until("it is told", told(stage, { about, reason: "TerminationGracePeriodExpiring" }));
      const { metadata } = await theClaim(stage);
      const deadline = Date.parse(metadata.annotations?.[annotations.terminationTimestamp] ?? "");
      expect(deadline - Date.parse(metadata.deletionTimestamp ?? "")).toBe(20_000);
      await stage.until("the pod goes", gone(stage, builtInTypes.Pod, "careful"));
      expect(stage.now() - before).toBeGreaterThan(15_000);
      await stage.until("all is given back", givenBack(stage, claim));
      await stage.until("it was told", told(stage, { about: "careful", reason: "Disrupted" }));
    },
  },
  {
    title: "03:T-50 a pod that wants more time than the node has goes at once, with the time there is",
    play: async (stage) => {
      const slow = {
        pod: { terminationGracePeriodSeconds: 600 },
        annotations: { ...undisturbed, "sim.karpenter.sh/stop-seconds": "600" },
      };
      await stage.apply(kwokClass, pool({ template: { terminationGracePeriod: "20s" } }), barePod("slow", slow));
      await stage.until("it runs", running(stage, "slow", 1));
      const claim = await drain(stage);
      await stage.until(
        "it is asked to go",
        async () => {
          const pod = await stage.get<LivePod>(builtInTypes.Pod, "slow");
          return pod === undefined || pod.metadata.deletionTimestamp !== undefined;
        },
        10,
      );
      await stage.until("all is given back", givenBack(stage, claim), 60);
    },
  },
  {
    title: "03:T-51 no grace at all: everything goes at once",
    play: async (stage) => {
      const stubborn = barePod("stubborn", { annotations: undisturbed });
      await stage.apply(
        kwokClass,
        pool({ template: { terminationGracePeriod: "0s" } }),
        stubborn,
        budget("stubborn", none),
      );
      await stage.until("it runs", running(stage, "stubborn", 1));
      const claim = await theClaim(stage);
      await stage.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await stage.until("all is given back", givenBack(stage, claim), 40);
    },
  },
  {
    title: "03:T-44 two budgets for one pod hold the drain, as the API refuses",
    play: async (stage) => {
      const second = { ...budget("web", { maxUnavailable: 1 }), metadata: { name: "second" } };
      await stage.apply(kwokClass, pool(), deployment("web"), budget("web", { maxUnavailable: 1 }), second);
      await stage.until("it runs", running(stage, "web", 1));
      const about = (await drain(stage)).status?.nodeName ?? "";
      await stage.until("it says so", told(stage, { about, reason: "FailedDraining" }));
      await stage.pass(10);
      expect(await running(stage, "web", 1)()).toBe(true);
      await stage.remove(builtInTypes.PodDisruptionBudget, "second");
      // The real controller looks at the other again only when it changes.
      await stage.patch(builtInTypes.PodDisruptionBudget, "web", { metadata: { labels: { looked: "again" } } });
      await stage.until("the node goes", gone(stage, builtInTypes.Node, about));
    },
  },
  {
    title: "03:T-4 ordinary pods leave first, then daemons, then what is critical",
    play: async (stage) => {
      const critical = { pod: { priorityClassName: "system-cluster-critical" } };
      await stage.apply(kwokClass, pool(), daemonSet("agent", { cpu: "100m" }));
      await stage.apply(barePod("plain"), barePod("vital", critical));
      for (const app of ["plain", "vital", "agent"]) await stage.until(`${app} runs`, running(stage, app, 1));
      await stage.until("one node", settled(stage, 1));
      const claim = await drain(stage);
      expect(await orderOfLeaving(stage, ["vital", "plain"])).toEqual(["plain", "vital"]);
      await stage.until("all is given back", givenBack(stage, claim));
    },
  },
  {
    title: "03:T-2 a pod that tolerates the taint does not hold the drain",
    play: async (stage) => {
      const tolerations = [{ key: taints.disrupted.key, operator: "Exists" }];
      await stage.apply(kwokClass, pool(), barePod("calm", { pod: { tolerations }, annotations: undisturbed }));
      await stage.until("it runs", running(stage, "calm", 1));
      const claim = await drain(stage);
      await stage.until("all is given back", givenBack(stage, claim));
      expect(await stage.events("calm")).not.toContainEqual(expect.objectContaining({ reason: "Evicted" }));
    },
  },
  {
    title: "03:T-44 a rollout and a drain at once keep to the budget and end",
    play: async (stage) => {
      const web = (version: string) => deployment("web", { replicas: 4, labels: { version }, pod: onePerNode("web") });
      await stage.apply(kwokClass, pool(), web("1"), budget("web", { maxUnavailable: 1 }));
      await stage.until("all run", running(stage, "web", 4));
      await stage.until("four nodes", settled(stage, 4));
      const [claim] = await claimsOf(stage);
      await stage.apply(web("2"));
      await stage.remove(karpenterTypes.NodeClaim, claim?.metadata.name ?? "");
      await stage.until("the claim goes", gone(stage, karpenterTypes.NodeClaim, claim?.metadata.name ?? ""));
      await stage.until("version 2 runs alone", async () => {
        const pods = await podsOf(stage, "web");
        return pods.length === 4 && pods.every((pod) => isReady(pod) && pod.metadata.labels?.["version"] === "2");
      });
      await stage.until("the budget is whole again", async () => {
        const found = await stage.get(builtInTypes.PodDisruptionBudget, "web");
        return (found?.status as { currentHealthy?: number } | undefined)?.currentHealthy === 4;
      });
    },
  },
  {
    title: "03:T-3 a pod whose end is stuck does not hold the node for ever",
    needsVirtualTime: true,
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), barePod("stuck"));
      await stage.until("it runs", running(stage, "stuck", 1));
      stage.cloud.setKubelet(nameOf(await theNode(stage)), "silent");
      const claim = await drain(stage);
      await stage.pass(30);
      expect(await givenBack(stage, claim)()).toBe(false);
      await stage.until("all is given back", givenBack(stage, claim), 120);
    },
  },
];
