import { describe, expect, it } from "vitest";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { type AwsWorld, inLarge, launchedClaim, opensAwsWorlds, storeClaim } from "./aws-world.ts";

const open = opensAwsWorlds({ runs: ({ name }) => name !== "nodeclaim.tagging" });
const requirements = inLarge("us-west-2a", "on-demand");

const running = async ({ provider, during }: AwsWorld) =>
  (await during(provider.list(), 1)).filter(({ isTerminating }) => !isTerminating).map(({ providerId }) => providerId);
const unlaunched = (one: AwsWorld, name: string, pool = "pool") =>
  one.store(one.claimOf(name, { requirements, metadata: { labels: { "karpenter.sh/nodepool": pool } } }));

describe("instance.garbagecollection of EC2", () => {
  it("03:G-3 an instance whose claim is written late is kept: until it is tagged, any older claim of its pool may be its own", async () => {
    const one = await open();
    await unlaunched(one, "a");
    await one.pass(1);
    const instance = await one.create("a", { requirements });
    await one.pass(120);
    expect(await running(one)).toEqual([instance.providerId]);

    const { status } = launchedClaim(one, instance, { name: "a", requirements });
    const patch = { kind: "merge", body: { status } } as const;
    await one.client.patch(karpenterTypes.NodeClaim, { name: "a" }, patch, { subresource: "status" });
    await one.pass(120);
    expect(await running(one)).toEqual([instance.providerId]);
  });

  it("03:G-3 an instance is collected once no claim of its pool can be waiting for it, and the log names it", async () => {
    const one = await open();
    const lost = await one.create("lost", { requirements });
    const claimed = await one.create("other", { requirements });
    await storeClaim(one, launchedClaim(one, claimed, { name: "other", requirements }), {});
    await one.pass(18); // beyond what clocks may differ by, and before it is collected
    await unlaunched(one, "younger");
    await unlaunched(one, "elsewhere", "another-pool");
    await one.pass(60);
    expect(await running(one)).toEqual([claimed.providerId]);
    expect(one.lines).toContainEqual(expect.objectContaining({ "provider-id": lost.providerId }));
  });
});
