import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, hearsaySeconds, nameOf, running, theClaim, theNode, whereRuns } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, deployment } from "./workloads.ts";

const openTo = (...requirements: readonly object[]) => {
  const { spec, ...rest } = pool();
  const { template, ...more } = spec;
  return { ...rest, spec: { ...more, template: { ...template, spec: { ...template.spec, requirements } } } };
};

/** Runs a pod that selects nodes by labels, and says what its node is labelled. */
async function nodeFor(cluster: StoryCluster, nodeSelector: Readonly<Record<string, string>>) {
  await cluster.apply(barePod("picky", { pod: { nodeSelector } }));
  await cluster.until("it runs", running(cluster, "picky", 1));
  return (await theNode(cluster)).metadata.labels ?? {};
}

export const choices: readonly Story[] = [
  {
    title: "02:L-1 the cheapest machine that fits is bought, which is a spot one",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      expect(await nodeFor(cluster, {})).toMatchObject({
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
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      const node = await nodeFor(cluster, { [labels.capacityType]: "on-demand" });
      expect(node[labels.capacityType]).toBe("on-demand");
    },
  },
  {
    title: "02:R-21 a pod that names an instance type gets that type",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      const node = await nodeFor(cluster, { [labels.instanceType]: "m-16x-amd64-linux" });
      expect(node[labels.instanceType]).toBe("m-16x-amd64-linux");
    },
  },
  {
    title: "02:K-2 a pod for arm64 gets an arm64 machine",
    run: async (cluster) => {
      await cluster.apply(kwokClass, openTo(isIn(labels.os, "linux")));
      expect(await nodeFor(cluster, { [labels.arch]: "arm64" })).toMatchObject({
        [labels.arch]: "arm64",
        [labels.instanceType]: "c-2x-arm64-linux",
      });
    },
  },
  {
    title: "02:K-2 a pod for Windows gets a Windows machine",
    run: async (cluster) => {
      await cluster.apply(kwokClass, openTo(isIn(labels.arch, "amd64")));
      expect(await nodeFor(cluster, { [labels.os]: "windows" })).toMatchObject({
        [labels.os]: "windows",
        [labels.instanceType]: "c-2x-amd64-windows",
      });
    },
  },
  {
    title: "02:L-4 labels of the pool, and those a pod asks for within it, come to the node",
    isSmoke: true,
    run: async (cluster) => {
      const requirements = [{ key: "example.com/tier", operator: "Exists" }];
      await cluster.apply(kwokClass, pool({ requirements, labels: { "example.com/team": "blue" } }));
      expect(await nodeFor(cluster, { "example.com/tier": "gold" })).toMatchObject({
        "example.com/team": "blue",
        "example.com/tier": "gold",
      });
      expect((await theClaim(cluster)).metadata.labels).toMatchObject({ "example.com/tier": "gold" });
    },
  },
  {
    title: "02:Q-40 a preference nobody can meet is dropped",
    run: async (cluster) => {
      const preference = { matchExpressions: [isIn(labels.zone, "no-such-zone")] };
      const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 1, preference }];
      const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } };
      await cluster.apply(kwokClass, pool(), barePod("wishful", { pod: { affinity } }));
      await cluster.until("it runs", running(cluster, "wishful", 1));
    },
  },
  {
    title: "02:T-1 the pool of higher weight is asked first",
    run: async (cluster) => {
      const favourite = pool({ name: "favourite", spec: { weight: 50 } });
      await cluster.apply(kwokClass, pool({ name: "other" }), favourite, deployment("web", { replicas: 2 }));
      await cluster.until("both run", running(cluster, "web", 2));
      expect(await whereRuns(cluster, "web", labels.nodePool)).toEqual(["favourite", "favourite"]);
    },
  },
  {
    title: "02:N-1 pods without the toleration stay out of a tainted pool, those with it go in",
    run: async (cluster) => {
      const taints = [{ key: "example.com/gpu", value: "true", effect: "NoSchedule" }];
      const tainted = pool({ name: "tainted", spec: { weight: 50 }, template: { taints } });
      const tolerations = [{ key: "example.com/gpu", operator: "Exists" }];
      const nodeSelector = { [labels.nodePool]: "tainted" };
      await cluster.apply(kwokClass, pool({ name: "plain" }), tainted);
      await cluster.apply(deployment("web"), deployment("trainer", { pod: { tolerations, nodeSelector } }));
      await cluster.until("web runs", running(cluster, "web", 1));
      await cluster.until("the trainer runs", running(cluster, "trainer", 1));
      expect(await whereRuns(cluster, "web", labels.nodePool)).toEqual(["plain"]);
      expect(await whereRuns(cluster, "trainer", labels.nodePool)).toEqual(["tainted"]);
      expect((await theNode(cluster, "tainted")).spec?.taints).toEqual(taints);
    },
  },
  {
    title: "02:R-30 minimum values keep so many types in a claim",
    run: async (cluster) => {
      const flexible = { key: labels.instanceType, operator: "Exists", minValues: 20 };
      await cluster.apply(kwokClass, pool({ requirements: [flexible] }), deployment("web", { cpu: "7" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const { metadata, spec } = await theClaim(cluster);
      const types = spec.requirements.find(({ key }) => key === labels.instanceType);
      expect(types).toMatchObject({ operator: "In", minValues: 20 });
      expect(types?.values?.length).toBeGreaterThanOrEqual(20);
      expect(metadata.annotations?.["karpenter.sh/nodeclaim-min-values-relaxed"]).toBe("false");
    },
  },
  {
    title: "02:R-30 minimum values that cannot be met are lowered where that is allowed",
    settings: { minValuesPolicy: "BestEffort" },
    run: async (cluster) => {
      const requirements = [{ ...isIn(labels.instanceType, "c-8x-amd64-linux", "s-8x-amd64-linux"), minValues: 2 }];
      await cluster.apply(kwokClass, pool({ requirements }), deployment("web", { cpu: "7", memory: "20Gi" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const { metadata } = await theClaim(cluster);
      expect(metadata.annotations?.["karpenter.sh/nodeclaim-min-values-relaxed"]).toBe("true");
    },
  },
  {
    title: "02:L-1 a change of prices changes what is bought next",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      cluster.cloud.setPrice({ instanceType: "m-64x-amd64-linux", capacityType: "on-demand" }, 0.001);
      expect(await nodeFor(cluster, {})).toMatchObject({
        [labels.instanceType]: "m-64x-amd64-linux",
        [labels.capacityType]: "on-demand",
      });
    },
  },
  {
    title: "02:P-33 a pool that is deleted is not bought from any more",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool({ name: "old", spec: { weight: 50 } }), pool({ name: "new" }));
      await cluster.pass(hearsaySeconds);
      await cluster.apply(deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const [claim] = await claimsOf(cluster, "old");
      expect(claim).toBeDefined();
      await cluster.remove(karpenterTypes.NodePool, "old");
      await cluster.until(
        "its claim is gone, its pod elsewhere",
        async () => (await claimsOf(cluster, "old")).length === 0,
      );
      await cluster.until("it runs again", running(cluster, "web", 1));
      expect((await claimsOf(cluster)).map((one) => nameOf(one).startsWith("new-"))).toEqual([true]);
    },
  },
];
