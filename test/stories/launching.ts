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
  scaleToNone,
  settled,
  theClaim,
  theNode,
  told,
  whereRuns,
} from "./facts.ts";
import { isIn, kwokClass, pool, standaloneClaim } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { deployment } from "./workloads.ts";

const pinned = (type: string, more: object = {}) => pool({ requirements: [isIn(labels.instanceType, type)], ...more });

/** The one claim says of its launch that it is undecided, with this reason. */
function launchSays(cluster: StoryCluster, reason: string) {
  return async (): Promise<boolean> => {
    const [claim] = await claimsOf(cluster);
    const launched = claim && conditionOf(claim, "Launched");
    return launched?.status === "Unknown" && launched.reason === reason;
  };
}

export const launching: readonly Story[] = [
  {
    title: "02:L-32 a type that is sold out is replaced by the next cheapest",
    run: async (cluster) => {
      cluster.cloud.setAvailableCount({ instanceType: "c-2x-amd64-linux" }, 0);
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", labels.instanceType)).toEqual(["s-2x-amd64-linux"]);
    },
  },
  {
    title: "02:L-32 03:L-6 a pool that is sold out gives way to another, and says so",
    isSmoke: true,
    run: async (cluster) => {
      cluster.cloud.setAvailableCount({ instanceType: "c-4x-amd64-linux" }, 0);
      const first = pinned("c-4x-amd64-linux", { name: "first", spec: { weight: 50 } });
      await cluster.apply(kwokClass, first, pool({ name: "second" }), deployment("web", { replicas: 2 }));
      await cluster.until("both run", running(cluster, "web", 2));
      expect(await whereRuns(cluster, "web", labels.nodePool)).toEqual(["second", "second"]);
      await cluster.until("one node", settled(cluster, 1));
      const disrupted = [...cluster.series()].filter(([name]) => name.startsWith("nodeclaims_disrupted_total{"));
      expect(disrupted.map(([name]) => name)).toEqual([
        'nodeclaims_disrupted_total{capacity_type="",consolidation_policy="",nodepool="first",reason="insufficient_capacity",termination_mode="graceful"}',
      ]);
    },
  },
  {
    title: "02:L-32 what is sold out is asked for again after three minutes",
    needsVirtualTime: true,
    run: async (cluster) => {
      cluster.cloud.setAvailableCount({ instanceType: "c-4x-amd64-linux" }, 0);
      await cluster.apply(kwokClass, pinned("c-4x-amd64-linux"), deployment("web"));
      await cluster.until("it was tried", async () => logged(cluster, "failed launching nodeclaim") === 1);
      cluster.cloud.setAvailableCount({ instanceType: "c-4x-amd64-linux" }, 1);
      await cluster.pass(150);
      expect(await claimsOf(cluster)).toEqual([]);
      await cluster.until("it runs", running(cluster, "web", 1), 60);
      expect(logged(cluster, "failed launching nodeclaim")).toBe(1);
    },
  },
  {
    title: "02:L-32 stock for one: the others wait and do not storm the cloud",
    needsVirtualTime: true,
    run: async (cluster) => {
      cluster.cloud.setAvailableCount({}, 1);
      const web = deployment("web", { replicas: 3, cpu: "200" });
      await cluster.apply(kwokClass, pool(), web);
      await cluster.until(
        "one runs",
        async () => (await podsOf(cluster, "web")).filter((pod) => isTrue(pod, "Ready")).length === 1,
      );
      await cluster.pass(600);
      expect(cluster.cloud.list()).toHaveLength(1);
      expect(logged(cluster, "created nodeclaim")).toBeLessThan(30);
      cluster.cloud.setAvailableCount({}, 5);
      await cluster.until("all run", running(cluster, "web", 3));
    },
  },
  {
    title: "03:L-6 a launch the cloud refuses says why and is tried again",
    run: async (cluster) => {
      const error = new CloudError("create-failed", "you may not", { reason: "Unauthorized" });
      cluster.cloud.failNext("create", { kind: "refused", error }, 3);
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("the claim says why", launchSays(cluster, "Unauthorized"));
      const claim = await theClaim(cluster);
      expect(conditionOf(claim, "Launched")).toMatchObject({
        status: "Unknown",
        reason: "Unauthorized",
        message: "you may not",
      });
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(nameOf(await theClaim(cluster))).toBe(nameOf(claim));
    },
  },
  {
    title: "03:L-6 a cloud that is unwell is asked again",
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "failed", message: "no idea" }, 2);
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("the claim says so", launchSays(cluster, "LaunchFailed"));
      expect(conditionOf(await theClaim(cluster), "Launched")?.message).toBe("no idea");
      await cluster.until("it runs", running(cluster, "web", 1));
    },
  },
  {
    title: "03:L-20 03:P-22 a launch that never succeeds is given up after five minutes and marks its pool",
    needsVirtualTime: true,
    run: async (cluster) => {
      cluster.cloud.setFaultRates({ failed: 1 });
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("a claim", async () => (await claimsOf(cluster)).length === 1);
      const name = nameOf(await theClaim(cluster));
      await cluster.pass(270);
      expect(nameOf(await theClaim(cluster))).toBe(name);
      await cluster.until("it is given up", gone(cluster, karpenterTypes.NodeClaim, name), 90);
      const health = { type: karpenterTypes.NodePool, name: "default", condition: "NodeRegistrationHealthy" } as const;
      await cluster.until("the pool is marked", says(cluster, { ...health, is: "False", reason: "LaunchFailed" }), 400);
      cluster.cloud.setFaultRates({});
      await cluster.until("it runs", running(cluster, "web", 1), 400);
      await cluster.until("one node", settled(cluster, 1));
    },
  },
  {
    title: "03:S-12 a launch whose answer is lost does not buy twice",
    isSmoke: true,
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "lost" }, 2);
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(cluster.cloud.list()).toHaveLength(1);
      await cluster.until("one node", settled(cluster, 1));
    },
  },
  {
    title: "02:P-21 nothing more is bought for pods whose claim is slow to launch",
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "slow", ms: 25_000 });
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 2 }));
      await cluster.until("both run", running(cluster, "web", 2));
      expect(logged(cluster, "created nodeclaim")).toBe(1);
    },
  },
  {
    title: "03:L-2 a claim without a pool gets its machine and its node, and gives them back",
    run: async (cluster) => {
      await cluster.apply(kwokClass, standaloneClaim("alone", { resources: { requests: { cpu: "3" } } }));
      await cluster.until(
        "it is ready",
        says(cluster, { type: karpenterTypes.NodeClaim, name: "alone", condition: "Ready" }),
      );
      const claim = await theClaim(cluster);
      const node = await cluster.get<LiveNode>(builtInTypes.Node, claim.status?.nodeName ?? "");
      expect(node?.spec?.providerID).toBe(claim.status?.providerID);
      expect(node?.metadata.labels).toMatchObject({
        [labels.instanceType]: "c-4x-amd64-linux",
        [labels.initialized]: "true",
      });
      await cluster.remove(karpenterTypes.NodeClaim, "alone");
      await cluster.until("all is given back", nothingLeft(cluster));
    },
  },
  {
    title: "03:L-33 a claim deleted before it is launched buys nothing",
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "failed" }, 100);
      await cluster.apply(kwokClass, standaloneClaim("short"));
      await cluster.until(
        "it was tried",
        says(cluster, {
          type: karpenterTypes.NodeClaim,
          name: "short",
          condition: "Launched",
          is: "Unknown",
          reason: "LaunchFailed",
        }),
      );
      await cluster.remove(karpenterTypes.NodeClaim, "short");
      await cluster.until("it goes", gone(cluster, karpenterTypes.NodeClaim, "short"), 60);
      expect(cluster.cloud.list()).toEqual([]);
    },
  },
  {
    title: "03 §6 a claim's life can be read from its events, the log and the metrics",
    isSmoke: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const claim = nameOf(await theClaim(cluster));
      const [pod] = await podsOf(cluster, "web");
      const words = `Pod should schedule on: nodeclaim/${claim}`;
      await cluster.until(
        "its pod was told",
        told(cluster, { about: pod?.metadata.name ?? "", reason: "Nominated", words }),
      );
      for (const reason of ["Registered", "Initialized", "Ready"]) {
        await cluster.until(`${reason} was told`, told(cluster, { about: claim, reason }));
      }
      for (const line of [
        "found provisionable pod(s)",
        "created nodeclaim",
        "launched nodeclaim",
        "registered nodeclaim",
        "initialized nodeclaim",
      ]) {
        expect([line, logged(cluster, line)]).toEqual([line, 1]);
      }
      const zone = (await theNode(cluster)).metadata.labels?.[labels.zone];
      expect(
        cluster
          .series()
          .get('nodeclaims_created_total{min_values_relaxed="false",nodepool="default",reason="provisioned"}'),
      ).toBe(1);
      expect(cluster.series().get(`nodes_created_total{nodepool="default",zone="${zone}"}`)).toBe(1);
      await scaleToNone(cluster, "web");
      await cluster.remove(karpenterTypes.NodeClaim, claim);
      await cluster.until("all is given back", nothingLeft(cluster));
      for (const line of ["tainted node", "deleted node", "deleted nodeclaim"]) {
        expect([line, logged(cluster, line)]).toEqual([line, 1]);
      }
      expect(cluster.series().get(`nodes_terminated_total{nodepool="default",zone="${zone}"}`)).toBe(1);
    },
  },
];
