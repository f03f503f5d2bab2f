import { describe, expect, it } from "vitest";
import { labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { podEventsController } from "../../../src/controllers/node-claim/pod-events.ts";
import { startControllers } from "../../../src/kube/controller.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { startAt } from "../controller-world.ts";
import {
  claimNamed,
  foreignRef,
  type NodeClaimWorld,
  nodeClaimWorld,
  nodeWithId,
  type Spec,
} from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [podEventsController(dependencies)];

function podNamed(name: string, spec: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", ...metadata },
    spec: { containers: [{ name: "app", image: "app" }], ...spec },
  };
}

const secondsOf = async (world: NodeClaimWorld, name = "a"): Promise<number | undefined> => {
  const time = (await world.requireClaim(name)).status?.lastPodEventTime;
  return time === undefined ? undefined : (Date.parse(time) - startAt) / 1_000;
};

async function withNode(
  spec: Spec = {},
  options: Partial<Parameters<typeof nodeClaimWorld>[0]> = {},
): Promise<NodeClaimWorld> {
  const world = await nodeClaimWorld({ controllers, ...options });
  const claim = await world.create(claimNamed("a", spec));
  await world.status(claim, { providerID: "kwok://1" });
  await world.create(nodeWithId("kwok://1"));
  await world.pass(1);
  return world;
}

async function bind(world: NodeClaimWorld, name: string, nodeName = "node-1"): Promise<void> {
  const target = { apiVersion: "v1", kind: "Node", name: nodeName };
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace: "default" }, target };
  await world.client.create(builtInTypes.Pod, binding as KubeObject, { subresource: "binding", name });
  await world.pass(0);
}

describe("pod events", () => {
  it("03:M-1 are noted also when the pod is seen before its Node and claim are", async () => {
    const watchDelayMs = { Node: 20_000, NodeClaim: 20_000 };
    const world = await nodeClaimWorld({ controllers, faults: { watchDelayMs } });
    const claim = await world.create(claimNamed("a"));
    await world.status(claim, { providerID: "kwok://1" });
    await world.create(nodeWithId("kwok://1", { labels: { [labels.nodePool]: "default" } }), podNamed("p"));
    await bind(world, "p");
    expect(await secondsOf(world)).toBeUndefined();
    await world.pass(25);
    expect(await secondsOf(world)).toBeLessThan(25);
  });

  it("03:M-1 are noted when a pod is bound, ends or is asked to go", async () => {
    const world = await withNode();
    await world.create(podNamed("p"));
    await world.pass(20);
    expect(await secondsOf(world)).toBeUndefined();
    await bind(world, "p");
    expect(await secondsOf(world)).toBe(21);
    await world.pass(20);
    const pod = await world.get<KubeObject>(builtInTypes.Pod, "p", "default");
    await world.status(pod as KubeObject, { phase: "Succeeded" });
    expect(await secondsOf(world)).toBe(41);
    await world.create(podNamed("q", { nodeName: "node-1" }));
    await world.pass(20);
    await world.client.delete(builtInTypes.Pod, { name: "q", namespace: "default" }, { gracePeriodSeconds: 30 });
    await world.pass(0);
    expect(await secondsOf(world)).toBe(61);
  });

  it("03:M-2 once within ten seconds, and again afterwards", async () => {
    const world = await withNode();
    await world.create(podNamed("p", { nodeName: "node-1" }));
    expect(await secondsOf(world)).toBe(1);
    await world.pass(9);
    await world.create(podNamed("q", { nodeName: "node-1" }));
    expect(await secondsOf(world)).toBe(1);
    await world.pass(1);
    await world.create(podNamed("r", { nodeName: "node-1" }));
    expect(await secondsOf(world)).toBe(11);
  });

  it("03:M-1 daemons and changes that are none do not count", async () => {
    const world = await withNode();
    const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "u" };
    await world.create(podNamed("daemon", { nodeName: "node-1" }, { ownerReferences: [owner] }));
    expect(await secondsOf(world)).toBeUndefined();
    await world.create(podNamed("p", { nodeName: "node-1" }));
    await world.pass(30);
    const pod = await world.get<KubeObject>(builtInTypes.Pod, "p", "default");
    await world.status(pod as KubeObject, { phase: "Running" });
    expect(await secondsOf(world)).toBe(1);
  });

  it("03:M-2 nodes that are not there, or have no claim or several, are ignored", async () => {
    const world = await withNode();
    await world.create(nodeWithId("kwok://2", { name: "unclaimed" }), nodeWithId("kwok://3", { name: "twice" }));
    for (const name of ["b", "c"]) {
      await world.status(await world.create(claimNamed(name)), { providerID: "kwok://3" });
    }
    for (const nodeName of ["nowhere", "unclaimed", "twice"]) {
      await world.create(podNamed(`on-${nodeName}`, { nodeName }));
    }
    await world.pass(1);
    for (const name of ["a", "b", "c"]) expect(await secondsOf(world, name)).toBeUndefined();
    expect(world.failures).toEqual([]);
  });

  it("03:L-1 claims of others are left alone", async () => {
    const world = await withNode({ nodeClassRef: foreignRef });
    await world.create(podNamed("p", { nodeName: "node-1" }));
    expect(await secondsOf(world)).toBeUndefined();
  });

  it("03:M-3 a restart is no event: pods bound before it are known", async () => {
    const world = await withNode({}, { controllers: () => [] });
    await world.create(podNamed("p"), podNamed("q", { nodeName: "node-1" }));
    await bind(world, "p");
    await world.pass(60);
    const { client, clock, random, dependencies } = world;
    const loops = startControllers({
      client,
      clock,
      random: random.fork("again"),
      controllers: [podEventsController(dependencies)],
    });
    await world.pass(30);
    expect(await secondsOf(world)).toBeUndefined();
    await world.create(podNamed("new"));
    await bind(world, "new");
    expect(await secondsOf(world)).toBe(91);
    const stopping = loops.stop();
    await world.pass(60);
    await stopping;
  });
});
