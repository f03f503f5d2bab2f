import { afterEach, describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { annotations, finalizers } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { tagList } from "../../src/providers/aws/launch/launch-tags.ts";
import { type AwsWorld, awsWorld, inLarge, launchedClaim, storeClaim } from "./aws-world.ts";

let world: AwsWorld | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function open(): Promise<AwsWorld> {
  world = await awsWorld({ runs: ({ name }) => name !== "instance.garbagecollection" });
  return world;
}

const requirements = inLarge("us-west-2a", "on-demand");

interface StoredClaim {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly status?: object;
}

/** A claim with an instance, as it is stored once its node has joined. */
async function joinedClaim(one: AwsWorld, name: string, { status, ...metadata }: StoredClaim = {}): Promise<void> {
  const claim = launchedClaim(one, await one.create(name, { requirements }), { name, requirements });
  const own = { ...claim.metadata, ...metadata } as NodeClaim["metadata"];
  await storeClaim(one, { ...claim, metadata: own }, { nodeName: `node-${name}`, ...status });
}

interface TagCall {
  readonly Resources: readonly string[];
  readonly Tags: readonly { readonly Key: string; readonly Value: string }[];
}
const tagCalls = ({ aws }: AwsWorld) => aws.inputsOf<TagCall>("ec2:CreateTags");
const stored = (one: AwsWorld, name: string) => one.get<KubeObject & NodeClaim>(karpenterTypes.NodeClaim, name);
const isMarked = async (one: AwsWorld, name: string): Promise<boolean> =>
  (await stored(one, name))?.metadata.annotations?.[annotations.awsTagged] === "true";

describe("tagging", () => {
  it("04 §9.4 leaves claims alone that have no node, no instance, another's instance, or are done", async () => {
    const one = await open();
    await joinedClaim(one, "no-node", { status: { nodeName: "" } });
    await joinedClaim(one, "no-instance", { status: { providerID: "" } });
    await joinedClaim(one, "of-kwok", { status: { providerID: "kwok://node" } });
    const done = { [annotations.awsTagged]: "true", [annotations.awsClusterNameTagged]: "true" };
    await joinedClaim(one, "done", { annotations: done });
    await one.pass(10);
    expect(tagCalls(one)).toEqual([]);
    for (const name of ["no-node", "no-instance", "of-kwok"]) expect(await isMarked(one, name), name).toBe(false);
  });

  it("04 §9.4 leaves a claim alone that is being deleted", async () => {
    const one = await open();
    await joinedClaim(one, "going", { status: { nodeName: "" }, finalizers: [finalizers.termination] });
    await one.client.delete(karpenterTypes.NodeClaim, { name: "going" });
    const body = { status: { nodeName: "node-going" } };
    const patch = { kind: "merge", body } as const;
    await one.client.patch(karpenterTypes.NodeClaim, { name: "going" }, patch, { subresource: "status" });
    await one.pass(10);
    expect((await stored(one, "going"))?.metadata.deletionTimestamp).toBeDefined();
    expect(tagCalls(one)).toEqual([]);
  });

  it("04 §9.4 adds the cluster's name to an instance that was tagged before there was such a tag", async () => {
    const one = await open();
    const { providerId } = await one.create("old", { requirements });
    const id = providerId.split("/").at(-1) ?? "";
    const instance = one.aws.instances.get(id);
    if (instance === undefined) throw new Error("no instance");
    const kept = (instance.Tags ?? []).filter(({ Key }) => Key !== "eks:eks-cluster-name");
    const before = { Name: "node-old", "karpenter.sh/nodeclaim": "old" };
    one.aws.instances.set(id, { ...instance, Tags: [...kept, ...tagList(before)] });
    const claim = one.claimOf("old", { requirements, metadata: { annotations: { [annotations.awsTagged]: "true" } } });
    await storeClaim(one, { ...claim, status: { providerID: providerId } } as NodeClaim, { nodeName: "node-old" });
    await one.pass(5);
    expect(tagCalls(one)).toEqual([{ Resources: [id], Tags: [{ Key: "eks:eks-cluster-name", Value: "demo" }] }]);
    expect((await stored(one, "old"))?.metadata.annotations).toMatchObject({
      [annotations.awsTagged]: "true",
      [annotations.awsClusterNameTagged]: "true",
    });
  });

  it("04 §9.4 makes no call when every tag is there, and marks the claim", async () => {
    const one = await open();
    const { providerId } = await one.create("a", { requirements });
    const instance = one.aws.instances.get(providerId.split("/").at(-1) ?? "");
    instance?.Tags?.push({ Key: "Name", Value: "mine" }, { Key: "karpenter.sh/nodeclaim", Value: "a" });
    const claim = { ...one.claimOf("a", { requirements }), status: { providerID: providerId } } as NodeClaim;
    await storeClaim(one, claim, { nodeName: "node-a" });
    await one.pass(5);
    expect(tagCalls(one)).toEqual([]);
    expect(await isMarked(one, "a")).toBe(true);
  });

  it("04 §3.8 pauses for a second after each call, and tags one instance at a time", async () => {
    const one = await open();
    for (const name of ["a", "b", "c"]) await joinedClaim(one, name, { status: { nodeName: "" } });
    await one.pass(5);
    for (const name of ["a", "b", "c"]) {
      const patch = { kind: "merge", body: { status: { nodeName: `node-${name}` } } } as const;
      await one.client.patch(karpenterTypes.NodeClaim, { name }, patch, { subresource: "status" });
    }
    const calls: number[] = [];
    for (let tenths = 0; tenths < 35; tenths++) {
      await one.clock.advance(100);
      if (tagCalls(one).length > calls.length) calls.push(tenths);
    }
    expect(calls).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = calls;
    expect([second - first, third - second].every((pause) => pause >= 10)).toBe(true);
  });

  it("04 §3.8 ignores an instance that is gone: no event, no further call", async () => {
    const one = await open();
    const claim = { ...one.claimOf("a"), status: { providerID: "aws:///us-west-2a/i-0123456789abcdef0" } } as NodeClaim;
    await storeClaim(one, claim, { nodeName: "node-a" });
    await one.pass(60);
    expect(await one.events("a")).toEqual([]);
    expect(tagCalls(one)).toEqual([]);
    expect(await isMarked(one, "a")).toBe(false);
  });
});
