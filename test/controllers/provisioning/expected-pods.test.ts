import { afterEach, expect, it } from "vitest";
import { mixedObjects } from "../../../bench/mixed-pods.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultSettings } from "../../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { Quantity } from "../../../src/util/quantity.ts";
import { pod } from "../../builders/pod.ts";
import { withPodRate } from "../../world/pod-rate.ts";
import { testWorld } from "../../world/test-world.ts";
import { provisioningWorld, unschedulable } from "./provisioning-world.ts";

let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

interface ScaleOutOptions {
  readonly podsPerSecond: number;
  readonly expectsPods?: boolean;
}

/** Two Deployments whose pods come slowly: how many nodes there are in the end, and how many were planned in each round. */
async function scaleOut({ podsPerSecond, expectsPods = true }: ScaleOutOptions) {
  const world = await testWorld({ seed: "expected", simulation: { bootMs: [20_000, 20_000] } });
  stop = world.stop;
  const { clock } = world;
  world.startCluster({ wrapClient: (client) => withPodRate(client, { clock, podsPerSecond }) });
  const gates = { ...defaultSettings.gates, ExpectedPods: expectsPods };
  const operator = world.startOperator("one", { settings: { ...defaultSettings, gates } });
  await world.create(...(mixedObjects as readonly KubeObject[]).map(withFewPods).map(withoutConsolidation));
  return { world, operator };
}

function withFewPods(object: KubeObject): KubeObject {
  return object.kind === "Deployment" ? { ...object, spec: { ...(object.spec as object), replicas: 30 } } : object;
}

function withoutConsolidation(object: KubeObject): KubeObject {
  if (object.kind !== "NodePool") return object;
  const disruption = { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" };
  return { ...object, spec: { ...(object.spec as object), disruption } };
}

async function claimCount(world: Awaited<ReturnType<typeof testWorld>>): Promise<number> {
  return (await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim)).length;
}

async function settledCount(options: ScaleOutOptions): Promise<number> {
  const { world } = await scaleOut(options);
  await world.pass(90);
  const pods = await world.list<KubeObject>(builtInTypes.Pod);
  expect(pods.filter(({ status }) => (status as { phase?: string }).phase === "Running")).toHaveLength(60);
  const count = await claimCount(world);
  await world.stop();
  return count;
}

it("02:P-35 pods that come slowly get the nodes they would get if they came at once", async () => {
  const atOnce = await settledCount({ podsPerSecond: 0 });
  expect(await settledCount({ podsPerSecond: 5 })).toBe(atOnce);
  expect(await settledCount({ podsPerSecond: 5, expectsPods: false })).toBeGreaterThan(atOnce);
});

it("02:P-35 no node is launched for expected pods alone, and all places that were planned are taken", async () => {
  const { world, operator } = await scaleOut({ podsPerSecond: 3 });
  await world.pass(13);
  const pods = await world.list<KubeObject>(builtInTypes.Pod);
  const { plannedPods, expectedPlaces } = operator.dependencies.cluster;
  const planned = new Set(pods.map(({ metadata }) => plannedPods.claimOf(`default/${metadata.name}`)));
  expect(await claimCount(world)).toBeGreaterThan(3);
  expect([...planned].filter((claim) => claim !== undefined)).toHaveLength(await claimCount(world));

  await world.pass(90);
  expect(expectedPlaces.isEmpty).toBe(true);
});

/** A ReplicaSet that wants ten pods of one core, and pods of it that come one by one for longer than a batch window lasts. */
async function arriving(
  options: { readonly settings?: Partial<typeof defaultSettings>; readonly replicaSet?: object } = {},
) {
  const world = await provisioningWorld({ settings: options.settings });
  stop = world.stop;
  const { create, status, pass } = world;
  const container = { name: "main", image: "app", resources: { requests: { cpu: "1" } } };
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [container] } };
  const set = await create<KubeObject>({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 10,
      selector: { matchLabels: { app: "web" } },
      template,
    },
  });
  if (options.replicaSet !== undefined) await status(set, options.replicaSet);
  const { name = "", uid = "" } = set.metadata;
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name, uid, controller: true };
  const createPod = async (index: number, spec: object = {}): Promise<KubeObject> =>
    create<KubeObject>({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `web-${index}`, namespace: "default", ownerReferences: [owner], labels: { app: "web" } },
      spec: { containers: [container], ...spec },
    });
  const arrive = async (count: number): Promise<void> => {
    for (let second = 0; second < 12; second++) {
      // Pods of nobody keep the window open, as any other would.
      if (second < count) await status(await createPod(second), unschedulable);
      else await world.pend(pod().named(`other-${second}`).cpu("100m"));
      await pass(0.9);
    }
  };
  return { ...world, createPod, arrive };
}

function coresAsked(claims: readonly NodeClaim[]): number {
  const cores = claims.map(({ spec }) => Quantity.parse(String(spec.resources?.requests?.["cpu"] ?? "0")).toNumber());
  return cores.reduce((sum, one) => sum + one, 0);
}

it("02:P-35 the node of a ReplicaSet that is still creating pods has room for all of them", async () => {
  const { arrive, claims } = await arriving();
  await arrive(3);
  expect(await claims()).toHaveLength(1);
  expect(Math.floor(coresAsked(await claims()))).toBe(10);
});

it.each<[string, Parameters<typeof arriving>[0]]>([
  ["with the gate off", { settings: { gates: { ...defaultSettings.gates, ExpectedPods: false } } }],
  [
    "that the ReplicaSet fails to create",
    { replicaSet: { replicas: 3, conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate" }] } },
  ],
])("02:P-35 no pods are expected %s", async (_, options) => {
  const { arrive, claims } = await arriving(options);
  await arrive(3);
  expect(coresAsked(await claims())).toBeLessThan(6);
});

it("02:P-35 pods that scheduling gates hold back are there, and not expected", async () => {
  const { arrive, claims, createPod } = await arriving();
  for (let index = 20; index < 27; index++)
    await createPod(index, { schedulingGates: [{ name: "example.com/quota" }] });
  await arrive(3);
  expect(coresAsked(await claims())).toBeLessThan(6);
});

it("02:P-35 no pods are expected of a ReplicaSet that is gone", async () => {
  const { arrive, claims, client, failures } = await arriving();
  await client.delete(builtInTypes.ReplicaSet, { name: "web", namespace: "default" });
  await arrive(3);
  expect(coresAsked(await claims())).toBeLessThan(6);
  expect(failures).toEqual([]);
});

it("02:P-35 where a pod is refused nothing is planned for pods that are only expected", async () => {
  const { arrive, claims, pend } = await arriving();
  await pend(pod().named("nowhere").cpu("900"));
  await arrive(3);
  expect(coresAsked(await claims())).toBeLessThan(6);
});
