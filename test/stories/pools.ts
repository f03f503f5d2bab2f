import { expect } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  conditionOf,
  gone,
  isTrue,
  type LivePool,
  logged,
  nameOf,
  nodesOf,
  running,
  says,
  settled,
  theClaim,
  told,
} from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, deployment } from "./workloads.ts";

const readiness = { type: karpenterTypes.NodePool, name: "default", condition: "NodeClassReady" } as const;
const drift = (name: string, reason: string) =>
  ({ type: karpenterTypes.NodeClaim, name, condition: "Drifted", reason }) as const;

function setClassReady(cluster: StoryCluster, status: "True" | "False", message: string): Promise<void> {
  const lastTransitionTime = new Date(cluster.now()).toISOString().replace(/\.\d+/, "");
  const conditions = [{ type: "Ready", status, reason: "Said", message, lastTransitionTime }];
  return cluster.patch(karpenterTypes.KWOKNodeClass, "default", { status: { conditions } }, { subresource: "status" });
}

/** What the pool says it has. */
async function totals(cluster: StoryCluster) {
  const { status } = (await cluster.get<LivePool>(karpenterTypes.NodePool, "default")) ?? {};
  return { nodes: status?.nodes, cpu: status?.resources?.["cpu"], memory: status?.resources?.["memory"] };
}

const quiet = (consolidateAfter: string) =>
  pool({ spec: { disruption: { consolidateAfter, budgets: [{ nodes: "0" }] } } });

export const pools: readonly Story[] = [
  {
    title: "03:P-3 02:P-33 a pool whose node class is missing waits for it",
    isSmoke: true,
    run: async (cluster) => {
      await cluster.apply(pool(), barePod("web"));
      await cluster.until("it says so", says(cluster, { ...readiness, is: "False", reason: "NodeClassNotFound" }));
      await cluster.until("the log says so", async () => logged(cluster, "ignoring nodepool, not ready") > 0);
      expect(await claimsOf(cluster)).toEqual([]);
      await cluster.apply(kwokClass);
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(isTrue((await cluster.get(karpenterTypes.NodePool, "default")) ?? {}, "Ready")).toBe(true);
    },
  },
  {
    title: "03:P-3 03:P-5 a pool whose node class is not ready says why; its nodes stay",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      await setClassReady(cluster, "False", "out of order");
      await cluster.until("it says so", says(cluster, { ...readiness, is: "False" }));
      const found = await cluster.get(karpenterTypes.NodePool, "default");
      expect(conditionOf(found ?? {}, "NodeClassReady")).toMatchObject({ reason: "Said", message: "out of order" });
      await cluster.apply(barePod("late", { cpu: "30" }));
      await cluster.pass(15);
      expect(await running(cluster, "web", 1)()).toBe(true);
      expect(await claimsOf(cluster)).toHaveLength(1);
      await setClassReady(cluster, "True", "");
      await cluster.until("the late one runs", running(cluster, "late", 1));
    },
  },
  {
    title: "03:P-3 a node class that goes away takes nothing with it",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.remove(karpenterTypes.KWOKNodeClass, "default");
      await cluster.until(
        "the pool says so",
        says(cluster, { ...readiness, is: "False", reason: "NodeClassNotFound" }),
      );
      await cluster.pass(10);
      expect(await running(cluster, "web", 1)()).toBe(true);
      await cluster.apply(kwokClass);
      await cluster.until("it is back", says(cluster, readiness));
    },
  },
  {
    title: "03:P-1 a pool counts what it has",
    run: async (cluster) => {
      const requirements = [isIn(labels.instanceType, "c-4x-amd64-linux")];
      await cluster.apply(kwokClass, pool({ requirements }), deployment("web", { replicas: 2, cpu: "3" }));
      await cluster.until("both run", running(cluster, "web", 2));
      await cluster.until("it counts", async () => (await totals(cluster)).nodes === 2);
      expect(await totals(cluster)).toEqual({ nodes: 2, cpu: "8", memory: "16Gi" });
      await cluster.scale("web", 0);
      for (const claim of await claimsOf(cluster)) await cluster.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await cluster.until("it counts again", async () => (await totals(cluster)).nodes === 0);
      expect(await totals(cluster)).toEqual({ nodes: 0, cpu: "0", memory: "0" });
    },
  },
  {
    title: "03:M-7 03:P-2 a pool whose template changed marks its claims as drifted, and no others",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const claim = await theClaim(cluster);
      const hash = claim.metadata.annotations?.[annotations.nodePoolHash];
      await cluster.apply(pool({ labels: { "example.com/team": "blue" } }));
      await cluster.until("it is marked", says(cluster, drift(nameOf(claim), "NodePoolDrifted")));
      const edited = await cluster.get(karpenterTypes.NodePool, "default");
      expect(edited?.metadata.annotations?.[annotations.nodePoolHash]).not.toBe(hash);
      await cluster.pass(5);
      expect((await theClaim(cluster)).metadata.deletionTimestamp).toBeUndefined();
      await cluster.apply(barePod("more", { cpu: "30" }));
      await cluster.until("another runs", running(cluster, "more", 1));
      const young = (await claimsOf(cluster)).find((one) => nameOf(one) !== nameOf(claim));
      expect(conditionOf(young ?? {}, "Drifted")).toBeUndefined();
      expect(young?.metadata.labels?.["example.com/team"]).toBe("blue");
    },
  },
  {
    title: "03:M-7 claims that no longer meet the pool's requirements are marked, and unmarked",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const name = nameOf(await theClaim(cluster));
      await cluster.apply(pool({ requirements: [isIn(labels.capacityType, "on-demand")] }));
      await cluster.until("it is marked", says(cluster, drift(name, "RequirementsDrifted")));
      await cluster.apply(pool());
      await cluster.until("the mark goes", async () => conditionOf(await theClaim(cluster), "Drifted") === undefined);
    },
  },
  {
    title: "03:M-8 what a pool does with its nodes is not part of them",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.apply(pool({ spec: { weight: 7, limits: { cpu: "100" } } }));
      await cluster.pass(5);
      expect(conditionOf(await theClaim(cluster), "Drifted")).toBeUndefined();
    },
  },
  {
    title: "03:M-4 a claim nothing happens on becomes consolidatable, and stops being so with a new pod",
    run: async (cluster) => {
      await cluster.apply(kwokClass, quiet("15s"), deployment("web", { cpu: "300m", memory: "200Mi" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const name = nameOf(await theClaim(cluster));
      expect(conditionOf(await theClaim(cluster), "Consolidatable")).toBeUndefined();
      const marked = { type: karpenterTypes.NodeClaim, name, condition: "Consolidatable" };
      await cluster.until("it is quiet", says(cluster, marked), 60);
      await cluster.scale("web", 2);
      await cluster.until(
        "it is not",
        async () => conditionOf(await theClaim(cluster), "Consolidatable") === undefined,
        60,
      );
      await cluster.until("it is again", says(cluster, marked), 60);
    },
  },
  {
    title: "03:M-4 in a pool that never consolidates nothing is marked",
    run: async (cluster) => {
      await cluster.apply(kwokClass, quiet("0s"), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const marked = {
        type: karpenterTypes.NodeClaim,
        name: nameOf(await theClaim(cluster)),
        condition: "Consolidatable",
      };
      await cluster.until("at once where nothing is asked", says(cluster, marked), 20);
      await cluster.apply(quiet("Never"));
      await cluster.until(
        "never",
        async () => conditionOf(await theClaim(cluster), "Consolidatable") === undefined,
        20,
      );
    },
  },
  {
    title: "02:H-2 a pool that may have one node has one",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool({ spec: { limits: { nodes: "1" } } }), barePod("first"));
      await cluster.until("the first runs", running(cluster, "first", 1));
      await cluster.apply(barePod("second", { cpu: "30" }));
      const words = "node limits have been exhausted for nodepool (NodePool=default)";
      await cluster.until("the second says why", told(cluster, { about: "second", reason: "FailedScheduling", words }));
      expect(await nodesOf(cluster)).toHaveLength(1);
    },
  },
  {
    title: "03:L-36 how long a node may live and take to leave is fixed when it is bought",
    run: async (cluster) => {
      await cluster.apply(
        kwokClass,
        pool({ template: { expireAfter: "24h", terminationGracePeriod: "1h" } }),
        deployment("web"),
      );
      await cluster.until("it runs", running(cluster, "web", 1));
      const claim = await theClaim(cluster);
      expect(claim.spec).toMatchObject({ expireAfter: "24h", terminationGracePeriod: "1h" });
      await cluster.apply(pool({ template: { expireAfter: "48h" } }));
      await cluster.until("it drifts instead", says(cluster, drift(nameOf(claim), "NodePoolDrifted")));
      expect((await theClaim(cluster)).spec).toMatchObject({ expireAfter: "24h", terminationGracePeriod: "1h" });
      await cluster.until("nothing else happens", settled(cluster, 1));
      expect(await gone(cluster, karpenterTypes.NodeClaim, nameOf(claim))()).toBe(false);
    },
  },
];
