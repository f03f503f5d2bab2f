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
import type { Stage, Story } from "./story.ts";
import { barePod, deployment } from "./workloads.ts";

const readiness = { type: karpenterTypes.NodePool, name: "default", condition: "NodeClassReady" } as const;
const drift = (name: string, reason: string) =>
  ({ type: karpenterTypes.NodeClaim, name, condition: "Drifted", reason }) as const;

function setClassReady(stage: Stage, status: "True" | "False", message: string): Promise<void> {
  const lastTransitionTime = new Date(stage.now()).toISOString().replace(/\.\d+/, "");
  const conditions = [{ type: "Ready", status, reason: "Said", message, lastTransitionTime }];
  return stage.patch(karpenterTypes.KWOKNodeClass, "default", { status: { conditions } }, { subresource: "status" });
}

/** What the pool says it has. */
async function totals(stage: Stage) {
  const { status } = (await stage.get<LivePool>(karpenterTypes.NodePool, "default")) ?? {};
  return { nodes: status?.nodes, cpu: status?.resources?.["cpu"], memory: status?.resources?.["memory"] };
}

const quiet = (consolidateAfter: string) =>
  pool({ spec: { disruption: { consolidateAfter, budgets: [{ nodes: "0" }] } } });

export const pools: readonly Story[] = [
  {
    title: "03:P-3 02:P-33 a pool whose node class is missing waits for it",
    isSmoke: true,
    play: async (stage) => {
      await stage.apply(pool(), barePod("web"));
      await stage.until("it says so", says(stage, { ...readiness, is: "False", reason: "NodeClassNotFound" }));
      await stage.until("the log says so", async () => logged(stage, "ignoring nodepool, not ready") > 0);
      expect(await claimsOf(stage)).toEqual([]);
      await stage.apply(kwokClass);
      await stage.until("it runs", running(stage, "web", 1));
      expect(isTrue((await stage.get(karpenterTypes.NodePool, "default")) ?? {}, "Ready")).toBe(true);
    },
  },
  {
    title: "03:P-3 03:P-5 a pool whose node class is not ready says why; its nodes stay",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      await setClassReady(stage, "False", "out of order");
      await stage.until("it says so", says(stage, { ...readiness, is: "False" }));
      const found = await stage.get(karpenterTypes.NodePool, "default");
      expect(conditionOf(found ?? {}, "NodeClassReady")).toMatchObject({ reason: "Said", message: "out of order" });
      await stage.apply(barePod("late", { cpu: "30" }));
      await stage.pass(15);
      expect(await running(stage, "web", 1)()).toBe(true);
      expect(await claimsOf(stage)).toHaveLength(1);
      await setClassReady(stage, "True", "");
      await stage.until("the late one runs", running(stage, "late", 1));
    },
  },
  {
    title: "03:P-3 a node class that goes away takes nothing with it",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      await stage.remove(karpenterTypes.KWOKNodeClass, "default");
      await stage.until("the pool says so", says(stage, { ...readiness, is: "False", reason: "NodeClassNotFound" }));
      await stage.pass(10);
      expect(await running(stage, "web", 1)()).toBe(true);
      await stage.apply(kwokClass);
      await stage.until("it is back", says(stage, readiness));
    },
  },
  {
    title: "03:P-1 a pool counts what it has",
    play: async (stage) => {
      const requirements = [isIn(labels.instanceType, "c-4x-amd64-linux")];
      await stage.apply(kwokClass, pool({ requirements }), deployment("web", { replicas: 2, cpu: "3" }));
      await stage.until("both run", running(stage, "web", 2));
      await stage.until("it counts", async () => (await totals(stage)).nodes === 2);
      expect(await totals(stage)).toEqual({ nodes: 2, cpu: "8", memory: "16Gi" });
      await stage.scale("web", 0);
      for (const claim of await claimsOf(stage)) await stage.remove(karpenterTypes.NodeClaim, nameOf(claim));
      await stage.until("it counts again", async () => (await totals(stage)).nodes === 0);
      expect(await totals(stage)).toEqual({ nodes: 0, cpu: "0", memory: "0" });
    },
  },
  {
    title: "03:M-7 03:P-2 a pool whose template changed marks its claims as drifted, and no others",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const claim = await theClaim(stage);
      const hash = claim.metadata.annotations?.[annotations.nodePoolHash];
      await stage.apply(pool({ labels: { "example.com/team": "blue" } }));
      await stage.until("it is marked", says(stage, drift(nameOf(claim), "NodePoolDrifted")));
      const edited = await stage.get(karpenterTypes.NodePool, "default");
      expect(edited?.metadata.annotations?.[annotations.nodePoolHash]).not.toBe(hash);
      await stage.pass(5);
      expect((await theClaim(stage)).metadata.deletionTimestamp).toBeUndefined();
      await stage.apply(barePod("more", { cpu: "30" }));
      await stage.until("another runs", running(stage, "more", 1));
      const young = (await claimsOf(stage)).find((one) => nameOf(one) !== nameOf(claim));
      expect(conditionOf(young ?? {}, "Drifted")).toBeUndefined();
      expect(young?.metadata.labels?.["example.com/team"]).toBe("blue");
    },
  },
  {
    title: "03:M-7 claims that no longer meet the pool's requirements are marked, and unmarked",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const name = nameOf(await theClaim(stage));
      await stage.apply(pool({ requirements: [isIn(labels.capacityType, "on-demand")] }));
      await stage.until("it is marked", says(stage, drift(name, "RequirementsDrifted")));
      await stage.apply(pool());
      await stage.until("the mark goes", async () => conditionOf(await theClaim(stage), "Drifted") === undefined);
    },
  },
  {
    title: "03:M-8 what a pool does with its nodes is not part of them",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      await stage.apply(pool({ spec: { weight: 7, limits: { cpu: "100" } } }));
      await stage.pass(5);
      expect(conditionOf(await theClaim(stage), "Drifted")).toBeUndefined();
    },
  },
  {
    title: "03:M-4 a claim nothing happens on becomes consolidatable, and stops being so with a new pod",
    play: async (stage) => {
      await stage.apply(kwokClass, quiet("15s"), deployment("web", { cpu: "300m", memory: "200Mi" }));
      await stage.until("it runs", running(stage, "web", 1));
      const name = nameOf(await theClaim(stage));
      expect(conditionOf(await theClaim(stage), "Consolidatable")).toBeUndefined();
      const marked = { type: karpenterTypes.NodeClaim, name, condition: "Consolidatable" };
      await stage.until("it is quiet", says(stage, marked), 60);
      await stage.scale("web", 2);
      await stage.until(
        "it is not",
        async () => conditionOf(await theClaim(stage), "Consolidatable") === undefined,
        60,
      );
      await stage.until("it is again", says(stage, marked), 60);
    },
  },
  {
    title: "03:M-4 in a pool that never consolidates nothing is marked",
    play: async (stage) => {
      await stage.apply(kwokClass, quiet("0s"), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const marked = {
        type: karpenterTypes.NodeClaim,
        name: nameOf(await theClaim(stage)),
        condition: "Consolidatable",
      };
      await stage.until("at once where nothing is asked", says(stage, marked), 20);
      await stage.apply(quiet("Never"));
      await stage.until("never", async () => conditionOf(await theClaim(stage), "Consolidatable") === undefined, 20);
    },
  },
  {
    title: "02:H-2 a pool that may have one node has one",
    play: async (stage) => {
      await stage.apply(kwokClass, pool({ spec: { limits: { nodes: "1" } } }), barePod("first"));
      await stage.until("the first runs", running(stage, "first", 1));
      await stage.apply(barePod("second", { cpu: "30" }));
      const words = "node limits have been exhausted for nodepool (NodePool=default)";
      await stage.until("the second says why", told(stage, { about: "second", reason: "FailedScheduling", words }));
      expect(await nodesOf(stage)).toHaveLength(1);
    },
  },
  {
    title: "03:L-36 how long a node may live and take to leave is fixed when it is bought",
    play: async (stage) => {
      await stage.apply(
        kwokClass,
        pool({ template: { expireAfter: "24h", terminationGracePeriod: "1h" } }),
        deployment("web"),
      );
      await stage.until("it runs", running(stage, "web", 1));
      const claim = await theClaim(stage);
      expect(claim.spec).toMatchObject({ expireAfter: "24h", terminationGracePeriod: "1h" });
      await stage.apply(pool({ template: { expireAfter: "48h" } }));
      await stage.until("it drifts instead", says(stage, drift(nameOf(claim), "NodePoolDrifted")));
      expect((await theClaim(stage)).spec).toMatchObject({ expireAfter: "24h", terminationGracePeriod: "1h" });
      await stage.until("nothing else happens", settled(stage, 1));
      expect(await gone(stage, karpenterTypes.NodeClaim, nameOf(claim))()).toBe(false);
    },
  },
];
