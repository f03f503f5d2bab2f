import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  conditionOf,
  gone,
  isTrue,
  nameOf,
  nodesOf,
  podsOf,
  running,
  says,
  settled,
  theClaim,
  theNode,
  told,
} from "./facts.ts";
import { kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { deployment } from "./workloads.ts";

const boots = { key: "example.com/booting", value: "yes", effect: "NoSchedule" };

/** The one claim says this of a step of its life. */
function claimSays(cluster: StoryCluster, condition: string, reason: string) {
  return async (): Promise<boolean> => {
    const [claim] = await claimsOf(cluster);
    return claim !== undefined && conditionOf(claim, condition)?.reason === reason;
  };
}

export const joining: readonly Story[] = [
  {
    title: "03:L-11 a node that joins gets the claim's labels, taints, owner and finalizer",
    run: async (cluster) => {
      const taints = [{ key: "example.com/gpu", value: "true", effect: "NoSchedule" }];
      const tolerations = [{ key: "example.com/gpu", operator: "Exists" }];
      await cluster.apply(kwokClass, pool({ labels: { "example.com/team": "blue" }, template: { taints } }));
      await cluster.apply(deployment("web", { pod: { tolerations } }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const claim = await theClaim(cluster);
      const { metadata, spec } = await theNode(cluster);
      expect(metadata.finalizers).toContain("karpenter.sh/termination");
      expect(metadata.labels).toMatchObject({ "example.com/team": "blue", [labels.registered]: "true" });
      expect(metadata.ownerReferences).toMatchObject([
        { kind: "NodeClaim", name: nameOf(claim), uid: claim.metadata.uid },
      ]);
      expect(spec?.taints).toEqual(taints);
      expect(claim.status?.nodeName).toBe(metadata.name);
    },
  },
  {
    title: "03:L-15 a startup taint keeps a node from use until somebody takes it off",
    isSmoke: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool({ template: { startupTaints: [boots] } }), deployment("web"));
      await cluster.until("the claim waits", claimSays(cluster, "Initialized", "StartupTaintsExist"));
      const node = await theNode(cluster);
      expect(node.spec?.taints).toContainEqual(boots);
      expect((await podsOf(cluster, "web")).map(({ spec }) => spec.nodeName)).toEqual([undefined]);
      expect(await claimsOf(cluster)).toHaveLength(1);
      await cluster.patch(builtInTypes.Node, nameOf(node), { spec: { taints: null } });
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.until("one node", settled(cluster, 1));
      expect((await theNode(cluster)).spec?.taints ?? []).toEqual([]);
    },
  },
  {
    title: "03:L-21 03:P-22 a machine whose kubelet never speaks is given up after fifteen minutes",
    needsVirtualTime: true,
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "silent-kubelet" });
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it waits for its node", claimSays(cluster, "Registered", "NodeNotFound"));
      const first = nameOf(await theClaim(cluster));
      await cluster.pass(14 * 60);
      expect(nameOf(await theClaim(cluster))).toBe(first);
      expect(await nodesOf(cluster)).toEqual([]);
      await cluster.until("it is given up", gone(cluster, karpenterTypes.NodeClaim, first), 120);
      await cluster.until("another takes its place", running(cluster, "web", 1));
      await cluster.until("one machine", settled(cluster, 1));
    },
  },
  {
    title: "03:P-20 03:P-21 two machines that never join mark the pool, ones that do clear it",
    needsVirtualTime: true,
    settings: { registrationTimeoutMs: 60_000 },
    run: async (cluster) => {
      cluster.cloud.failNext("create", { kind: "silent-kubelet" }, 2);
      await cluster.apply(kwokClass, pool(), deployment("web"));
      const health = { type: karpenterTypes.NodePool, name: "default", condition: "NodeRegistrationHealthy" } as const;
      await cluster.until("it is marked", says(cluster, { ...health, is: "False", reason: "RegistrationFailed" }));
      expect(isTrue((await cluster.get(karpenterTypes.NodePool, "default")) ?? {}, "Ready")).toBe(true);
      await cluster.until("the third joins", running(cluster, "web", 1));
      await cluster.apply(deployment("more", { replicas: 3, cpu: "200" }));
      await cluster.until("more join", running(cluster, "more", 3));
      await cluster.until("it is cleared", says(cluster, { ...health }));
    },
  },
  {
    title: "03:L-18 a node whose kubelet is not ready at first is used once it is",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("a machine", async () => cluster.cloud.list().length === 1);
      const [machine] = cluster.cloud.list();
      cluster.cloud.setKubelet(machine?.id ?? "", "not-ready");
      await cluster.until("the claim waits", claimSays(cluster, "Initialized", "NodeNotReady"));
      await cluster.pass(5);
      expect(await running(cluster, "web", 1)()).toBe(false);
      cluster.cloud.setKubelet(machine?.id ?? "", "healthy");
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await claimsOf(cluster)).toHaveLength(1);
    },
  },
  {
    title: "03:L-18 a node that was used stays initialized whatever becomes of it",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const node = nameOf(await theNode(cluster));
      cluster.cloud.setKubelet(node, "not-ready");
      await cluster.until(
        "it is not ready",
        says(cluster, { type: builtInTypes.Node, name: node, condition: "Ready", is: "False" }),
      );
      await cluster.pass(5);
      expect(isTrue(await theClaim(cluster), "Initialized")).toBe(true);
      cluster.cloud.setKubelet(node, "healthy");
      await cluster.until("it is back", running(cluster, "web", 1));
    },
  },
  {
    title: "02:S-24 pods wait for a node that is on its way, and nothing more is bought for them",
    run: async (cluster) => {
      const slow = { ...kwokClass, spec: { nodeRegistrationDelay: "15s" } };
      await cluster.apply(slow, pool(), deployment("web", { replicas: 3 }));
      await cluster.until("all run", running(cluster, "web", 3));
      expect(await claimsOf(cluster)).toHaveLength(1);
      const { metadata } = (await podsOf(cluster, "web"))[0] ?? {};
      const words = `nodeclaim/${nameOf(await theClaim(cluster))}`;
      await cluster.until("they were told", told(cluster, { about: metadata?.name ?? "", reason: "Nominated", words }));
    },
  },
  {
    title: "03:C-3 a node smaller than was bought is told of, and nothing else",
    needsVirtualTime: true,
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web", { memory: "3Gi" }));
      await cluster.until("it runs", running(cluster, "web", 1));
      const node = await theNode(cluster);
      await cluster.patch(
        builtInTypes.Node,
        nameOf(node),
        { status: { capacity: { memory: "1Gi" } } },
        { subresource: "status" },
      );
      const name = nameOf(await theClaim(cluster));
      const asked = { type: karpenterTypes.NodeClaim, name, condition: "ConsistentStateFound", is: "False" } as const;
      await cluster.until("it is noticed", says(cluster, { ...asked, reason: "ConsistencyCheckFailed" }), 1_200);
      await cluster.until("it is told", told(cluster, { about: name, reason: "FailedConsistencyCheck" }));
      expect(await running(cluster, "web", 1)()).toBe(true);
    },
  },
];
