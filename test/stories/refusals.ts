import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, conditionOf, gone, type LivePod, logged, nodesOf, running, says, settled, told } from "./facts.ts";
import { isIn, kwokClass, pool, standaloneClaim } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { barePod, type WorkloadOptions } from "./workloads.ts";

/** A pod that cannot be placed says so, in words, and nothing is bought for it. */
async function refused(cluster: StoryCluster, options: WorkloadOptions, ...words: readonly string[]): Promise<void> {
  await cluster.apply(barePod("hopeless", options));
  const about = "hopeless";
  await cluster.until(
    "it says why",
    told(cluster, { about, reason: "FailedScheduling", words: "Failed to schedule pod, " }),
  );
  const ours = (await cluster.events(about)).filter(({ message }) => message.startsWith("Failed to schedule pod, "));
  for (const word of words) expect(ours.map(({ message }) => message).join("\n")).toContain(word);
  expect(await claimsOf(cluster)).toEqual([]);
  const pod = await cluster.get<LivePod>(builtInTypes.Pod, about);
  expect(pod?.spec.nodeName ?? "").toBe("");
}

export const refusals: readonly Story[] = [
  {
    title: "02:L-20 02:N-1 a pod without the pool's toleration says which taint keeps it out",
    isSmoke: true,
    run: async (cluster) => {
      const taints = [{ key: "example.com/gpu", value: "true", effect: "NoSchedule" }];
      await cluster.apply(kwokClass, pool({ template: { taints } }));
      await refused(cluster, {}, "did not tolerate taint (taint=example.com/gpu=true:NoSchedule)");
    },
  },
  {
    title: "02:L-20 02:N-2 a pod that asks for a label no pool knows says so",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      await refused(
        cluster,
        { pod: { nodeSelector: { "example.com/team": "x" } } },
        'label "example.com/team" does not have known values',
      );
    },
  },
  {
    title: "02:L-20 02:F-3 a pod that is larger than any machine says so",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      await refused(cluster, { cpu: "1000" }, "no instance type has enough resources");
    },
  },
  {
    title: "02:L-20 02:F-3 a pod for an instance type that nobody sells says so",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      await refused(
        cluster,
        { pod: { nodeSelector: { [labels.instanceType]: "x-1x-amd64-linux" } } },
        "no instance type met",
      );
    },
  },
  {
    title: "02:V-4 a pod with a selector it may not use is told which",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      const nodeSelector = { "karpenter.sh/custom": "x" };
      await refused(cluster, { pod: { nodeSelector } }, "using label karpenter.sh/custom is not allowed");
    },
  },
  {
    title: "02:V-5 a pod whose claim does not exist is told so",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "missing" } }];
      await refused(cluster, { pod: { volumes } }, "missing");
    },
  },
  {
    title: "02:V-1 a pod that wants no node of ours is left alone without a word",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool());
      const matchExpressions = [{ key: labels.nodePool, operator: "DoesNotExist" }];
      const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: [{ matchExpressions }] };
      const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } };
      await cluster.apply(barePod("shy", { pod: { affinity } }));
      await cluster.pass(15);
      expect(await claimsOf(cluster)).toEqual([]);
      const said = (await cluster.events("shy")).filter(({ message }) => message.startsWith("Failed to schedule pod"));
      expect(said).toEqual([]);
    },
  },
  {
    title: "02:P-32 without a pool nothing happens, and the log says why",
    run: async (cluster) => {
      await cluster.apply(kwokClass, barePod("early"));
      await cluster.until("the log says why", async () => logged(cluster, "no dynamic nodepools found") > 0);
      await cluster.apply(pool());
      await cluster.until("it runs once there is one", running(cluster, "early", 1));
    },
  },
  {
    title: "02:H-2 a pool at its limit buys nothing more until the limit is raised",
    run: async (cluster) => {
      const requirements = [isIn("karpenter.kwok.sh/instance-cpu", "4")];
      const limited = (cpu: string) => pool({ requirements, spec: { limits: { cpu } } });
      await cluster.apply(kwokClass, limited("4"), barePod("first", { cpu: "3" }));
      await cluster.until("the first runs", running(cluster, "first", 1));
      await cluster.apply(barePod("second", { cpu: "3" }));
      const words = "all available instance types exceed limits for nodepool (NodePool=default)";
      await cluster.until("the second says why", told(cluster, { about: "second", reason: "FailedScheduling", words }));
      expect(await claimsOf(cluster)).toHaveLength(1);
      await cluster.apply(limited("8"));
      await cluster.until("the second runs", running(cluster, "second", 1));
      await cluster.until("two nodes", settled(cluster, 2));
    },
  },
  {
    title: "02:L-22 a pool whose requirements leave no type says so",
    run: async (cluster) => {
      await cluster.apply(
        kwokClass,
        pool({ requirements: [isIn("karpenter.kwok.sh/instance-cpu", "5")] }),
        barePod("web"),
      );
      const words = "NodePool requirements filtered out all compatible available instance types";
      await cluster.until(
        "it says so",
        told(cluster, { about: "default", reason: "NoCompatibleInstanceTypes", words }),
      );
      expect(await claimsOf(cluster)).toEqual([]);
    },
  },
  {
    title: "03:L-6 a claim for a type nobody sells fails with the reason and goes",
    run: async (cluster) => {
      const requirements = [isIn(labels.instanceType, "x-1x-amd64-linux")];
      await cluster.apply(kwokClass, standaloneClaim("impossible", { requirements }));
      await cluster.until("it goes", gone(cluster, karpenterTypes.NodeClaim, "impossible"));
      const words = "NodeClaim impossible event: insufficient capacity, ";
      await cluster.until(
        "it said why",
        told(cluster, { about: "impossible", reason: "InsufficientCapacityError", words }),
      );
      expect(cluster.cloud.list()).toEqual([]);
    },
  },
  {
    title: "03:P-4 a pool that is not valid says why and is not bought from",
    run: async (cluster) => {
      const taints = [
        { key: "example.com/a", effect: "NoSchedule" },
        { key: "example.com/a", effect: "NoSchedule" },
      ];
      await cluster.apply(kwokClass, pool({ template: { taints } }), barePod("web"));
      const asked = {
        type: karpenterTypes.NodePool,
        name: "default",
        condition: "ValidationSucceeded",
        is: "False",
      } as const;
      await cluster.until("it says so", says(cluster, { ...asked, reason: "NodePoolValidationFailed" }));
      await cluster.pass(5);
      expect(await claimsOf(cluster)).toEqual([]);
      await cluster.apply(pool({ template: { taints: [] } }));
      await cluster.until("mended, it is bought from", running(cluster, "web", 1));
      const mended = await cluster.get(karpenterTypes.NodePool, "default");
      expect(mended && conditionOf(mended, "Ready")?.status).toBe("True");
    },
  },
  {
    title: "03:L-1 pools and claims of a node class that is not ours are not touched",
    run: async (cluster) => {
      const nodeClassRef = { group: "example.com", kind: "OtherNodeClass", name: "default" };
      await cluster.apply(kwokClass, pool({ name: "foreign", template: { nodeClassRef } }));
      await cluster.apply(standaloneClaim("foreign", { nodeClassRef }), barePod("web"));
      await cluster.pass(10);
      const found = await cluster.get(karpenterTypes.NodeClaim, "foreign");
      expect(found?.metadata.finalizers ?? []).toEqual([]);
      expect(found?.status ?? {}).toEqual({});
      const foreign = await cluster.get(karpenterTypes.NodePool, "foreign");
      expect(conditionOf(foreign ?? {}, "Ready")).toBeUndefined();
      await cluster.remove(karpenterTypes.NodeClaim, "foreign");
      expect(await nodesOf(cluster)).toEqual([]);
      expect(cluster.cloud.list()).toEqual([]);
    },
  },
];
