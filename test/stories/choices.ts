import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, nameOf, nodesOf, running, theClaim, theNode, whereRuns } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Stage, Story } from "./story.ts";
import { barePod, deployment } from "./workloads.ts";

const openTo = (...requirements: readonly object[]) => {
  const { spec, ...rest } = pool();
  const { template, ...more } = spec;
  return { ...rest, spec: { ...more, template: { ...template, spec: { ...template.spec, requirements } } } };
};

/** Runs a pod that selects nodes by labels, and says what its node is labelled. */
async function nodeFor(stage: Stage, nodeSelector: Readonly<Record<string, string>>) {
  await stage.apply(barePod("picky", { pod: { nodeSelector } }));
  await stage.until("it runs", running(stage, "picky", 1));
  return (await theNode(stage)).metadata.labels ?? {};
}

export const choices: readonly Story[] = [
  {
    title: "02:L-1 the cheapest machine that fits is bought, which is a spot one",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      expect(await nodeFor(stage, {})).toMatchObject({
        [labels.instanceType]: "c-2x-amd64-linux",
        [labels.capacityType]: "spot",
        [labels.nodePool]: "default",
        [labels.registered]: "true",
        [labels.initialized]: "true",
      });
    },
  },
  {
    title: "02:R-21 a pod that asks for on-demand gets it",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      const node = await nodeFor(stage, { [labels.capacityType]: "on-demand" });
      expect(node[labels.capacityType]).toBe("on-demand");
    },
  },
  {
    title: "02:R-21 a pod that names an instance type gets that type",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      const node = await nodeFor(stage, { [labels.instanceType]: "m-16x-amd64-linux" });
      expect(node[labels.instanceType]).toBe("m-16x-amd64-linux");
    },
  },
  {
    title: "02:K-2 a pod for arm64 gets an arm64 machine",
    play: async (stage) => {
      await stage.apply(kwokClass, openTo(isIn(labels.os, "linux")));
      expect(await nodeFor(stage, { [labels.arch]: "arm64" })).toMatchObject({
        [labels.arch]: "arm64",
        [labels.instanceType]: "c-2x-arm64-linux",
      });
    },
  },
  {
    title: "02:K-2 a pod for Windows gets a Windows machine",
    play: async (stage) => {
      await stage.apply(kwokClass, openTo(isIn(labels.arch, "amd64")));
      expect(await nodeFor(stage, { [labels.os]: "windows" })).toMatchObject({
        [labels.os]: "windows",
        [labels.instanceType]: "c-2x-amd64-windows",
      });
    },
  },
  {
    title: "02:L-4 labels of the pool, and those a pod asks for within it, come to the node",
    isSmoke: true,
    play: async (stage) => {
      const requirements = [{ key: "example.com/tier", operator: "Exists" }];
      await stage.apply(kwokClass, pool({ requirements, labels: { "example.com/team": "blue" } }));
      expect(await nodeFor(stage, { "example.com/tier": "gold" })).toMatchObject({
        "example.com/team": "blue",
        "example.com/tier": "gold",
      });
      expect((await theClaim(stage)).metadata.labels).toMatchObject({ "example.com/tier": "gold" });
    },
  },
  {
    title: "02:Q-40 a preference nobody can meet is dropped",
    play: async (stage) => {
      const preference = { matchExpressions: [isIn(labels.zone, "no-such-zone")] };
      const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 1, preference }];
      const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } };
      await stage.apply(kwokClass, pool(), barePod("wishful", { pod: { affinity } }));
      await stage.until("it runs", running(stage, "wishful", 1));
    },
  },
  {
    title: "02:T-1 the pool of higher weight is asked first",
    play: async (stage) => {
      const favourite = pool({ name: "favourite", spec: { weight: 50 } });
      await stage.apply(kwokClass, pool({ name: "other" }), favourite, deployment("web", { replicas: 2 }));
      await stage.until("both run", running(stage, "web", 2));
      expect(await whereRuns(stage, "web", labels.nodePool)).toEqual(["favourite", "favourite"]);
    },
  },
  {
    title: "02:N-1 pods without the toleration stay out of a tainted pool, those with it go in",
    play: async (stage) => {
      const taints = [{ key: "example.com/gpu", value: "true", effect: "NoSchedule" }];
      const tainted = pool({ name: "tainted", spec: { weight: 50 }, template: { taints } });
      const tolerations = [{ key: "example.com/gpu", operator: "Exists" }];
      const nodeSelector = { [labels.nodePool]: "tainted" };
      await stage.apply(kwokClass, pool({ name: "plain" }), tainted);
      await stage.apply(deployment("web"), deployment("trainer", { pod: { tolerations, nodeSelector } }));
      await stage.until("web runs", running(stage, "web", 1));
      await stage.until("the trainer runs", running(stage, "trainer", 1));
      expect(await whereRuns(stage, "web", labels.nodePool)).toEqual(["plain"]);
      expect(await whereRuns(stage, "trainer", labels.nodePool)).toEqual(["tainted"]);
      expect((await theNode(stage, "tainted")).spec?.taints).toEqual(taints);
    },
  },
  {
    title: "02:R-30 minimum values keep so many types in a claim",
    play: async (stage) => {
      const flexible = { key: labels.instanceType, operator: "Exists", minValues: 20 };
      await stage.apply(kwokClass, pool({ requirements: [flexible] }), deployment("web", { cpu: "7" }));
      await stage.until("it runs", running(stage, "web", 1));
      const { metadata, spec } = await theClaim(stage);
      const types = spec.requirements.find(({ key }) => key === labels.instanceType);
      expect(types).toMatchObject({ operator: "In", minValues: 20 });
      expect(types?.values?.length).toBeGreaterThanOrEqual(20);
      expect(metadata.annotations?.["karpenter.sh/nodeclaim-min-values-relaxed"]).toBe("false");
    },
  },
  {
    title: "02:R-30 minimum values that cannot be met are lowered where that is allowed",
    settings: { minValuesPolicy: "BestEffort" },
    play: async (stage) => {
      const requirements = [{ ...isIn(labels.instanceType, "c-8x-amd64-linux", "s-8x-amd64-linux"), minValues: 2 }];
      await stage.apply(kwokClass, pool({ requirements }), deployment("web", { cpu: "7", memory: "20Gi" }));
      await stage.until("it runs", running(stage, "web", 1));
      const { metadata } = await theClaim(stage);
      expect(metadata.annotations?.["karpenter.sh/nodeclaim-min-values-relaxed"]).toBe("true");
    },
  },
  {
    title: "02:L-1 a change of prices changes what is bought next",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      stage.cloud.setPrice({ instanceType: "m-64x-amd64-linux", capacityType: "on-demand" }, 0.001);
      expect(await nodeFor(stage, {})).toMatchObject({
        [labels.instanceType]: "m-64x-amd64-linux",
        [labels.capacityType]: "on-demand",
      });
    },
  },
  {
    title: "02:P-33 a pool that is deleted is not bought from any more",
    play: async (stage) => {
      await stage.apply(
        kwokClass,
        pool({ name: "old", spec: { weight: 50 } }),
        pool({ name: "new" }),
        deployment("web"),
      );
      await stage.until("it runs", running(stage, "web", 1));
      const [claim] = await claimsOf(stage, "old");
      expect(claim).toBeDefined();
      await stage.remove(karpenterTypes.NodePool, "old");
      await stage.until("its claim is gone, its pod elsewhere", async () => (await nodesOf(stage, "old")).length === 0);
      await stage.until("it runs again", running(stage, "web", 1));
      expect((await claimsOf(stage)).map((one) => nameOf(one).startsWith("new-"))).toEqual([true]);
    },
  },
];
