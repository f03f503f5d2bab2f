import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../../src/api/labels.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { nodeWorld, type StoredPod } from "./node-world.ts";

const eightCores = [{ key: labels.instanceType, operator: "In" as const, values: ["c-8x-amd64-linux"] }];
const app = { app: "web" };

const deployment = (replicas: number, pod: object = {}, podAnnotations: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: app },
    template: {
      metadata: { labels: app, annotations: podAnnotations },
      spec: {
        terminationGracePeriodSeconds: 5,
        ...pod,
        containers: [{ name: "main", image: "app", resources: { requests: { cpu: "500m", memory: "128Mi" } } }],
      },
    },
  },
});
const budget = (spec: object) => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "web", namespace: "default" },
  spec: { selector: { matchLabels: app }, ...spec },
});

/** A cluster that lives: machine `a` with all pods on it, then an empty machine `b`. */
async function cluster(...objects: readonly object[]) {
  const world = await nodeWorld({ runsCluster: true });
  const bought = async (name: string) => {
    await world.launched(name, { requirements: eightCores });
    await world.pass(60);
    return (await world.requireClaim(name)).status?.nodeName ?? "";
  };
  const a = await bought("a");
  await world.create(...objects);
  await world.pass(30);
  const b = await bought("b");
  const pods = async () =>
    (await world.list<StoredPod>(builtInTypes.Pod)).filter(({ metadata }) => metadata.labels?.["app"] === "web");
  const ready = async () => {
    const isUp = ({ metadata, status }: StoredPod) =>
      metadata.deletionTimestamp === undefined &&
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
    return (await pods()).filter(isUp);
  };
  return {
    ...world,
    a,
    b,
    pods,
    ready,
    on: async (node: string) => (await pods()).filter(({ spec }) => spec.nodeName === node),
  };
}

describe("on a living cluster", () => {
  it("03:T-44 pods behind a budget leave one by one, as their successors are ready elsewhere", async () => {
    const world = await cluster(deployment(4), budget({ minAvailable: 3 }));
    expect(await world.on(world.a)).toHaveLength(4);
    await world.client.delete(builtInTypes.Node, { name: world.a });
    const least: number[] = [];
    const goingAtOnce: number[] = [];
    for (let second = 0; second < 240 && (await world.node(world.a)) !== undefined; second++) {
      await world.pass(1);
      least.push((await world.ready()).length);
      goingAtOnce.push((await world.on(world.a)).filter(({ metadata }) => metadata.deletionTimestamp).length);
    }
    expect(await world.node(world.a)).toBeUndefined();
    expect(Math.min(...least)).toBe(3);
    expect(Math.max(...goingAtOnce)).toBe(1);
    expect(await world.on(world.b)).toHaveLength(4);
    expect(await world.ready()).toHaveLength(4);
    expect(world.countOf("pods_eviction_requests_total", { code: "200" })).toBe(4);
    expect(world.countOf("pods_eviction_requests_total", { code: "429" })).toBeGreaterThan(0);
    expect(world.cloud.records()).toHaveLength(1);
    expect(world.failures).toEqual([]);
  });

  it("03:T-50 a protected pod with a budget ends in time for the deadline, and so does its node", async () => {
    const precious = deployment(1, { terminationGracePeriodSeconds: 30 }, { [annotations.doNotDisrupt]: "true" });
    const world = await cluster(precious, budget({ maxUnavailable: 0 }));
    await world.setDeadline(120);
    const until = world.clock.now() + 120_000;
    await world.client.delete(builtInTypes.Node, { name: world.a });
    await world.pass(88);
    expect(await world.terminatingPods()).toEqual([]);
    expect(await world.on(world.a)).toHaveLength(1);
    await world.pass(2);
    expect(world.logged("deleting pod")).toMatchObject([{ gracePeriodSeconds: 29 }]);
    await world.pass(29);
    expect(world.clock.now()).toBeLessThanOrEqual(until);
    expect(await world.on(world.a)).toEqual([]);
    await world.pass(30);
    expect(await world.node(world.a)).toBeUndefined();
    expect(await world.on(world.b)).toHaveLength(1);
  });
});
