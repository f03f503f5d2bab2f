import { CreateSecurityGroupCommand, DescribeSubnetsCommand, EC2Client, type Instance } from "@aws-sdk/client-ec2";
import { afterEach, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { isDeadlyCall } from "../killable.ts";
import { accountId } from "./moto-account.ts";
import { describeOnMoto, type WireAccount } from "./shared.ts";
import {
  changeClass,
  deleteAll,
  deployment,
  interruptSpot,
  nodeClass,
  pool,
  publishImages,
  publishPrices,
  releaseImages,
  scale,
  untilDrifted,
  untilReady,
  untilReplaced,
  untilRunning,
  untilTagged,
  userDataMarker,
} from "./story.ts";
import { type WireWorld, wireWorld } from "./wire-world.ts";

let open: WireWorld | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
});

async function opened(account: WireAccount): Promise<WireWorld> {
  open = await wireWorld(account);
  publishImages(open);
  publishPrices(open);
  account.shim.tables.onlyTypes.push("m5.large", "c5.large", "r5.large"); // every start reads them
  return open;
}

/** Calls that change something, in the order a story makes them first: each is a moment to die in. */
const deadly = [
  "CreateInstanceProfile",
  "AddRoleToInstanceProfile",
  "CreateLaunchTemplate",
  "CreateFleet",
  "CreateTags",
  "DeleteMessage",
  "TerminateInstances",
  "DeleteLaunchTemplate",
  "RemoveRoleFromInstanceProfile",
  "DeleteInstanceProfile",
];

/**
 * From a class to nodes, through drift, interruption and a stockout, to an empty account. A process that has just started
 * launches by the embedded prices until it has read AWS's, so that what is cheapest is certain only if none dies.
 */
async function wholeStory(world: WireWorld, { cheapest = ["m5.large", "c5.large"] } = {}): Promise<void> {
  const { account } = world;
  const { shim, cluster } = account;
  await world.create(nodeClass(cluster), pool);
  await untilReady(world);

  await world.create(deployment(2));
  const first = await untilRunning(world, 2);
  for (const { status, metadata } of first) {
    expect(status?.imageID).toBe("ami-0a00000000000001");
    expect(metadata.labels?.["karpenter.sh/capacity-type"]).toBe("spot");
    expect(cheapest).toContain(metadata.labels?.["node.kubernetes.io/instance-type"]);
  }
  await untilTagged(world, { team: "wire" });

  await releaseImages(world);
  await untilReplaced(world, first);
  const drifted = await untilRunning(world, 2);
  expect(drifted.map(({ status }) => status?.imageID)).toEqual(["ami-0b00000000000001", "ami-0b00000000000001"]);

  const [interrupted] = drifted;
  if (interrupted === undefined) throw new Error("no claim");
  await interruptSpot(world, interrupted);
  await untilReplaced(world, [interrupted]);
  const before = new Set((await untilRunning(world, 2)).map(({ metadata }) => metadata.name));
  shim.tables.soldOut.push({ capacityType: "*", type: "m5.large", zone: "*" });
  await scale(world, 4);
  const launched = (await untilRunning(world, 4)).filter(({ metadata }) => !before.has(metadata.name));
  for (const { metadata } of launched) expect(metadata.labels?.["node.kubernetes.io/instance-type"]).toBe("c5.large");

  await deleteAll(world);
}

describeOnMoto("an account from the first class to the last instance", (account) => {
  it("04 §7.3 class, pods, launch, tags, drift, interruption, stockout, deletion; and nothing secret is written", {
    timeout: 400_000,
  }, async () => {
    const world = await opened(account());
    await world.start();
    await wholeStory(world, { cheapest: ["m5.large"] });
    const soldOutTries = account().shim.calls.filter(
      ({ action, answer }) => action === "CreateFleet" && answer.includes("InsufficientInstanceCapacity"),
    );
    expect(soldOutTries.length).toBeGreaterThan(0);
    expect(soldOutTries.length).toBeLessThanOrEqual(4); // the stockout is remembered
    const text = await world.readable();
    const marker = Buffer.from(userDataMarker).toString("base64").slice(4, 24);
    for (const secret of [accountId, "AKIAWIRETEST00000000", "wire-test-secret", userDataMarker, marker]) {
      expect(text.includes(secret), secret).toBe(false);
    }
    expect(text).toContain("SpotInterrupted");
  });
});

describeOnMoto("drift of every kind that moto can show", (account) => {
  it("04 §9.6 by security group, subnet and static hash: named, and replaced", { timeout: 400_000 }, async () => {
    const world = await opened(account());
    const { api, motoUrl: endpoint, region, cluster } = account();
    await world.start();
    await world.create(nodeClass(cluster), pool, deployment(1));
    let [before] = await untilRunning(world, 1);
    const replacedFor = async (reason: string): Promise<Instance> => {
      if (before === undefined) throw new Error("no claim");
      await untilDrifted(world, reason);
      await untilReplaced(world, [before]);
      [before] = await untilRunning(world, 1);
      const [instance] = await world.instances.running();
      if (instance === undefined) throw new Error("no instance");
      return instance;
    };

    const group = await taggedGroup({ endpoint, region, cluster });
    const withBoth = await replacedFor("SecurityGroupDrift");
    expect(withBoth.SecurityGroups?.map(({ GroupId }) => GroupId)).toContain(group);

    const subnets = await api.ec2.describeSubnets({});
    const id = subnets.find(({ SubnetId }) => SubnetId !== withBoth.SubnetId)?.SubnetId ?? "";
    await changeClass(world, { subnetSelectorTerms: [{ id }] });
    expect((await replacedFor("SubnetDrift")).SubnetId).toBe(id);

    await changeClass(world, { tags: { team: "other" } });
    const retagged = await replacedFor("NodeClassDrift");
    expect(retagged.Tags).toContainEqual({ Key: "team", Value: "other" });
    await deleteAll(world);
  });
});

/** A second security group that the class selects, because it has its tag. */
async function taggedGroup({
  cluster,
  ...where
}: {
  readonly endpoint: string;
  readonly region: string;
  readonly cluster: string;
}): Promise<string> {
  const ec2 = new EC2Client({ ...where, credentials: { accessKeyId: "test", secretAccessKey: "test" } });
  const { Subnets: [subnet] = [] } = await ec2.send(new DescribeSubnetsCommand({}));
  const { GroupId = "" } = await ec2.send(
    new CreateSecurityGroupCommand({
      GroupName: "second",
      Description: "second",
      VpcId: subnet?.VpcId,
      TagSpecifications: [
        { ResourceType: "security-group", Tags: [{ Key: "karpenter.sh/discovery", Value: cluster }] },
      ],
    }),
  );
  ec2.destroy();
  return GroupId;
}

describeOnMoto("the same with a controller that dies at every kind of change", (account) => {
  it("04 §7.3 ends the same", { timeout: 550_000 }, async () => {
    const world = await opened(account());
    const left = new Set(deadly);
    const restarts: Promise<void>[] = [];
    const { shim } = account();
    shim.onCall = ({ action }) => {
      if (!left.has(action) || !world.kill()) return;
      left.delete(action);
      restarts.push(world.start());
    };
    await world.start();
    await wholeStory(world);
    await Promise.all(restarts);
    expect([...left]).toEqual([]);
    expect(world.starts()).toBe(deadly.length + 1);
  });
});

describeOnMoto("the same with a controller that dies at every kind of write to Kubernetes", (account) => {
  it("04 §7.3 ends the same", { timeout: 550_000 }, async () => {
    const world = await opened(account());
    const seen = new Set<string>();
    const restarts: Promise<void>[] = [];
    world.listenToCalls((call) => {
      const isOfKubernetes = !call.includes(":");
      if (!isOfKubernetes || !isDeadlyCall(call) || seen.has(call) || !world.kill()) return;
      seen.add(call);
      restarts.push(world.start());
      restarts.at(-1)?.catch(() => {}); // whoever waits for all of them hears of it
    });
    await world.start();
    await wholeStory(world);
    await Promise.all(restarts);
    expect([...seen]).toEqual(
      expect.arrayContaining([
        "create NodeClaim",
        "patch NodeClaim/status",
        "patch EC2NodeClass/status",
        "patch Node",
        "delete NodeClaim",
      ]),
    );
    expect(world.starts()).toBe(seen.size + 1);
  });
});

describeOnMoto("calls that take long", (account) => {
  it("04 §1.4 a class whose subnets AWS does not answer says so, and is ready once it does", {
    timeout: 200_000,
  }, async () => {
    const world = await opened(account());
    await world.start();
    account().shim.tables.fail({ action: "ec2:DescribeSubnets", delayMs: 6_000 }); // a minute and a half of the cluster's
    await world.create(nodeClass(account().cluster));
    await untilReady(world);
    const { items } = await world.client.list<KubeObject & { reason: string; message: string }>(builtInTypes.Event);
    const slow = items.filter(({ reason }) => reason === "NodeClassResolutionSlow").map(({ message }) => message);
    expect(slow).toContainEqual(
      expect.stringMatching(/^SubnetsReady is not known yet: AWS has not answered for 15 s; check/),
    );
    await deleteAll(world);
  });
});
