import { expect } from "vitest";
import type { Lease } from "../../src/kube/lease.ts";
import { builtInTypes } from "../../src/kube/resources.ts";
import { claimsOf, logged, nameOf, running, settled, theClaim } from "./facts.ts";
import { kwokClass, pool } from "./manifests.ts";
import type { Stage, Story } from "./story.ts";
import { deployment } from "./workloads.ts";

const lease = { name: "karpenter-leader-election", namespace: "karpenter" };

async function leader(stage: Stage): Promise<string | undefined> {
  return (await stage.client.get<Lease>(builtInTypes.Lease, lease)).spec?.holderIdentity;
}

function leads(stage: Stage, who: (identity: string | undefined) => boolean) {
  return async (): Promise<boolean> => who(await leader(stage));
}

export const leadership: readonly Story[] = [
  {
    title: "03 §6.5 of two controllers one acts, and the other waits",
    isSmoke: true,
    play: async (stage) => {
      const first = await leader(stage);
      const endRival = await stage.rival();
      await stage.apply(kwokClass, pool(), deployment("web", { replicas: 3 }));
      await stage.until("all run", running(stage, "web", 3));
      expect(await leader(stage)).toBe(first);
      expect([logged(stage, "became the leader"), logged(stage, "waiting for the leader")]).toEqual([1, 1]);
      expect(logged(stage, "created nodeclaim")).toBe((await claimsOf(stage)).length);
      await endRival();
      expect(await leader(stage)).toBe(first);
    },
  },
  {
    title: "03 §6.5 when the leader dies the one that waits takes over, and goes on where it was",
    play: async (stage) => {
      const first = await leader(stage);
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("a claim", async () => (await claimsOf(stage)).length === 1);
      const claim = nameOf(await theClaim(stage));
      const endRival = await stage.rival();
      const diedAt = stage.now();
      await stage.restart();
      await stage.until(
        "another leads",
        leads(stage, (identity) => identity !== first),
        30,
      );
      expect(stage.now() - diedAt).toBeGreaterThan(5_000); // the lease of the dead is respected
      await stage.until("it runs", running(stage, "web", 1));
      expect(nameOf(await theClaim(stage))).toBe(claim);
      await endRival();
    },
  },
  {
    title: "03 §6.5 a leader that ends hands over at once, and the next disturbs nothing",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const [first, claim] = [await leader(stage), nameOf(await theClaim(stage))];
      await stage.upgrade();
      await stage.until(
        "another leads",
        leads(stage, (identity) => identity !== first && identity !== ""),
        8,
      );
      await stage.apply(deployment("more", { cpu: "30" }));
      await stage.until("more runs", running(stage, "more", 1));
      expect((await claimsOf(stage)).map(nameOf)).toContain(claim);
      expect(await running(stage, "web", 1)()).toBe(true);
    },
  },
  {
    title: "03 §6.5 a controller that lost its lease does nothing more",
    play: async (stage) => {
      await stage.apply(kwokClass, pool(), deployment("web"));
      await stage.until("it runs", running(stage, "web", 1));
      const renewTime = `${new Date(stage.now()).toISOString().slice(0, -1)}000Z`;
      const body = { spec: { holderIdentity: "somebody-else", renewTime } };
      await stage.client.patch(builtInTypes.Lease, lease, { kind: "merge", body });
      await stage.until("it notices", async () => logged(stage, "lost the lease, another may lead") === 1, 30);
      await stage.apply(deployment("more", { cpu: "30" }));
      await stage.pass(10);
      expect(await claimsOf(stage)).toHaveLength(1);
      await stage.restart();
      await stage.until("another goes on", running(stage, "more", 1));
      await stage.until("two nodes", settled(stage, 2));
    },
  },
];
