import { expect } from "vitest";
import type { Lease } from "../../src/kube/lease.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { claimsOf, logged, nameOf, running, settled, theClaim } from "./facts.ts";
import { kwokClass, pool } from "./manifests.ts";
import type { Story, StoryCluster } from "./story.ts";
import { deployment } from "./workloads.ts";

const lease = { name: "karpenter-leader-election", namespace: "karpenter" };

async function leader(cluster: StoryCluster): Promise<string | undefined> {
  return (await cluster.client.get<Lease>(builtInTypes.Lease, lease)).spec?.holderIdentity;
}

function leads(cluster: StoryCluster, who: (identity: string | undefined) => boolean) {
  return async (): Promise<boolean> => who(await leader(cluster));
}

export const leadership: readonly Story[] = [
  {
    title: "03 §6.5 of two controllers one acts, and the other waits",
    isSmoke: true,
    run: async (cluster) => {
      const first = await leader(cluster);
      const endRival = await cluster.rival();
      await cluster.apply(kwokClass, pool(), deployment("web", { replicas: 3 }));
      await cluster.until("all run", running(cluster, "web", 3));
      expect(await leader(cluster)).toBe(first);
      expect([logged(cluster, "became the leader"), logged(cluster, "waiting for the leader")]).toEqual([1, 1]);
      expect(logged(cluster, "created nodeclaim")).toBe((await claimsOf(cluster)).length);
      await endRival();
      expect(await leader(cluster)).toBe(first);
    },
  },
  {
    title: "03 §6.5 when the leader dies the one that waits takes over, and goes on where it was",
    run: async (cluster) => {
      const first = await leader(cluster);
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("a claim", async () => (await claimsOf(cluster)).length === 1);
      const claim = nameOf(await theClaim(cluster));
      const endRival = await cluster.rival();
      const diedAt = cluster.now();
      await cluster.restart();
      await cluster.until(
        "another leads",
        leads(cluster, (identity) => identity !== first),
        30,
      );
      expect(cluster.now() - diedAt).toBeGreaterThan(5_000); // the lease of the dead is respected
      await cluster.until("it runs", running(cluster, "web", 1));
      expect(nameOf(await theClaim(cluster))).toBe(claim);
      await endRival();
    },
  },
  {
    title: "03 §6.5 a leader that ends hands over at once, and the next disturbs nothing",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const [first, claim] = [await leader(cluster), nameOf(await theClaim(cluster))];
      await cluster.upgrade();
      await cluster.until(
        "another leads",
        leads(cluster, (identity) => identity !== first && identity !== ""),
        8,
      );
      await cluster.apply(deployment("more", { cpu: "30" }));
      await cluster.until("more runs", running(cluster, "more", 1));
      expect((await claimsOf(cluster)).map(nameOf)).toContain(claim);
      expect(await running(cluster, "web", 1)()).toBe(true);
    },
  },
  {
    title: "03 §6.5 a controller that lost its lease does nothing more",
    run: async (cluster) => {
      await cluster.apply(kwokClass, pool(), deployment("web"));
      await cluster.until("it runs", running(cluster, "web", 1));
      const renewTime = `${new Date(cluster.now()).toISOString().slice(0, -1)}000Z`;
      const body = { spec: { holderIdentity: "somebody-else", renewTime } };
      await cluster.client.patch(builtInTypes.Lease, lease, { kind: "merge", body });
      await cluster.until("it notices", async () => logged(cluster, "lost the lease") === 1, 30);
      await cluster.apply(deployment("more", { cpu: "30" }));
      await cluster.pass(10);
      expect(await claimsOf(cluster)).toHaveLength(1);
      await cluster.restart();
      await cluster.until("another goes on", running(cluster, "more", 1));
      await cluster.until("two nodes", settled(cluster, 2));
    },
  },
];
