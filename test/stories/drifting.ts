import { expect } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import {
  claimsOf,
  hearsaySeconds,
  isLeaving,
  isReady,
  isTrue,
  type LiveNode,
  nameOf,
  nodesOf,
  podsOf,
  running,
  settled,
  theClaim,
  told,
  whereRuns,
} from "./facts.ts";
import { cpuIs, eager, eagerPool, isTainted, replaced } from "./half-empty.ts";
import { isIn, kwokClass, type PoolOptions } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { budget, deployment, undisturbed } from "./workloads.ts";

/** Only drift takes nodes. */
const onlyDrift = { ...eager, consolidateAfter: "Never" };
const staticCapacity = { gates: { ...defaultGates, StaticCapacity: true } };

/** A pool of nodes of four cpus whose template is of this generation. */
function generation(which: string, { spec = {}, ...options }: PoolOptions = {}) {
  return eagerPool({
    requirements: [cpuIs("4")],
    labels: { generation: which },
    spec: { disruption: onlyDrift, ...spec },
    ...options,
  });
}

/** Nodes of the first generation with one pod of `web` each. */
async function filled(cluster: StoryCluster, count: number, options: PoolOptions = {}, pods: object = {}) {
  await cluster.apply(kwokClass, generation("one", options), deployment("web", { replicas: count, cpu: "3", ...pods }));
  await cluster.until("all pods run", running(cluster, "web", count));
  await cluster.until("each on a node", settled(cluster, count));
  return (await nodesOf(cluster)).map(nameOf);
}

export const drifting: readonly Story[] = [
  {
    title: "03:M-7 03:D-31 a node that the pool no longer wants is replaced by one that it wants",
    isSmoke: true,
    run: async (cluster) => {
      const old = await filled(cluster, 1);
      await cluster.apply(generation("one", { requirements: [cpuIs("8")] }));
      await cluster.until("it is replaced", replaced(cluster, old), 300);
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(await whereRuns(cluster, "web", "karpenter.kwok.sh/instance-cpu")).toEqual(["8"]);
    },
  },
  {
    title: "03:D-31 03:D-32b all nodes of an old template are replaced, and there are never fewer than before",
    run: async (cluster) => {
      const old = await filled(cluster, 3);
      await cluster.apply(generation("two"));
      let least = 3;
      await cluster.until(
        "all are replaced",
        async () => {
          least = Math.min(least, (await nodesOf(cluster)).filter(isReady).length);
          return replaced(cluster, old)();
        },
        600,
      );
      expect(least).toBe(3);
      await cluster.until("three nodes", settled(cluster, 3), 120);
      await cluster.until("all pods run", running(cluster, "web", 3));
    },
  },
  {
    title: "03:D-31 a budget of one: drifted nodes go one after the other",
    run: async (cluster) => {
      const spec = { disruption: { ...onlyDrift, budgets: [{ nodes: "1" }] } };
      const old = await filled(cluster, 3, { spec });
      await cluster.apply(generation("two", { spec }));
      let most = 0;
      await cluster.until(
        "all are replaced",
        async () => {
          // What is only waiting for the end of its instance no longer counts. (03:D-20)
          const going = (await claimsOf(cluster)).filter(
            (one) => (isTrue(one, "DisruptionReason") || isLeaving(one)) && !isTrue(one, "InstanceTerminating"),
          );
          most = Math.max(most, going.length);
          return replaced(cluster, old)();
        },
        900,
      );
      expect(most).toBe(1);
    },
  },
  {
    title: "03:D-31 empty drifted nodes go without a replacement, though nothing is consolidated",
    run: async (cluster) => {
      const old = await filled(cluster, 2);
      await cluster.scale("web", 1);
      await cluster.until("one is left", running(cluster, "web", 1));
      await cluster.pass(hearsaySeconds);
      await cluster.apply(generation("two"));
      await cluster.until("both are gone", replaced(cluster, old), 600);
      await cluster.until("one new node", settled(cluster, 1), 120);
      expect(await claimsOf(cluster)).toHaveLength(1);
      await cluster.until("it runs", running(cluster, "web", 1));
    },
  },
  {
    title: "03:D-31 pods that need two nodes now get two for one",
    run: async (cluster) => {
      const wide = generation("one", { requirements: [cpuIs("8")] });
      await cluster.apply(kwokClass, wide, deployment("web", { replicas: 2, cpu: "3" }));
      await cluster.until("both run", running(cluster, "web", 2));
      const old = (await nodesOf(cluster)).map(nameOf);
      expect(old).toHaveLength(1);
      await cluster.apply(generation("one", { requirements: [cpuIs("4")] }));
      await cluster.until("it is replaced", replaced(cluster, old), 300);
      await cluster.until("by two", settled(cluster, 2), 120);
      await cluster.until("both run", running(cluster, "web", 2));
    },
  },
  {
    title: "03:M-7 what drifted only for a while is not replaced",
    run: async (cluster) => {
      const spec = { disruption: { ...onlyDrift, budgets: [{ nodes: "0" }] } };
      const old = await filled(cluster, 1, { spec });
      await cluster.apply(generation("two", { spec }));
      await cluster.until("it is drifted", async () => isTrue(await theClaim(cluster), "Drifted"), 120);
      await cluster.apply(generation("one", { spec }));
      await cluster.until("it is not", async () => !isTrue(await theClaim(cluster), "Drifted"), 120);
      await cluster.pass(hearsaySeconds);
      await cluster.apply(generation("one"));
      await cluster.pass(60);
      expect((await nodesOf(cluster)).map(nameOf)).toEqual(old);
    },
  },
  {
    title: "03:D-17 a protected pod holds its drifted node",
    run: async (cluster) => {
      const old = await filled(cluster, 1, {}, { annotations: undisturbed });
      await cluster.apply(generation("two"));
      await cluster.until("it says why", told(cluster, { about: old[0] ?? "", reason: "DisruptionBlocked" }), 120);
      await cluster.pass(60);
      expect((await nodesOf(cluster)).map(nameOf)).toEqual(old);
      const [pod] = await podsOf(cluster, "web");
      const free = { metadata: { annotations: { "karpenter.sh/do-not-disrupt": null } } };
      await cluster.patch(builtInTypes.Pod, pod === undefined ? "" : nameOf(pod), free);
      await cluster.until("it is replaced", replaced(cluster, old), 300);
    },
  },
  {
    title: "03:D-17 03:D-32 with a grace period a protected pod holds its drifted node no longer than that",
    run: async (cluster) => {
      const template = { terminationGracePeriod: "60s" };
      const old = await filled(cluster, 1, { template }, { annotations: undisturbed });
      await cluster.apply(generation("two", { template }));
      await cluster.until("it goes", async () => (await nodesOf(cluster)).some(isTainted), 120);
      await cluster.pass(20);
      expect((await nodesOf(cluster)).map(nameOf)).toEqual(old); // nothing is launched for a pod that stays
      await cluster.until("it is replaced", replaced(cluster, old), 300);
      await cluster.until("it runs again", running(cluster, "web", 1), 120);
    },
  },
  {
    title: "03:D-18 a budget of pods holds a drifted node, and no longer than it is there",
    run: async (cluster) => {
      await cluster.apply(budget("web", { maxUnavailable: 0 }));
      const old = await filled(cluster, 1);
      await cluster.apply(generation("two"));
      await cluster.pass(90);
      expect((await nodesOf(cluster)).map(nameOf)).toEqual(old);
      await cluster.remove(builtInTypes.PodDisruptionBudget, "web");
      await cluster.until("it is replaced", replaced(cluster, old), 300);
    },
  },
  {
    title: "03:D-14 a drifted node that must not be disrupted stays; the other is replaced",
    run: async (cluster) => {
      const old = await filled(cluster, 2);
      const [kept = "", other = ""] = old;
      await cluster.patch(builtInTypes.Node, kept, { metadata: { annotations: undisturbed } });
      await cluster.pass(hearsaySeconds);
      await cluster.apply(generation("two"));
      await cluster.until("the other is replaced", replaced(cluster, [other]), 300);
      await cluster.pass(60);
      expect((await nodesOf(cluster)).map(nameOf)).toContain(kept);
    },
  },
  {
    title: "03:D-32b a pool whose replacements fail does not hold up another",
    needsVirtualTime: true,
    run: async (cluster) => {
      const of = (name: string, which: string, type: string) =>
        generation(which, { name, requirements: [isIn(labels.instanceType, type)] });
      const types = { a: "s-4x-amd64-linux", b: "c-4x-amd64-linux" };
      const on = (name: string) =>
        deployment(name, { cpu: "3", pod: { nodeSelector: { "karpenter.sh/nodepool": name } } });
      await cluster.apply(kwokClass, of("a", "one", types.a), of("b", "one", types.b), on("a"), on("b"));
      for (const name of ["a", "b"]) await cluster.until(`${name} runs`, running(cluster, name, 1));
      const nodeOf = async (name: string) => nameOf((await nodesOf(cluster, name))[0] as LiveNode);
      const [a, b] = [await nodeOf("a"), await nodeOf("b")];
      cluster.cloud.setAvailableCount({ instanceType: types.a }, 0);
      await cluster.apply(of("a", "two", types.a));
      await cluster.pass(20);
      await cluster.apply(of("b", "two", types.b));
      await cluster.until("b is replaced", replaced(cluster, [b]), 300);
      expect((await nodesOf(cluster, "a")).map(nameOf)).toEqual([a]);
      cluster.cloud.setAvailableCount({ instanceType: types.a }, 10);
      await cluster.until("a is replaced", replaced(cluster, [a]), 900);
      await cluster.until("both run", running(cluster, "a", 1), 120);
    },
  },
  {
    title: "03 §8.3 a controller that dies while a drifted node is replaced leaves one node",
    run: async (cluster) => {
      const old = await filled(cluster, 1);
      await cluster.apply(generation("two"));
      await cluster.until("it is marked", async () => (await nodesOf(cluster)).some(isTainted), 120);
      await cluster.restart();
      await cluster.until("it is replaced", replaced(cluster, old), 600);
      await cluster.until("at rest", settled(cluster), 300);
      await cluster.until("it runs", running(cluster, "web", 1));
      expect((await nodesOf(cluster)).some(isTainted)).toBe(false);
    },
  },
  {
    title: "03:D-30 a drifted static pool at its limit waits until there is room for one more",
    settings: staticCapacity,
    run: async (cluster) => {
      const of = (which: string, nodes: string) =>
        generation(which, { spec: { replicas: 2, limits: { nodes }, disruption: staticDisruption } });
      await cluster.apply(kwokClass, of("one", "2"));
      await cluster.until("two nodes", settled(cluster, 2));
      const old = (await nodesOf(cluster)).map(nameOf);
      await cluster.apply(of("two", "2"));
      await cluster.pass(60);
      expect((await nodesOf(cluster)).map(nameOf)).toEqual(old);
      await cluster.apply(of("two", "3"));
      let most = 0;
      await cluster.until(
        "both are replaced",
        async () => {
          most = Math.max(most, (await claimsOf(cluster)).length);
          return replaced(cluster, old)();
        },
        600,
      );
      expect(most).toBeLessThanOrEqual(3);
      await cluster.until("two nodes", settled(cluster, 2), 120);
    },
  },
  {
    title: "03:D-30 03:SP-4 a static pool that shrinks and drifts ends with as many new nodes as it should have",
    settings: staticCapacity,
    run: async (cluster) => {
      const of = (which: string, replicas: number) =>
        generation(which, { spec: { replicas, disruption: staticDisruption } });
      await cluster.apply(kwokClass, of("one", 3));
      await cluster.until("three nodes", settled(cluster, 3));
      const old = (await nodesOf(cluster)).map(nameOf);
      await cluster.apply(of("two", 1));
      await cluster.until("all are gone", replaced(cluster, old), 600);
      await cluster.until("one node", settled(cluster, 1), 120);
    },
  },
  {
    title: "03:D-29a 03:D-35 nodes of a static pool stay, however empty they are",
    settings: staticCapacity,
    run: async (cluster) => {
      await cluster.apply(kwokClass, generation("one", { spec: { replicas: 2, disruption: { budgets: [] } } }));
      await cluster.until("two nodes", settled(cluster, 2));
      await cluster.pass(90);
      expect(await nodesOf(cluster)).toHaveLength(2);
      expect((await nodesOf(cluster)).some(isTainted)).toBe(false);
    },
  },
  {
    title: "03:P-2 a node of an old template that a person deletes is not replaced twice",
    run: async (cluster) => {
      const old = await filled(cluster, 1);
      await cluster.apply(generation("two"));
      await cluster.until("it is marked", async () => (await nodesOf(cluster)).some(isTainted), 120);
      const claim = (await claimsOf(cluster)).find(({ status }) => status?.nodeName === old[0]);
      await cluster.remove(karpenterTypes.NodeClaim, claim === undefined ? "" : nameOf(claim));
      await cluster.until("it is replaced", replaced(cluster, old), 300);
      await cluster.until("it runs", running(cluster, "web", 1));
      await cluster.until("one node", settled(cluster, 1), 120);
    },
  },
];

const staticDisruption = { consolidateAfter: "Never", budgets: [{ nodes: "100%" }] };
