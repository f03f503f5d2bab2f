import { afterEach, describe, expect, it } from "vitest";
import { commandTimeoutMs } from "../../../src/controllers/disruption/command-timeout.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import {
  type DisruptionWorld,
  disruptionWorld,
  eventually,
  type LiveClaim,
  runningNode,
  setConditions,
} from "./disruption-world.ts";

const initialized = ["Launched", "Registered", "Initialized", "Ready"];
const launched = ["Launched", "Registered=False", "Initialized=False", "Ready=False"];

let world: DisruptionWorld;
afterEach(() => world.stop());

/** A node that is being replaced, and the claim of its replacement, which is launched. */
async function replacing(): Promise<LiveClaim> {
  world = await disruptionWorld();
  await runningNode(world, "n1", { pods: ["1"] });
  return theReplacement();
}

async function theReplacement(): Promise<LiveClaim> {
  await eventually(world, async () => (await world.replacements()).length === 1);
  const [replacement] = await world.replacements();
  await setConditions(world, replacement as LiveClaim, launched);
  return replacement as LiveClaim;
}

/** A drifted node whose pods need two nodes, and both of them. */
async function replacingByTwo(): Promise<readonly [LiveClaim, LiveClaim]> {
  world = await disruptionWorld();
  const body = { spec: { template: { spec: { requirements: twoCpus } } } };
  await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body });
  await runningNode(world, "n1", { pods: ["1500m", "1500m"], conditions: ["Drifted"] });
  await eventually(world, async () => (await world.replacements()).length === 2);
  const [one, two] = (await world.replacements()) as [LiveClaim, LiveClaim];
  for (const each of [one, two]) await setConditions(world, each, launched);
  return [one, two];
}

const twoCpus = [
  { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
  { key: "node.kubernetes.io/instance-type", operator: "In", values: ["s-2x-amd64-linux"] },
];

async function remove(claim: LiveClaim): Promise<void> {
  const { name = "" } = claim.metadata;
  const free = { metadata: { finalizers: [] } };
  await world.client.patch(karpenterTypes.NodeClaim, { name }, { kind: "merge", body: free });
  if ((await world.claim(name)) !== undefined) await world.client.delete(karpenterTypes.NodeClaim, { name });
  await world.pass(0);
}

/** Neither taint nor reason nor mark. */
async function isUnmarked(name: string): Promise<boolean> {
  const reason = await world.conditionOf(name, "DisruptionReason");
  return !(await world.isTainted(name)) && reason === undefined && !world.cluster.nodeByName(name)?.isBeingDeleted;
}

const failures = () =>
  [...world.series].filter(([name]) => name.startsWith("voluntary_disruption_queue_failures_total"));

describe("03 §4.12 commands that run", () => {
  it("03:D-75 03:D-76 a node stays marked while its replacement starts, and nothing fails before the timeout", async () => {
    await replacing();
    await world.pass(9 * 60);
    expect([await world.isTainted("n1"), await world.isDeleted("n1")]).toEqual([true, false]);
    expect(failures()).toEqual([]);
    expect(await world.replacements()).toHaveLength(1);
  });

  it("03:D-76 03:D-79 after ten minutes the command fails: the node is as it was, and the replacement stays", async () => {
    const { metadata } = await replacing();
    await world.pass(9 * 60 + 50);
    expect(failures()).toEqual([]);
    await eventually(world, () => isUnmarked("n1"), 15);
    expect(failures()).toEqual([
      [
        'voluntary_disruption_queue_failures_total{consolidation_type="single",decision="replace",reason="underutilized"}',
        1,
      ],
    ]);
    expect(await world.isDeleted("n1")).toBe(false);
    expect(await world.claim(metadata.name ?? "")).toMatchObject({ metadata: { uid: metadata.uid } });
    expect(world.lines.filter(({ level }) => level === "error").map(({ message }) => message)).toEqual([
      "failed terminating nodes while executing a disruption command",
    ]);
  });

  it("03:D-76 a replacement that is there when the time is over counts: what succeeded is not rolled back", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { pods: ["1"] });
    const replacement = await theReplacement();
    const startedAt = world.clock.now();
    await world.pass(600 - 2);
    while (world.clock.now() - startedAt < 600_000) await world.clock.advance(100);
    await setConditions(world, replacement, initialized);
    await world.pass(3);
    expect(await world.isDeleted("n1")).toBe(true);
    expect(world.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(world.lines.map(({ message }) => message)).toContain("command succeeded");
    expect(failures()).toEqual([]);
  });

  it.each([
    [100, 600],
    [4_000, 600],
    [10_000, 800],
    [40_000, 3_200],
    [80_000, 3_600],
    [100_000, 3_600],
  ])("03:D-76 with %i nodes in commands each has %i s", (nodes, seconds) => {
    expect(commandTimeoutMs(nodes)).toBe(seconds * 1_000);
  });

  it("03:D-77 03:D-78 once the replacement is initialized the node goes, and says and counts it", async () => {
    const replacement = await replacing();
    await setConditions(world, replacement, initialized);
    await world.pass(2);
    expect(await world.isDeleted("n1")).toBe(true);
    expect((await world.events("n1")).map(({ reason, message }) => `${reason}: ${message}`)).toContain(
      "DisruptionTerminating: Disrupting Node: Underutilized",
    );
    const counted = [...world.series].filter(([name]) => /^(nodeclaims_disrupted|pods_disruption_init)/.test(name));
    const labels =
      'capacity_type="on-demand",consolidation_policy="when_empty_or_underutilized",nodepool="default",reason="underutilized",termination_mode="graceful"';
    expect(counted).toEqual([
      [`nodeclaims_disrupted_total{${labels}}`, 1],
      [`pods_disruption_initiated_total{${labels}}`, 1],
    ]);
    expect(world.lines.map(({ message }) => message)).toContain("command succeeded");
    expect(world.cluster.nodeByName("n1")?.isBeingDeleted).toBe(true);
  });

  it("03:D-75 a replacement says that it is launched and waited for", async () => {
    const { metadata } = await replacing();
    await world.pass(2);
    const reasons = (await world.events(metadata.name ?? "")).map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(["DisruptionLaunching", "DisruptionWaitingReadiness"]));
  });

  it("03:D-75 03:D-79 a replacement that is gone fails the command at once", async () => {
    await remove(await replacing());
    await eventually(world, () => isUnmarked("n1"), 3);
    expect(failures()).toHaveLength(1);
    expect(await world.isDeleted("n1")).toBe(false);
  });

  it("03:D-75 03:D-81 all replacements are needed; one that was seen ready is not looked at again", async () => {
    const [one, two] = await replacingByTwo();
    await setConditions(world, one, initialized);
    await world.pass(5);
    expect(await world.isDeleted("n1")).toBe(false);
    await setConditions(world, one, launched);
    await setConditions(world, two, initialized);
    await world.pass(2);
    expect(await world.isDeleted("n1")).toBe(true);
    expect(failures()).toEqual([]);
  });

  it("03:D-79 of two replacements the one that came up stays, and the other is counted", async () => {
    const [one, two] = await replacingByTwo();
    await setConditions(world, one, initialized);
    await world.pass(2);
    await remove(two);
    await eventually(world, () => isUnmarked("n1"), 3);
    expect(failures().map(([, count]) => count)).toEqual([1]);
    expect(await world.isDeleted(one.metadata.name ?? "")).toBe(false);
  });

  it("03:D-77 a deletion that fails is tried again", async () => {
    let refusals = 2;
    world = await disruptionWorld({
      wrapClient: beforeWrites(({ verb }) => {
        if (verb === "delete" && refusals-- > 0) throw new Error("the server is busy");
      }),
    });
    await runningNode(world, "n1");
    await eventually(world, () => world.isDeleted("n1"), 60);
    expect(refusals).toBeLessThan(0);
  });

  it.each(["n1", "n2"])("03:D-80 %s vanishes while its command waits: the other goes all the same", async (gone) => {
    world = await disruptionWorld();
    for (const name of ["n1", "n2"]) await runningNode(world, name, { type: "s-4x-amd64-linux", pods: ["2500m"] });
    const replacement = await theReplacement();
    expect([await world.isTainted("n1"), await world.isTainted("n2")]).toEqual([true, true]);
    await remove((await world.claim(gone)) as LiveClaim);
    await world.pass(5);
    await setConditions(world, replacement, initialized);
    await world.pass(3);
    expect([await world.isDeleted("n1"), await world.isDeleted("n2")]).toEqual([true, true]);
  });

  it("03:D-80 03:D-79 a node vanished and the replacement fails: the other is as it was", async () => {
    world = await disruptionWorld();
    for (const name of ["n1", "n2"]) await runningNode(world, name, { type: "s-4x-amd64-linux", pods: ["2500m"] });
    const replacement = await theReplacement();
    await remove((await world.claim("n1")) as LiveClaim);
    await world.pass(2);
    await remove(replacement);
    await eventually(world, () => isUnmarked("n2"), 3);
  });

  it("03:D-76 03:D-77 a deletion that is refused for longer than a command may wait: the node is as it was", async () => {
    world = await disruptionWorld({
      wrapClient: beforeWrites(({ verb, name }) => {
        if (verb === "delete" && name === "n1") throw new Error("a webhook denies it");
      }),
    });
    for (const name of ["n1", "n2"]) await runningNode(world, name);
    await eventually(world, () => world.isDeleted("n2"));
    await world.client.patch(
      karpenterTypes.NodePool,
      { name: "default" },
      { kind: "merge", body: { spec: { disruption: { budgets: [{ nodes: "0" }] } } } },
    );
    await world.pass(9 * 60 + 30);
    expect(await isUnmarked("n1")).toBe(false);
    await eventually(world, () => isUnmarked("n1"), 45);
    expect([await world.isTainted("n2"), await world.conditionOf("n2", "DisruptionReason")]).toEqual([
      true,
      expect.anything(),
    ]);
  });

  it("03:D-77 03 §8.5 after an outage of minutes the nodes of a command go within ten seconds", async () => {
    let isDown = true;
    world = await disruptionWorld({
      wrapClient: beforeWrites(({ verb }) => {
        if (verb === "delete" && isDown) throw new Error("the server is down");
      }),
    });
    await runningNode(world, "n1");
    await world.pass(5 * 60);
    expect([await world.isTainted("n1"), await world.isDeleted("n1")]).toEqual([true, false]);
    isDown = false;
    await world.pass(10);
    expect(await world.isDeleted("n1")).toBe(true);
  });

  it("03:D-79 a node that somebody deleted meanwhile keeps its marks: it is on its way out", async () => {
    const replacement = await replacing();
    await world.client.delete(karpenterTypes.NodeClaim, { name: "n1" });
    await world.pass(2);
    await remove(replacement);
    await eventually(world, async () => failures().length === 1, 5);
    await world.pass(15);
    expect([await world.isTainted("n1"), await world.conditionOf("n1", "DisruptionReason")]).toEqual([
      true,
      expect.anything(),
    ]);
  });

  it("03:D-79 03:D-3 a node whose marks cannot be taken back holds up no other, and loses them later", async () => {
    let isRefused = false;
    world = await disruptionWorld({
      wrapClient: beforeWrites(({ verb, type, name }) => {
        if (isRefused && verb === "patch" && type.kind === "Node" && name === "n1")
          throw new Error("a webhook denies it");
      }),
    });
    for (const name of ["n1", "n2"]) await runningNode(world, name, { type: "s-4x-amd64-linux", pods: ["2500m"] });
    const replacement = await theReplacement();
    isRefused = true;
    await remove(replacement);
    await eventually(world, () => isUnmarked("n2"), 3);
    expect(world.cluster.nodeByName("n1")?.isBeingDeleted).toBe(false);
    expect([await world.isTainted("n1"), failures().length]).toEqual([true, 1]);
    isRefused = false;
    await eventually(world, () => isUnmarked("n1"), 60);
  });

  it("03:D-32b that a node needed no replacement does not end the wait of a pool whose replacements fail", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { pods: ["12"], conditions: ["Drifted", "Consolidatable=False"] });
    const replacement = await theReplacement();
    await runningNode(world, "n2", { conditions: ["Consolidatable=False"] });
    await remove(replacement);
    await eventually(world, () => isUnmarked("n1"), 3);
    await setConditions(world, (await world.claim("n2")) as LiveClaim, [...initialized, "Consolidatable"]);
    await eventually(world, () => world.isDeleted("n2"), 40);
    await world.pass(12);
    expect(await isUnmarked("n1")).toBe(true);
    await eventually(world, () => world.isTainted("n1"), 60);
  });

  it("03:D-78 03 §10.2-9 two commands run side by side, and each ends with its own replacement", async () => {
    world = await disruptionWorld();
    for (const name of ["n1", "n2"]) await runningNode(world, name, { pods: ["12"], conditions: ["Drifted"] });
    await eventually(world, async () => (await world.replacements()).length === 2, 30);
    const [first, second] = (await world.replacements()) as [LiveClaim, LiveClaim];
    for (const one of [first, second]) await setConditions(world, one, launched);
    const deleted = async () => [await world.isDeleted("n1"), await world.isDeleted("n2")].filter(Boolean).length;
    await setConditions(world, first, initialized);
    await world.pass(3);
    expect(await deleted()).toBe(1);
    await setConditions(world, second, initialized);
    await world.pass(3);
    expect(await deleted()).toBe(2);
  });
});
