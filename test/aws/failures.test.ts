import { afterEach, describe, expect, it } from "vitest";
import { getCondition } from "../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { type AwsStory, awsStory } from "./aws-story.ts";
import { type NodeClassWorld, nodeClassWorld } from "./node-class-world.ts";

const worlds: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
});
function opened<T extends { stop(): Promise<void> }>(world: T): T {
  worlds.push(world);
  return world;
}

async function eventTexts(world: NodeClassWorld | AwsStory, name: string): Promise<readonly string[]> {
  return (await world.events(name)).map(({ reason, message }) => `${reason}: ${message}`);
}

const refused = { code: "UnauthorizedOperation", message: "You are not authorized to perform this operation." };
const throttled = { code: "RequestLimitExceeded", message: "Request limit exceeded.", status: 503 };
const broken = { code: "InternalError", message: "An internal error has occurred", status: 500 };
const silent = { code: "TimeoutError", message: "Connection timed out after 240000 ms" };

/** Every call a class needs, and the condition that waits for it. */
const classCalls = [
  ["ec2:DescribeImages", "AMIsReady"],
  ["ec2:DescribeCapacityReservations", "CapacityReservationsReady"],
  ["ec2:DescribePlacementGroups", "PlacementGroupReady"],
  ["ec2:DescribeSubnets", "SubnetsReady"],
  ["ec2:DescribeSecurityGroups", "SecurityGroupsReady"],
  ["iam:CreateInstanceProfile", "InstanceProfileReady"],
  ["iam:AddRoleToInstanceProfile", "InstanceProfileReady"],
  ["eks:DescribeCluster", "ValidationSucceeded"],
  ["ec2:CreateLaunchTemplate", "ValidationSucceeded"],
  ["ec2:CreateFleet", "ValidationSucceeded"],
  ["ec2:RunInstances", "ValidationSucceeded"],
] as const;

const spec = {
  capacityReservationSelectorTerms: [{ tags: { team: "web" } }],
  placementGroupSelector: { name: "close" },
};
const withGroup = (aws: NodeClassWorld["aws"]) =>
  void aws.placementGroups.push({ GroupId: "pg-1", GroupName: "close", State: "available", Strategy: "cluster" });

describe("calls of a class that AWS does not answer as hoped", () => {
  it.each(classCalls)(
    "04 §1.4 %s refused: condition or event of %s names the call and the policy",
    async (call, type) => {
      const world = opened(await nodeClassWorld({ account: withGroup }));
      world.aws.failNext(call, refused, 500);
      await world.create(spec);
      const told = [await world.message(type), ...(await eventTexts(world, "web"))];
      expect(told.some((text) => text.includes(`${call} is not allowed`) && text.includes("karpenter aws iam"))).toBe(
        true,
      );
      expect(await world.condition("Ready")).not.toContain("True");
    },
  );

  it.each([
    ["throttled", throttled, /is throttled .*it is tried again.*higher rate/],
    ["failed by AWS itself", broken, /failed on the side of AWS .*it is tried again/],
    ["not answered", silent, /was not answered .*VPC endpoints.*it is tried again/],
  ])(
    "04 §1.4 calls %s leave an event each, and the class is ready once they are answered",
    async (_, error, expected) => {
      const world = opened(await nodeClassWorld({ account: withGroup }));
      for (const [call] of classCalls) world.aws.failNext(call, error);
      await world.create(spec);
      await world.pass(120);
      const told = await eventTexts(world, "web");
      // Two calls of one condition are told apart by what failed, not by when: the first of them is enough.
      const missing = [...new Set(classCalls.map(([, condition]) => condition))].filter(
        (condition) => !told.some((text) => text.includes(`${condition} cannot be determined`) && expected.test(text)),
      );
      expect(missing, told.join("\n")).toEqual([]);
      expect(await world.condition("Ready")).toBe("True Ready");
    },
  );

  it("04 §1.4 a call that takes long says so before it is answered", async () => {
    const world = opened(
      await nodeClassWorld({ account: (aws) => void aws.delaysMs.set("ec2:DescribeImages", 20_000) }),
    );
    await world.create();
    await world.pass(15);
    expect(await eventTexts(world, "web")).toEqual([
      expect.stringMatching(
        /^NodeClassResolutionSlow: AMIsReady is not known yet: AWS has not answered for 15 s; check/,
      ),
    ]);
    await world.pass(300);
    expect(await world.condition("Ready")).toBe("True Ready");
  });

  it("04 §1.7 images of which some parameters cannot be read are used, and the rest is named", async () => {
    const eks = "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023";
    const account = (aws: NodeClassWorld["aws"]) => {
      aws.parameters.set(`${eks}/arm64/standard/recommended/image_id`, "ami-arm64");
      aws.failNext("ssm:GetParameter", { code: "AccessDeniedException" });
    };
    const world = opened(await nodeClassWorld({ account }));
    await world.create({ amiSelectorTerms: [{ alias: "al2023@latest" }] });
    expect(await world.condition("AMIsReady")).toBe("True AMIsReady");
    expect((await eventTexts(world, "web")).join()).toContain("ssm:GetParameter is not allowed");
  });

  it("04 §1.7 a parameter of the user's that is missing is named, whatever the other terms find", async () => {
    const world = opened(await nodeClassWorld());
    await world.create({ amiFamily: "AL2023", amiSelectorTerms: [{ ssmParameter: "/mine" }, { id: "ami-amd64" }] });
    expect(await world.condition("AMIsReady")).toBe("True AMIsReady");
    expect((await eventTexts(world, "web")).join()).toContain("there is no SSM parameter /mine; create it");
  });
});

describe("calls of a launch that AWS does not answer as hoped", () => {
  const launched = async (world: AwsStory) => {
    const [claim] = await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
    return claim === undefined ? undefined : getCondition(claim, "Launched");
  };

  it.each([
    ["refused", refused, "Unauthorized", /^allow it in the policies .*karpenter aws iam/],
    ["throttled", throttled, "RequestLimitExceeded", /^it is retried/],
    ["failed by AWS itself", broken, "InternalError", /^it is retried/],
    ["not answered", silent, "LaunchFailed", /was not answered .*VPC endpoints/],
  ])("03:L-6 CreateFleet %s: Launched says why and what to do, and the node comes once it works", async (...row) => {
    const [, error, reason, message] = row;
    const world = opened(await awsStory({ settings: { isDryRunDisabled: true } }));
    world.aws.failNext("ec2:CreateFleet", error, 100);
    await world.store(world.deployment(1));
    await world.pass(8);
    const condition = await launched(world);
    expect([condition?.status, condition?.reason]).toEqual(["Unknown", reason]);
    expect(condition?.message).toMatch(message);
    world.aws.recover("ec2:CreateFleet");
    await world.pass(120);
    expect((await launched(world))?.status).toBe("True");
  });

  it("03:L-6 a launch that takes long says so on its claim", async () => {
    const world = opened(await awsStory({ settings: { isDryRunDisabled: true } }));
    world.aws.delaysMs.set("ec2:CreateFleet", 40_000);
    await world.store(world.deployment(1));
    await world.pass(120);
    const [claim] = await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
    expect(await eventTexts(world, claim?.metadata.name ?? "")).toContainEqual(
      expect.stringMatching(
        /^LaunchSlow: AWS has not answered the launch for 30 s; check that the controller's network/,
      ),
    );
  });

  it("04 §3.6 a fleet that fails in part: what is sold out is remembered, the instance of another offering is used", async () => {
    const world = opened(await awsStory({ settings: { isDryRunDisabled: true } }));
    for (const zone of ["a", "b", "c", "d"]) {
      world.aws.poolErrors.set(`spot:m5.large:us-west-2${zone}`, {
        code: "InsufficientInstanceCapacity",
        message: "none",
      });
    }
    await world.store(world.deployment(1));
    await world.pass(60);
    const [claim] = await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
    expect(claim?.metadata.labels?.["node.kubernetes.io/instance-type"]).toBe("c5.large");
    expect(world.aws.running()).toHaveLength(1);
  });

  it("04 §3.8 a termination and tags that are refused are events on the claim", async () => {
    const world = opened(await awsStory({ settings: { isDryRunDisabled: true } }));
    world.aws.failNext("ec2:CreateTags", refused, 3);
    await world.store(world.deployment(1));
    await world.pass(60);
    const [claim] = await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
    const { name = "" } = claim?.metadata ?? {};
    world.aws.failNext("ec2:TerminateInstances", refused, 4);
    await world.client.delete(karpenterTypes.NodeClaim, { name });
    await world.pass(20);
    const told = await eventTexts(world, name);
    expect(told).toContainEqual(expect.stringMatching(/^InstanceTaggingFailed: .*ec2:CreateTags is not allowed/));
    expect(told).toContainEqual(
      expect.stringMatching(/^InstanceTerminationFailed: .*ec2:TerminateInstances is not allowed/),
    );
    await world.pass(300);
    expect(await world.get(karpenterTypes.NodeClaim, name)).toBeUndefined();
  });
});
