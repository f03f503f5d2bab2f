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
import type { Story, StoryCluster } from "./story.ts";
import { barePod, budget, daemonSet, deployment, onePerNode, undisturbed } from "./workloads.ts";

const none = { maxUnavailable: 0 };

/** Deletes the only claim and waits until its drain has begun. */
async function drain(cluster: StoryCluster): Promise<LiveClaim> {
  const claim = await theClaim(cluster);
  await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
  await cluster.until("the node is tainted", async () => {
    const node = await cluster.get(builtInTypes.Node, claim.status?.nodeName ?? "");
    return (
      (node?.spec as { taints?: readonly object[] } | undefined)?.taints?.some(
        (taint) => "key" in taint && taint.key === taints.disrupted.key,
      ) === true
    );
  });
  return claim;
}

/** The order in which pods of these apps were seen to go. */
async function orderOfLeaving(cluster: StoryCluster, apps: readonly string[]): Promise<readonly string[]> {
  const left: string[] = [];
  await cluster.until("all have left", async () => {
    for (const app of apps) {
      const pods = await cluster.list<LivePod>(builtInTypes.Pod);
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
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 2 }), budget("web", none));
      await cluster.until("both run", running(cluster, "web", 2));
      const claim = await drain(cluster);
      const about = claim.status?.nodeName ?? "";
      await cluster.until("it says so", told(cluster, { about, reason: "FailedDraining" }));
      await cluster.pass(15);
      expect(await running(cluster, "web", 2)()).toBe(true);
      expect(conditionOf(await theClaim(cluster), "Drained")).toMatchObject({ status: "Unknown", reason: "Draining" });
      await cluster.apply(budget("web", { maxUnavailable: 1 }));
      await cluster.until("the node goes", gone(cluster, builtInTypes.Node, about));
      await cluster.until("both run elsewhere", running(cluster, "web", 2));
    },
  },
  {
    title: "03:T-44 02:P-31 an app under a budget moves pod by pod and is never below it",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 3 }), budget("web", { minAvailable: 2 }));
      await cluster.until("all run", running(cluster, "web", 3));
      const claim = await drain(cluster);
      await cluster.until("the node goes", async () => {
        expect((await podsOf(cluster, "web")).filter(isReady).length).toBeGreaterThanOrEqual(2);
        return gone(cluster, builtInTypes.Node, claim.status?.nodeName ?? "")();
      });
      await cluster.until("all run", running(cluster, "web", 3));
    },
  },
  {
    title: "02:P-31 pods of a leaving node have a new home before they leave",
    run: async (cluster) => {
      const graceful = {
        pod: { terminationGracePeriodSeconds: 30 },
        annotations: { "sim.karpenter.sh/stop-seconds": "20" },
      };
      await cluster.apply(kwokClass, pool(), deployment("web", graceful));
      await cluster.until("it runs", running(cluster, "web", 1));
      const first = nameOf(await theNode(cluster));
      await drain(cluster);
      await cluster.until("another node is ready", async () =>
        (await nodesOf(cluster)).some((node) => nameOf(node) !== first && isReady(node)),
      );
      expect(await cluster.get(builtInTypes.Node, first)).toBeDefined();
      await cluster.until("one node is left", settled(cluster, 1));
      await cluster.until("it runs there", running(cluster, "web", 1));
      expect(nameOf(await theNode(cluster))).not.toBe(first);
    },
  },
  {
    title: "03:T-42 a pod that must not be disturbed holds the drain until it may be",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), barePod("careful", { annotations: undisturbed }));
      await cluster.until("it runs", running(cluster, "careful", 1));
      const claim = await drain(cluster);
      await cluster.pass(15);
      expect(await running(cluster, "careful", 1)()).toBe(true);
      await cluster.patch(builtInTypes.Pod, "careful", {
        metadata: { annotations: { [annotations.doNotDisrupt]: null } },
      });
      await cluster.until("all is given back", givenBack(cluster, claim));
    },
  },
  {
    title: "03:T-42 02:P-7 protection for a while ends after a while",
    run: async (cluster) => {
      const forAWhile = { [annotations.doNotDisrupt]: "25s" };
      await cluster.apply(kwokClass, pool(), barePod("careful", { annotations: forAWhile }));
      await cluster.until("it runs", running(cluster, "careful", 1));
      const claim = await drain(cluster);
      await cluster.pass(10);
      expect(await running(cluster, "careful", 1)()).toBe(true);
      await cluster.until("all is given back", givenBack(cluster, claim));
    },
  },
  {
    title: "03:L-31 03:T-50 a deadline ends what budgets and protection hold up",
    isSmoke: true,
    run: async (cluster) => {
      const hurried = pool({ template: { terminationGracePeriod: "20s" } });
      await cluster.apply(
        kwokClass,
        hurried,
        barePod("careful", { annotations: undisturbed }),
        budget("careful", none),
      );
      await cluster.until("it runs", running(cluster, "careful", 1));
      const before = cluster.now();
      const claim = await drain(cluster);
      const about = nameOf(claim);
      await cluster.until("it is told", told(cluster, { about, reason: "TerminationGracePeriodExpiring" }));
      const { metadata } = await theClaim(cluster);
      const deadline = Date.parse(metadata.annotations?.[annotations.terminationTimestamp] ?? "");
      expect(deadline - Date.parse(metadata.deletionTimestamp ?? "")).toBe(20_000);
      await cluster.until("the pod goes", gone(cluster, builtInTypes.Pod, "careful"));
      expect(cluster.now() - before).toBeGreaterThan(15_000);
      await cluster.until("all is given back", givenBack(cluster, claim));
      await cluster.until("it was told", told(cluster, { about: "careful", reason: "Disrupted" }));
    },
  },
  {
    title: "03:T-50 a pod that wants more time than the node has goes at once, with the time there is",
    run: async (cluster) => {
      const slow = {
        pod: { terminationGracePeriodSeconds: 600 },
        annotations: { ...undisturbed, "sim.karpenter.sh/stop-seconds": "600" },
      };
      await cluster.apply(kwokClass, pool({ template: { terminationGracePeriod: "20s" } }), barePod("slow", slow));
      await cluster.until("it runs", running(cluster, "slow", 1));
      const claim = await drain(cluster);
      await cluster.until(
        "it is asked to go",
        async () => {
          const pod = await cluster.get<LivePod>(builtInTypes.Pod, "slow");
          return pod === undefined || pod.metadata.deletionTimestamp !== undefined;
        },
        10,
      );
      await cluster.until("all is given back", givenBack(cluster, claim), 60);
    },
  },
  {
    title: "03:T-51 no grace at all: everything goes at once",
    run: async (cluster) => {
      const stubborn = barePod("stubborn", { annotations: undisturbed });
      await cluster.apply(
        kwokClass,
        pool({ template: { terminationGracePeriod: "0s" } }),
        stubborn,
        budget("stubborn", none),
      );
      await cluster.until("it runs", running(cluster, "stubborn", 1));
      const claim = await theClaim(cluster);
      await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await cluster.until("all is given back", givenBack(cluster, claim), 40);
    },
  },
  {
    title: "03:T-44 two budgets for one pod hold the drain, as the API refuses",
    run: async (cluster) => {
      const second = { ...budget("web", { maxUnavailable: 1 }), metadata: { name: "second" } };
      await cluster.apply(kwokClass, pool(), deployment("web"), budget("web", { maxUnavailable: 1 }), second);
      await cluster.until("it runs", running(cluster, "web", 1));
      const about = (await drain(cluster)).status?.nodeName ?? "";
      await cluster.until("it says so", told(cluster, { about, reason: "FailedDraining" }));
      await cluster.pass(10);
      expect(await running(cluster, "web", 1)()).toBe(true);
      await cluster.remove(builtInTypes.PodDisruptionBudget, "second");
      // The real controller looks at the other again only when it changes.
      await cluster.patch(builtInTypes.PodDisruptionBudget, "web", { metadata: { labels: { looked: "again" } } });
      await cluster.until("the node goes", gone(cluster, builtInTypes.Node, about));
    },
  },
  {
    title: "03:T-4 ordinary pods leave first, then daemons, then what is critical",
    run: async (cluster) => {
      const critical = { pod: { priorityClassName: "system-cluster-critical" } };
      await cluster.apply(kwokClass, pool(), daemonSet("agent", { cpu: "100m" }));
      await cluster.apply(barePod("plain"), barePod("vital", critical));
      for (const app of ["plain", "vital", "agent"]) await cluster.until(`${app} runs`, running(cluster, app, 1));
      await cluster.until("one node", settled(cluster, 1));
      const claim = await drain(cluster);
      expect(await orderOfLeaving(cluster, ["vital", "plain"])).toEqual(["plain", "vital"]);
      await cluster.until("all is given back", givenBack(cluster, claim));
    },
  },
  {
    title: "03:T-2 a pod that tolerates the taint does not hold the drain",
    run: async (cluster) => {
      const tolerations = [{ key: taints.disrupted.key, operator: "Exists" }];
      await cluster.apply(kwokClass, pool(), barePod("calm", { pod: { tolerations }, annotations: undisturbed }));
      await cluster.until("it runs", running(cluster, "calm", 1));
      const claim = await drain(cluster);
      await cluster.until("all is given back", givenBack(cluster, claim));
      expect(await cluster.events("calm")).not.toContainEqual(expect.objectContaining({ reason: "Evicted" }));
    },
  },
  {
    title: "03:T-44 a rollout and a drain at once keep to the budget and end",
    run: async (cluster) => {
      const web = (version: string) => deployment("web", { replicas: 4, labels: { version }, pod: onePerNode("web") });
      await cluster.apply(kwokClass, pool(), web("1"), budget("web", { maxUnavailable: 1 }));
      await cluster.until("all run", running(cluster, "web", 4));
      await cluster.until("four nodes", settled(cluster, 4));
      const [claim] = await claimsOf(cluster);
      await cluster.apply(web("2"));
      await cluster.remove(karpenterTypes.NodeClaim, claim?.metadata.name ?? "");
      await cluster.until("the claim goes", gone(cluster, karpenterTypes.NodeClaim, claim?.metadata.name ?? ""));
      await cluster.until("version 2 runs alone", async () => {
        const pods = await podsOf(cluster, "web");
        return pods.length === 4 && pods.every((pod) => isReady(pod) && pod.metadata.labels?.["version"] === "2");
      });
      await cluster.until("the budget is whole again", async () => {
        const found = await cluster.get(builtInTypes.PodDisruptionBudget, "web");
        return (found?.status as { currentHealthy?: number } | undefined)?.currentHealthy === 4;
      });
    },
  },
  {
    title: "03:T-3 a pod whose end is stuck does not hold the node for ever",
    needsVirtualTime: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), barePod("stuck"));
      await cluster.until("it runs", running(cluster, "stuck", 1));
      cluster.cloud.setKubelet(nameOf(await theNode(cluster)), "silent");
      const claim = await drain(cluster);
      await cluster.pass(30);
      expect(await givenBack(cluster, claim)()).toBe(false);
      await cluster.until("all is given back", givenBack(cluster, claim), 120);
    },
  },
];
