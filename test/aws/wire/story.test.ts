import { afterEach, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { accountId } from "./moto-account.ts";
import { describeOnMoto, type WireAccount } from "./shared.ts";
import {
  deleteAll,
  deployment,
  interruptSpot,
  nodeClass,
  pool,
  publishImages,
  publishPrices,
  releaseImages,
  scale,
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

/** From a class to nodes, through drift, interruption and a stockout, to an empty account. */
async function wholeStory(world: WireWorld): Promise<void> {
  const { account } = world;
  const { shim, cluster } = account;
  await world.create(nodeClass(cluster), pool);
  await untilReady(world);

  await world.create(deployment(2));
  const first = await untilRunning(world, 2);
  for (const { status, metadata } of first) {
    expect(status?.imageID).toBe("ami-0a00000000000001");
    expect(metadata.labels).toMatchObject({
      "karpenter.sh/capacity-type": "spot",
      "node.kubernetes.io/instance-type": "m5.large",
    });
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
    await wholeStory(world);
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
