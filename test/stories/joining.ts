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
import type { Stage, Story } from "./story.ts";
import { deployment } from "./workloads.ts";

const boots = { key: "example.com/booting", value: "yes", effect: "NoSchedule" };

/** The one claim says this of a step of its life. */
function claimSays(stage: Stage, condition: string, reason: string) {
  return async (): Promise<boolean> => {
    const [claim] = await claimsOf(stage);
    return claim !== undefined && conditionOf(claim, condition)?.reason === reason;
  };
}

export const joining: readonly Story[] = [
  {
    title: "03:L-11 a node that joins gets the claim's labels, taints, owner and finalizer",
    play: async (stage) => {
      const taints = [{ key: "example.com/gpu", value: "true", effect: "NoSchedule" }];
      const tolerations = [{ key: "example.com/gpu", operator: "Exists" }];
      await stage.apply(kwokClass, pool({ labels: { "example.com/team": "blue" }, template: { taints } }));
      await stage.apply(deployment("web", { pod: { tolerations } }));
      await stage.until("it runs", running(stage, "web", 1));
      const claim = await theClaim(stage);
      const { metadata, spec } = await theNode(stage);
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
    play: async (stage) => {
      await stage.apply(kwokClass, pool({ template: { startupTaints: [boots] } }), deployment("web"));
      await stage.until("the claim waits", claimSays(stage, "Initialized", "StartupTaintsExist"));
      const node = await theNode(stage);
      expect(node.spec?.taints).toContainEqual(boots);
      expect((await podsOf(stage, "web")).map(({ spec }) => spec.nodeName)).toEqual([undefined]);
      expect(await claimsOf(stage)).toHaveLength(1);
      await stage.patch(builtInTypes.Node, nameOf(node), { spec: { taints: null } });
      await stage.until("it runs", running(stage, "web", 1));
      await stage.until("one node", settled(stage, 1));
      expect((await theNode(stage)).spec?.taints ?? []).toEqual([]);
    },
  },
  {
    title: "03:L-21 03:P-22 a machine whose kubelet never speaks is given up after fifteen minutes",
    needsVirtualTime: true,
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "dud" });
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it waits for its node", claimSays(stage, "Registered", "NodeNotFound"));
      const first = nameOf(await theClaim(stage));
      await stage.pass(14 * 60);
      expect(nameOf(await theClaim(stage))).toBe(first);
      expect(await nodesOf(stage)).toEqual([]);
      await stage.until("it is given up", gone(stage, karpenterTypes.NodeClaim, first), 120);
      await stage.until("another takes its place", running(stage, "web", 1));
      await stage.until("one machine", settled(stage, 1));
    },
  },
  {
    title: "03:P-20 03:P-21 two machines that never join mark the pool, ones that do clear it",
    needsVirtualTime: true,
    settings: { registrationTimeoutMs: 60_000 },
    play: async (stage) => {
      stage.cloud.failNext("create", { kind: "dud" }, 2);
      await stage.apply(kwokClass, pool(), deployment("web"));
      const health = { type: karpenterTypes.NodePool, name: "default", condition: "NodeRegistrationHealthy" } as const;
      await stage.until("it is marked", says(stage, { ...health, is: "False", reason: "RegistrationFailed" }));
      expect(isTrue((await stage.get(karpenterTypes.NodePool, "default")) ?? {}, "Ready")).toBe(true);
      await stage.until("the third joins", running(stage, "web", 1));
      await stage.apply(deployment("more", { replicas: 3, cpu: "200" }));
      await stage.until("more join", running(stage, "more", 3));
      await stage.until("it is cleared", says(stage, { ...health }));
    },
  },
  {
    title: "03:L-18 a node whose kubelet is not ready at first is used once it is",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("a machine", async () => stage.cloud.list().length === 1);
      const [machine] = stage.cloud.list();
      stage.cloud.setKubelet(machine?.id ?? "", "not-ready");
      await stage.until("the claim waits", claimSays(stage, "Initialized", "NodeNotReady"));
      await stage.pass(5);
      expect(await running(stage, "web", 1)()).toBe(false);
      stage.cloud.setKubelet(machine?.id ?? "", "healthy");
      await stage.until("it runs", running(stage, "web", 1));
      expect(await claimsOf(stage)).toHaveLength(1);
    },
  },
  {
    title: "03:L-18 a node that was used stays initialized whatever becomes of it",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const node = nameOf(await theNode(stage));
      stage.cloud.setKubelet(node, "not-ready");
      await stage.until(
        "it is not ready",
        says(stage, { type: builtInTypes.Node, name: node, condition: "Ready", is: "False" }),
      );
      await stage.pass(5);
      expect(isTrue(await theClaim(stage), "Initialized")).toBe(true);
      stage.cloud.setKubelet(node, "healthy");
      await stage.until("it is back", running(stage, "web", 1));
    },
  },
  {
    title: "02:S-24 pods wait for a node that is on its way, and nothing more is bought for them",
    play: async (stage) => {
      const slow = { ...kwokClass, spec: { nodeRegistrationDelay: "15s" } };
      await stage.apply(slow, pool(), deployment("web", { replicas: 3 }));
      await stage.until("all run", running(stage, "web", 3));
      expect(await claimsOf(stage)).toHaveLength(1);
      const { metadata } = (await podsOf(stage, "web"))[0] ?? {};
      const words = `nodeclaim/${nameOf(await theClaim(stage))}`;
      await stage.until("they were told", told(stage, { about: metadata?.name ?? "", reason: "Nominated", words }));
    },
  },
  {
    title: "03:C-3 a node smaller than was bought is told of, and nothing else",
    needsVirtualTime: true,
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web", { memory: "3Gi" }));
      await stage.until("it runs", running(stage, "web", 1));
      const node = await theNode(stage);
      await stage.patch(
        builtInTypes.Node,
        nameOf(node),
        { status: { capacity: { memory: "1Gi" } } },
        { subresource: "status" },
      );
      const name = nameOf(await theClaim(stage));
      const asked = { type: karpenterTypes.NodeClaim, name, condition: "ConsistentStateFound", is: "False" } as const;
      await stage.until("it is noticed", says(stage, { ...asked, reason: "ConsistencyCheckFailed" }), 1_200);
      await stage.until("it is told", told(stage, { about: name, reason: "FailedConsistencyCheck" }));
      expect(await running(stage, "web", 1)()).toBe(true);
    },
  },
];
