import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, conditionOf, gone, type LivePod, logged, nodesOf, running, says, settled, told } from "./facts.ts";
import { isIn, kwokClass, pool, standaloneClaim } from "./manifests.ts";
import type { Stage, Story } from "./story.ts";
import { barePod, type WorkloadOptions } from "./workloads.ts";

/** A pod that cannot be placed says so, in words, and nothing is bought for it. */
async function refused(stage: Stage, options: WorkloadOptions, ...words: readonly string[]): Promise<void> {
  await stage.apply(barePod("hopeless", options));
  const about = "hopeless";
  await stage.until(
    "it says why",
    told(stage, { about, reason: "FailedScheduling", words: "Failed to schedule pod, " }),
  );
  const ours = (await stage.events(about)).filter(({ message }) => message.startsWith("Failed to schedule pod, "));
  for (const word of words) expect(ours.map(({ message }) => message).join("\n")).toContain(word);
  expect(await claimsOf(stage)).toEqual([]);
  const pod = await stage.get<LivePod>(builtInTypes.Pod, about);
  expect(pod?.spec.nodeName ?? "").toBe("");
}

export const refusals: readonly Story[] = [
  {
    title: "02:L-20 02:N-1 a pod without the pool's toleration says which taint keeps it out",
    isSmoke: true,
    play: async (stage) => {
      const taints = [{ key: "example.com/gpu", value: "true", effect: "NoSchedule" }];
      await stage.apply(kwokClass, pool({ template: { taints } }));
      await refused(stage, {}, "did not tolerate taint (taint=example.com/gpu=true:NoSchedule)");
    },
  },
  {
    title: "02:L-20 02:N-2 a pod that asks for a label no pool knows says so",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      await refused(
        stage,
        { pod: { nodeSelector: { "example.com/team": "x" } } },
        'label "example.com/team" does not have known values',
      );
    },
  },
  {
    title: "02:L-20 02:F-3 a pod that is larger than any machine says so",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      await refused(stage, { cpu: "1000" }, "no instance type has enough resources");
    },
  },
  {
    title: "02:L-20 02:F-3 a pod for an instance type that nobody sells says so",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      await refused(
        stage,
        { pod: { nodeSelector: { [labels.instanceType]: "x-1x-amd64-linux" } } },
        "no instance type met",
      );
    },
  },
  {
    title: "02:V-4 a pod with a selector it may not use is told which",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      const nodeSelector = { "karpenter.sh/custom": "x" };
      await refused(stage, { pod: { nodeSelector } }, "using label karpenter.sh/custom is not allowed");
    },
  },
  {
    title: "02:V-5 a pod whose claim does not exist is told so",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "missing" } }];
      await refused(stage, { pod: { volumes } }, "missing");
    },
  },
  {
    title: "02:V-1 a pod that wants no node of ours is left alone without a word",
    play: async (stage) => {
      await stage.apply(kwokClass, pool());
      const matchExpressions = [{ key: labels.nodePool, operator: "DoesNotExist" }];
      const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: [{ matchExpressions }] };
      const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } };
      await stage.apply(barePod("shy", { pod: { affinity } }));
      await stage.pass(15);
      expect(await claimsOf(stage)).toEqual([]);
      const said = (await stage.events("shy")).filter(({ message }) => message.startsWith("Failed to schedule pod"));
      expect(said).toEqual([]);
    },
  },
  {
    title: "02:P-32 without a pool nothing happens, and the log says why",
    play: async (stage) => {
      await stage.apply(kwokClass, barePod("early"));
      await stage.until("the log says why", async () => logged(stage, "no dynamic nodepools found") > 0);
      await stage.apply(pool());
      await stage.until("it runs once there is one", running(stage, "early", 1));
    },
  },
  {
    title: "02:H-2 a pool at its limit buys nothing more until the limit is raised",
    play: async (stage) => {
      const requirements = [isIn("karpenter.kwok.sh/instance-cpu", "4")];
      const limited = (cpu: string) => pool({ requirements, spec: { limits: { cpu } } });
      await stage.apply(kwokClass, limited("4"), barePod("first", { cpu: "3" }));
      await stage.until("the first runs", running(stage, "first", 1));
      await stage.apply(barePod("second", { cpu: "3" }));
      const words = "all available instance types exceed limits for nodepool (NodePool=default)";
      await stage.until("the second says why", told(stage, { about: "second", reason: "FailedScheduling", words }));
      expect(await claimsOf(stage)).toHaveLength(1);
      await stage.apply(limited("8"));
      await stage.until("the second runs", running(stage, "second", 1));
      await stage.until("two nodes", settled(stage, 2));
    },
  },
  {
    title: "02:L-22 a pool whose requirements leave no type says so",
    play: async (stage) => {
      await stage.apply(
        kwokClass,
        pool({ requirements: [isIn("karpenter.kwok.sh/instance-cpu", "5")] }),
        barePod("web"),
      );
      const words = "NodePool requirements filtered out all compatible available instance types";
      await stage.until("it says so", told(stage, { about: "default", reason: "NoCompatibleInstanceTypes", words }));
      expect(await claimsOf(stage)).toEqual([]);
    },
  },
  {
    title: "03:L-6 a claim for a type nobody sells fails with the reason and goes",
    play: async (stage) => {
      const requirements = [isIn(labels.instanceType, "x-1x-amd64-linux")];
      await stage.apply(kwokClass, standaloneClaim("impossible", { requirements }));
      await stage.until("it goes", gone(stage, karpenterTypes.NodeClaim, "impossible"));
      const words = "NodeClaim impossible event: insufficient capacity, ";
      await stage.until(
        "it said why",
        told(stage, { about: "impossible", reason: "InsufficientCapacityError", words }),
      );
      expect(stage.cloud.list()).toEqual([]);
    },
  },
  {
    title: "03:P-4 a pool that is not valid says why and is not bought from",
    play: async (stage) => {
      const taints = [
        { key: "example.com/a", effect: "NoSchedule" },
        { key: "example.com/a", effect: "NoSchedule" },
      ];
      await stage.apply(kwokClass, pool({ template: { taints } }), barePod("web"));
      const asked = {
        type: karpenterTypes.NodePool,
        name: "default",
        condition: "ValidationSucceeded",
        is: "False",
      } as const;
      await stage.until("it says so", says(stage, { ...asked, reason: "NodePoolValidationFailed" }));
      await stage.pass(5);
      expect(await claimsOf(stage)).toEqual([]);
      await stage.apply(pool({ template: { taints: [] } }));
      await stage.until("mended, it is bought from", running(stage, "web", 1));
      const mended = await stage.get(karpenterTypes.NodePool, "default");
      expect(mended && conditionOf(mended, "Ready")?.status).toBe("True");
    },
  },
  {
    title: "03:L-1 pools and claims of a node class that is not ours are not touched",
    play: async (stage) => {
      const nodeClassRef = { group: "example.com", kind: "OtherNodeClass", name: "default" };
      await stage.apply(kwokClass, pool({ name: "foreign", template: { nodeClassRef } }));
      await stage.apply(standaloneClaim("foreign", { nodeClassRef }), barePod("web"));
      await stage.pass(10);
      const found = await stage.get(karpenterTypes.NodeClaim, "foreign");
      expect(found?.metadata.finalizers ?? []).toEqual([]);
      expect(found?.status ?? {}).toEqual({});
      const foreign = await stage.get(karpenterTypes.NodePool, "foreign");
      expect(conditionOf(foreign ?? {}, "Ready")).toBeUndefined();
      await stage.remove(karpenterTypes.NodeClaim, "foreign");
      expect(await nodesOf(stage)).toEqual([]);
      expect(stage.cloud.list()).toEqual([]);
    },
  },
];
