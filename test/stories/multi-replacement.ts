import { expect } from "vitest";
import { taints } from "../../src/api/labels.ts";
import { CloudError } from "../../src/cloud/cloud-error.ts";
import { defaultGates, type Settings } from "../../src/controllers/settings.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, isLeaving, logged, nameOf, nodesOf, podsOf, running, settled } from "./facts.ts";
import { isIn, kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { deployment } from "./workloads.ts";

const settings: Partial<Settings> = { gates: { ...defaultGates, MultiReplacement: true } };
const disruption = { consolidateAfter: "0s", budgets: [{ nodes: "100%" }] };
const onDemand = isIn("karpenter.sh/capacity-type", "on-demand");

/** Pods that never share a node. */
const apart = (app: string) => {
  const term = { labelSelector: { matchLabels: { app } }, topologyKey: "kubernetes.io/hostname" };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
};

/** As many large nodes as there are pods, each with one small pod that shares its node with no other. */
async function tooLarge(cluster: StoryCluster, count: number): Promise<readonly string[]> {
  const held = pool({ requirements: [onDemand], spec: { disruption: { ...disruption, budgets: [{ nodes: "0" }] } } });
  const large = deployment("large", { replicas: count, cpu: "6", pod: apart("large") });
  const web = deployment("web", { replicas: count, cpu: "500m", pod: apart("web") });
  await cluster.apply(kwokClass, held, large, web);
  await cluster.until("the small ones run", running(cluster, "web", count));
  await cluster.until("the large ones run", running(cluster, "large", count));
  await cluster.until("each on a node", settled(cluster, count), 300);
  const before = (await nodesOf(cluster)).map(nameOf);
  await cluster.scale("large", 0);
  await cluster.until("the large ones are gone", async () => (await podsOf(cluster, "large")).length === 0);
  await cluster.pass(60); // until all are consolidatable
  await cluster.patch(karpenterTypes.NodePool, "default", { spec: { disruption } });
  return before;
}

function replacementCounts(cluster: StoryCluster): readonly unknown[] {
  return cluster
    .log()
    .filter(({ message }) => message === "disrupting node(s)")
    .map((line) => line["replacement-node-count"]);
}

async function isAnyTainted(cluster: StoryCluster): Promise<boolean> {
  const nodes = await nodesOf(cluster);
  return nodes.some(({ spec }) => spec?.taints?.some(({ key }) => key === taints.disrupted.key) ?? false);
}

export const multiReplacement: readonly Story[] = [
  {
    title: "03:D-46b 03:D-72 03:D-75 several nodes are replaced by several, all of which are ready before one goes",
    settings,
    run: async (cluster) => {
      const before = await tooLarge(cluster, 3);
      await cluster.until(
        "one of them goes",
        async () => (await claimsOf(cluster)).some(isLeaving) || (await nodesOf(cluster)).length < 3,
        300,
      );
      const others = (await nodesOf(cluster)).filter((node) => !before.includes(nameOf(node)));
      expect(others.map(({ metadata }) => metadata.labels?.["karpenter.sh/initialized"])).toEqual([
        "true",
        "true",
        "true",
      ]);
      await cluster.until("three others are left", settled(cluster, 3), 300);
      await cluster.until("all pods run", running(cluster, "web", 3));
      expect(replacementCounts(cluster)).toEqual([3]);
    },
  },
  {
    title: "03:D-46b without the feature gate they are replaced one for one",
    run: async (cluster) => {
      const before = await tooLarge(cluster, 3);
      await cluster.until(
        "three others are left",
        async () =>
          (await settled(cluster, 3)()) && (await nodesOf(cluster)).every((node) => !before.includes(nameOf(node))),
        600,
      );
      expect(replacementCounts(cluster)).toEqual([1, 1, 1]);
    },
  },
  {
    title: "03:D-46b 03:D-79 when one of several replacements cannot be launched, no node goes, and none stays marked",
    settings,
    run: async (cluster) => {
      const before = await tooLarge(cluster, 3);
      const error = new CloudError("insufficient-capacity", "none left");
      cluster.cloud.failNext("create", { kind: "refused", error });
      await cluster.until(
        "it was tried and given up",
        async () => logged(cluster, "failed terminating nodes while executing a disruption command") > 0,
        300,
      );
      expect((await nodesOf(cluster)).map(nameOf)).toEqual(expect.arrayContaining([...before]));
      await cluster.until("no node is marked", async () => !(await isAnyTainted(cluster)), 60);
      await cluster.until(
        "three others are left",
        async () =>
          (await settled(cluster, 3)()) && (await nodesOf(cluster)).every((node) => !before.includes(nameOf(node))),
        900,
      );
      await cluster.until("all pods run", running(cluster, "web", 3));
    },
  },
];
