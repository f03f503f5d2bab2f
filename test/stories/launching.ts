import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { CloudError } from "../../src/cloud/cloud-error.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  conditionOf,
  gone,
  isTrue,
  type LiveNode,
  logged,
  nameOf,
  nothingLeft,
  podsOf,
  running,
  says,
  settled,
  theClaim,
  theNode,
  told,
  whereRuns,
} from "./facts.ts";
import { isIn, kwokClass, pool, standaloneClaim } from "./manifests.ts";
import type { Stage, Story } from "./story.ts";
import { deployment } from "./workloads.ts";

const pinned = (type: string, more: object = {}) => pool({ requirements: [isIn(labels.instanceType, type)], ...more });

/** The one claim says of its launch that it is undecided, with this reason. */
function launchSays(stage: Stage, reason: string) {
  return async (): Promise<boolean> => {
    const [claim] = await claimsOf(stage);
    const launched = claim && conditionOf(claim, "Launched");
    return launched?.status === "Unknown" && launched.reason === reason;
  };
}

export const launching: readonly Story[] = [
  {
    title: "02:L-32 a type that is sold out is replaced by the next cheapest",
    play: async (stage) => {
      stage.cloud.setAvailableCount({ instanceType: "c-2x-amd64-linux" }, 0);
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      expect(await whereRuns(stage, "web", labels.instanceType)).toEqual(["s-2x-amd64-linux"]);
    },
  },
  {
    title: "02:L-32 03:L-6 a pool that is sold out gives way to another, and says so",
    isSmoke: true,
    play: async (stage) => {
      stage.cloud.setAvailableCount({ instanceType: "c-4x-amd64-linux" }, 0);
      const first = pinned("c-4x-amd64-linux", { name: "first", spec: { weight: 50 } });
      await stage.apply(kwokClass, first, pool({ name: "second" }), deployment("web", { replicas: 2 }));
      await stage.until("both run", running(stage, "web", 2));
      expect(await whereRuns(stage, "web", labels.nodePool)).toEqual(["second", "second"]);
      await stage.until("one node", settled(stage, 1));
      const disrupted = [...stage.series()].filter(([name]) => name.startsWith("nodeclaims_disrupted_total{"));
      expect(disrupted.map(([name]) => name)).toEqual([
        'nodeclaims_disrupted_total{capacity_type="",consolidation_policy="",nodepool="first",reason="insufficient_capacity",termination_mode="graceful"}',
      ]);
    },
  },
  {
    title: "02:L-32 what is sold out is asked for again after three minutes",
    needsVirtualTime: true,
    play: async (stage) => {
      stage.cloud.setAvailableCount({ instanceType: "c-4x-amd64-linux" }, 0);
      await stage.apply(kwokClass, pinned("c-4x-amd64-linux"), deployment("web"));
      await stage.until("it was tried", async () => logged(stage, "failed launching nodeclaim") === 1);
      stage.cloud.setAvailableCount({ instanceType: "c-4x-amd64-linux" }, 1);
      await stage.pass(150);
      expect(await claimsOf(stage)).toEqual([]);
      await stage.until("it runs", running(stage, "web", 1), 60);
      expect(logged(stage, "failed launching nodeclaim")).toBe(1);
    },
  },
  {
    title: "02:L-32 stock for one: the others wait and do not storm the cloud",
    needsVirtualTime: true,
    play: async (stage) => {
      stage.cloud.setAvailableCount({}, 1);
      const web = deployment("web", { replicas: 3, cpu: "200" });
      await stage.apply(kwokClass, pool(), web);
      await stage.until(
        "one runs",
        async () => (await podsOf(stage, "web")).filter((pod) => isTrue(pod, "Ready")).length === 1,
      );
      await stage.pass(600);
      expect(stage.cloud.list()).toHaveLength(1);
      expect(logged(stage, "created nodeclaim")).toBeLessThan(30);
      stage.cloud.setAvailableCount({}, 5);
      await stage.until("all run", running(stage, "web", 3));
    },
  },
  {
    title: "03:L-6 a launch the cloud refuses says why and is tried again",
    play: async (stage) => {
      const error = new CloudError("create-failed", "you may not", { reason: "Unauthorized" });
      stage.cloud.failNext("create", { kind: "refused", error }, 3);
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("the claim says why", launchSays(stage, "Unauthorized"));
      const claim = await theClaim(stage);
      expect(conditionOf(claim, "Launched")).toMatchObject({
        status: "Unknown",
        reason: "Unauthorized",
        message: "you may not",
      });
      await stage.until("it runs", running(stage, "web", 1));
      expect(nameOf(await theClaim(stage))).toBe(nameOf(claim));
    },
  },
  {
    title: "03:L-6 a cloud that is unwell is asked again",
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "failed", message: "no idea" }, 2);
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("the claim says so", launchSays(stage, "LaunchFailed"));
      expect(conditionOf(await theClaim(stage), "Launched")?.message).toBe("no idea");
      await stage.until("it runs", running(stage, "web", 1));
    },
  },
  {
    title: "03:L-20 03:P-22 a launch that never succeeds is given up after five minutes and marks its pool",
    needsVirtualTime: true,
    play: async (stage) => {
      stage.cloud.setFaultRates({ failed: 1 });
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("a claim", async () => (await claimsOf(stage)).length === 1);
      const name = nameOf(await theClaim(stage));
      await stage.pass(270);
      expect(nameOf(await theClaim(stage))).toBe(name);
      await stage.until("it is given up", gone(stage, karpenterTypes.NodeClaim, name), 90);
      const health = { type: karpenterTypes.NodePool, name: "default", condition: "NodeRegistrationHealthy" } as const;
      await stage.until("the pool is marked", says(stage, { ...health, is: "False", reason: "LaunchFailed" }), 400);
      stage.cloud.setFaultRates({});
      await stage.until("it runs", running(stage, "web", 1), 400);
      await stage.until("one node", settled(stage, 1));
    },
  },
  {
    title: "03:S-12 a launch whose answer is lost does not buy twice",
    isSmoke: true,
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "lost" }, 2);
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      expect(stage.cloud.list()).toHaveLength(1);
      await stage.until("one node", settled(stage, 1));
    },
  },
  {
    title: "02:P-21 nothing more is bought for pods whose claim is slow to launch",
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "slow", ms: 25_000 });
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 2 }));
      await stage.until("both run", running(stage, "web", 2));
      expect(logged(stage, "created nodeclaim")).toBe(1);
    },
  },
  {
    title: "03:L-2 a claim without a pool gets its machine and its node, and gives them back",
    play: async (stage) => {
      await stage.apply(kwokClass, standaloneClaim("alone", { resources: { requests: { cpu: "3" } } }));
      await stage.until(
        "it is ready",
        says(stage, { type: karpenterTypes.NodeClaim, name: "alone", condition: "Ready" }),
      );
      const claim = await theClaim(stage);
      const node = await stage.get<LiveNode>(builtInTypes.Node, claim.status?.nodeName ?? "");
      expect(node?.spec?.providerID).toBe(claim.status?.providerID);
      expect(node?.metadata.labels).toMatchObject({
        [labels.instanceType]: "c-4x-amd64-linux",
        [labels.initialized]: "true",
      });
      await stage.remove(karpenterTypes.NodeClaim, "alone");
      await stage.until("all is given back", nothingLeft(stage));
    },
  },
  {
    title: "03:L-33 a claim deleted before it is launched buys nothing",
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "failed" }, 100);
      await stage.apply(kwokClass, standaloneClaim("short"));
      await stage.until(
        "it was tried",
        says(stage, {
          type: karpenterTypes.NodeClaim,
          name: "short",
          condition: "Launched",
          is: "Unknown",
          reason: "LaunchFailed",
        }),
      );
      await stage.remove(karpenterTypes.NodeClaim, "short");
      await stage.until("it goes", gone(stage, karpenterTypes.NodeClaim, "short"), 60);
      expect(stage.cloud.list()).toEqual([]);
    },
  },
  {
    title: "03 §6 a claim's life can be read from its events, the log and the metrics",
    isSmoke: true,
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const claim = nameOf(await theClaim(stage));
      const [pod] = await podsOf(stage, "web");
      const words = `Pod should schedule on: nodeclaim/${claim}`;
      await stage.until(
        "its pod was told",
        told(stage, { about: pod?.metadata.name ?? "", reason: "Nominated", words }),
      );
      for (const reason of ["Registered", "Initialized", "Ready"]) {
        await stage.until(`${reason} was told`, told(stage, { about: claim, reason }));
      }
      for (const line of [
        "found provisionable pod(s)",
        "created nodeclaim",
        "launched nodeclaim",
        "registered nodeclaim",
        "initialized nodeclaim",
      ]) {
        expect([line, logged(stage, line)]).toEqual([line, 1]);
      }
      const zone = (await theNode(stage)).metadata.labels?.[labels.zone];
      expect(
        stage
          .series()
          .get('nodeclaims_created_total{min_values_relaxed="false",nodepool="default",reason="provisioned"}'),
      ).toBe(1);
      expect(stage.series().get(`nodes_created_total{nodepool="default",zone="${zone}"}`)).toBe(1);
      await stage.scale("web", 0);
      await stage.remove(karpenterTypes.NodeClaim, claim);
      await stage.until("all is given back", nothingLeft(stage));
      for (const line of ["tainted node", "deleted node", "deleted nodeclaim"]) {
        expect([line, logged(stage, line)]).toEqual([line, 1]);
      }
      expect(stage.series().get(`nodes_terminated_total{nodepool="default",zone="${zone}"}`)).toBe(1);
    },
  },
];
