import { describe, expect, it } from "vitest";
import { mixedObjects } from "../../../bench/mixed-pods.ts";
import type { Pod } from "../../../src/api/kubernetes/pod.ts";
import { type Taint, taints } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { JsonPatchOperation } from "../../../src/controllers/json-patch.ts";
import type { NodeKubeObject } from "../../../src/controllers/node-claim/claim-lookups.ts";
import { defaultSettings } from "../../../src/controllers/settings.ts";
import { isOwnNomination } from "../../../src/core/nominations.ts";
import { KubeError } from "../../../src/kube/kube-error.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { pod } from "../../builders/pod.ts";
import { type ClientCall, interceptCalls } from "../../world/intercept-calls.ts";
import { type LogLine, recordingLog } from "../../world/recording-log.ts";
import { testWorld } from "../../world/test-world.ts";
import {
  type Claim,
  type ProvisioningWorld,
  type ProvisioningWorldOptions,
  podObject,
  provisioningWorld,
  unschedulable,
} from "./provisioning-world.ts";

const ready = { conditions: [{ type: "Ready", status: "True" }] };
const web = { name: "web", namespace: "default" };

/** A pod whose node is launched, and has not joined. */
async function plannedPod(options: ProvisioningWorldOptions = {}) {
  const world = await provisioningWorld(options);
  const [claim] = await world.provision(pod().named("web").cpu("1"));
  if (claim === undefined) throw new Error("no claim");
  await world.launch(claim);
  await world.pass(0);
  return { world, claim, node: `node-of-${claim.metadata.name}` };
}

async function joinReady(world: ProvisioningWorld, claim: Claim): Promise<KubeObject> {
  await world.join(claim);
  const name = `node-of-${claim.metadata.name}`;
  const node = await world.client.get<KubeObject>(builtInTypes.Node, { name });
  await world.status(node, ready);
  await world.pass(0);
  return node;
}

async function nominated(world: Pick<ProvisioningWorld, "client">, name = "web") {
  const { status } = await world.client.get<KubeObject & Pod>(builtInTypes.Pod, { name, namespace: "default" });
  return status?.nominatedNodeName;
}

/** As kube-scheduler writes it when it preempts, or clears it when a pod fits nowhere. */
async function writtenByScheduler(world: ProvisioningWorld, node: string | null): Promise<void> {
  const patch = { kind: "merge", body: { status: { nominatedNodeName: node } } } as const;
  const options = { subresource: "status", fieldManager: "kube-scheduler" } as const;
  await world.client.patch(builtInTypes.Pod, web, patch, options);
  await world.pass(0);
}

describe("02 §6.5 nominations", () => {
  it("02:L-41 a pod is nominated to a Node that is not ready a moment after it joined, twice at most, and again when it is", async () => {
    const { world, claim, node } = await plannedPod();
    await world.join(claim);
    await world.pass(0.2);
    const seen = [await nominated(world)];
    for (let time = 0; time < 3; time++) {
      await world.pass(0.1);
      seen.push(await nominated(world));
      await writtenByScheduler(world, null);
      await world.pass(0.2);
      seen.push(await nominated(world));
    }
    expect(seen).toEqual([undefined, node, undefined, node, undefined, undefined, undefined]);
    await world.status(await world.client.get(builtInTypes.Node, { name: node }), ready);
    await world.pass(0);
    expect(await nominated(world)).toBe(node);
  });

  it("02:L-41 a Node that is not registered is left to its registration", async () => {
    const { world, claim } = await plannedPod();
    await world.join(claim);
    const name = `node-of-${claim.metadata.name}`;
    const patch = { kind: "merge", body: { spec: { taints: [taints.unregistered] } } } as const;
    await world.client.patch(builtInTypes.Node, { name }, patch);
    await world.status(await world.client.get(builtInTypes.Node, { name }), ready);
    await world.pass(1);
    expect(await nominated(world)).toBeUndefined();
    await world.client.patch(builtInTypes.Node, { name }, { kind: "merge", body: { spec: { taints: null } } });
    await world.pass(0);
    expect(await nominated(world)).toBe(name);
  });

  it("02:P-3 a pod that we nominated stays in the rounds, on its node, and one that preempts does not", async () => {
    const { world, claim, node } = await plannedPod();
    await joinReady(world, claim);
    expect(world.cluster.snapshot().pendingPods.map(({ metadata }) => metadata.name)).toEqual(["web"]);
    await world.pass(30);
    expect(await world.claims()).toHaveLength(1);
    expect(await nominated(world)).toBe(node);
    await writtenByScheduler(world, "elsewhere");
    expect(world.cluster.snapshot().pendingPods).toEqual([]);
  });

  it("02:L-42 the nomination of a preemption is neither overwritten nor cleared", async () => {
    const { world, claim } = await plannedPod();
    await writtenByScheduler(world, "elsewhere");
    await joinReady(world, claim);
    await world.client.delete(builtInTypes.Node, { name: `node-of-${claim.metadata.name}` });
    await world.pass(30);
    expect(await nominated(world)).toBe("elsewhere");
  });

  it("02:L-42 a nomination of a preemption that comes while we write is not overwritten", async () => {
    let isFirst = true;
    const { world, claim } = await plannedPod({
      wrapClient: (client) =>
        interceptCalls(client, async (call, proceed) => {
          const isNomination = call.verb === "patch" && call.type.plural === "pods" && call.subresource === "status";
          if (isNomination && isFirst) {
            isFirst = false;
            await writtenByScheduler(world, "elsewhere");
          }
          return proceed();
        }),
    });
    await joinReady(world, claim);
    expect(isFirst).toBe(false);
    expect(await nominated(world)).toBe("elsewhere");
  });

  it.each([
    ["the claim is deleted", (world, claim) => world.client.delete(karpenterTypes.NodeClaim, claim.metadata)],
    [
      "the Node is gone",
      (world, claim) => world.client.delete(builtInTypes.Node, { name: `node-of-${claim.metadata.name}` }),
    ],
  ] as readonly [
    string,
    (world: ProvisioningWorld, claim: Claim & { metadata: { name: string } }) => Promise<unknown>,
  ][])("02:L-43 a nomination is cleared when %s", async (_, end) => {
    const { world, claim, node } = await plannedPod();
    await joinReady(world, claim);
    expect(await nominated(world)).toBe(node);
    await end(world, claim as Claim & { metadata: { name: string } });
    await world.pass(0);
    expect(await nominated(world)).toBeUndefined();
  });

  it("02:L-43 a pod that is planned elsewhere is nominated there", async () => {
    const { world, claim } = await plannedPod();
    await joinReady(world, claim);
    const [other] = await world.provision(pod().named("large").cpu("30"));
    const second = (await world.claims()).find(({ metadata }) => metadata.name !== claim.metadata.name) ?? other;
    if (second === undefined) throw new Error("no second claim");
    await world.launch(second);
    await joinReady(world, second);
    world.cluster.plannedPods.plan("default/web", second.metadata.name);
    await world.pass(0);
    expect(await nominated(world)).toBe(`node-of-${second.metadata.name}`);
  });

  it("02:L-43 a nomination that was there before the process is kept, and its node is tried first", async () => {
    const world = await provisioningWorld();
    const claims = await world.provision(pod().named("one").cpu("30"), pod().named("two").cpu("30"));
    await world.launchAll();
    for (const claim of claims) await joinReady(world, claim);
    // Both have room; rounds would take the first by name.
    const [claim] = [...claims].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? 1 : -1));
    const node = `node-of-${claim?.metadata.name}`;
    const stored = await world.create<KubeObject>(podObject(pod().named("web").cpu("1")));
    const options = { subresource: "status", fieldManager: "karpenter-nomination" } as const;
    const body = { status: { ...unschedulable, nominatedNodeName: node } };
    await world.client.patch(builtInTypes.Pod, web, { kind: "merge", body }, options);
    await world.pass(0);
    expect([await nominated(world), world.cluster.plannedPods.isDecided("default/web")]).toEqual([node, false]);
    await world.round();
    expect(world.cluster.plannedPods.claimOf(`default/${stored.metadata.name}`)).toBe(claim?.metadata.name);
    expect(await nominated(world)).toBe(node);
  });

  it("02:L-44 a nomination the scheduler clears is written again, three times at most while the Node stays as it is", async () => {
    const { world, claim, node } = await plannedPod();
    const joined = await joinReady(world, claim);
    const seen: (string | undefined)[] = [];
    for (let time = 0; time < 4; time++) {
      seen.push(await nominated(world));
      await writtenByScheduler(world, null);
    }
    expect(seen).toEqual([node, node, node, undefined]);
    await world.client.patch(
      builtInTypes.Node,
      { name: joined.metadata.name ?? "" },
      { kind: "merge", body: { spec: { unschedulable: true } } },
    );
    await world.pass(0);
    expect(await nominated(world)).toBe(node);
  });

  it("02:L-40 nothing is nominated when it is switched off, and what was nominated is cleared", async () => {
    const { world, claim } = await plannedPod({ settings: { nominatePods: false } });
    await joinReady(world, claim);
    expect(await nominated(world)).toBeUndefined();
  });
});

/** The whole controller with a scheduler and machines that boot, which writes it made, and how many pods went astray. */
async function scaleOut({ nominatePods }: { readonly nominatePods: boolean }) {
  const world = await testWorld({ seed: "nomination", simulation: { readyMs: [0, 0] } });
  const writes: string[] = [];
  const client = interceptCalls(world.client, async (call, proceed) => {
    const answer = await proceed();
    writes.push(...describeWrite(call));
    return answer;
  });
  world.startCluster();
  const operator = world.startOperator("one", { client, settings: { ...defaultSettings, nominatePods } });
  await world.create(...(mixedObjects as readonly KubeObject[]).map((object) => withReplicas(object, 12)));
  await world.pass(60);
  const pods = await world.list<KubeObject & Pod>(builtInTypes.Pod);
  const nodes = await world.list<NodeKubeObject>(builtInTypes.Node);
  const { plannedPods } = operator.dependencies.cluster;
  const claimOfNode = new Map(nodes.map((node) => [node.metadata.name, node.metadata.ownerReferences?.[0]?.name]));
  const strays = pods.filter(
    ({ metadata, spec }) => claimOfNode.get(spec.nodeName ?? "") !== plannedPods.claimOf(`default/${metadata.name}`),
  );
  await world.stop();
  return { writes, strays: strays.length, running: pods.filter(({ status }) => status?.phase === "Running").length };
}

function withReplicas(object: KubeObject, replicas: number): KubeObject {
  return object.kind === "Deployment" ? { ...object, spec: { ...(object.spec as object), replicas } } : object;
}

/** A pod that is nominated, or a Node that loses the taint that keeps pods away. */
function describeWrite({ type, name, body }: ClientCall): readonly string[] {
  const operations = Array.isArray(body) ? (body as readonly JsonPatchOperation[]) : [];
  const added = operations.find(({ op, path }) => op === "add" && /\/(taints|nominatedNodeName)$/.test(path))?.value;
  if (added === undefined) return [];
  if (type.plural === "pods") return [`nominate ${added}`];
  const isClosed = (added as readonly Taint[]).some(({ key }) => key === taints.unregistered.key);
  return isClosed ? [] : [`open ${name}`];
}

describe("02:L-41 the whole controller", () => {
  it("02:L-41 pods run where they were planned, and were nominated there", async () => {
    const { writes, strays, running } = await scaleOut({ nominatePods: true });
    expect(running).toBe(24);
    expect(strays).toBeLessThanOrEqual(3); // room that is free on another node may be taken
    const opened = writes.filter((write) => write.startsWith("open "));
    expect(opened.length).toBeGreaterThan(3);
    for (const open of opened) expect(writes).toContain(open.replace("open", "nominate"));
  });

  it("02:L-40 without nominations pods run wherever there is room first", async () => {
    const { writes, strays, running } = await scaleOut({ nominatePods: false });
    expect(writes.filter((write) => write.startsWith("nominate"))).toEqual([]);
    expect(running).toBe(24);
    expect(strays).toBeGreaterThan(5);
  });
});

it("02:L-45 without the permission nodes register all the same, and the log says why", async () => {
  const world = await testWorld({ seed: "forbidden" });
  const lines: LogLine[] = [];
  const client = interceptCalls(world.client, async (call, proceed) => {
    const isForbidden = call.verb === "patch" && call.type.plural === "pods" && call.subresource === "status";
    if (isForbidden) throw new KubeError("forbidden", "pods/status is forbidden");
    return proceed();
  });
  world.startCluster();
  world.startOperator("one", { client, log: recordingLog(lines) });
  await world.create(...(mixedObjects as readonly KubeObject[]).map((object) => withReplicas(object, 2)));
  await world.pass(60);
  const pods = await world.list<KubeObject & Pod>(builtInTypes.Pod);
  await world.stop();
  expect(pods.map(({ status }) => status?.phase)).toEqual(Array.from({ length: 4 }, () => "Running"));
  expect(lines.some(({ error }) => String(error).includes("pods/status is forbidden"))).toBe(true);
});

it("02:P-3 our nominations are told from others by who manages the field", () => {
  const entry = (manager: string, fields: object, subresource = "status") => ({
    manager,
    subresource,
    fieldsV1: fields,
  });
  const own = { "f:status": { "f:nominatedNodeName": {} } };
  const podWith = (nominatedNodeName: string | undefined, ...managedFields: readonly unknown[]): Pod => ({
    metadata: { name: "web", managedFields },
    spec: {},
    status: { nominatedNodeName },
  });
  expect(isOwnNomination(podWith("a", entry("karpenter-nomination", own)))).toBe(true);
  expect(isOwnNomination(podWith(undefined, entry("karpenter-nomination", own)))).toBe(false);
  expect(isOwnNomination(podWith("a", entry("kube-scheduler", own)))).toBe(false);
  expect(isOwnNomination(podWith("a", entry("karpenter-nomination", own, "")))).toBe(false);
  expect(isOwnNomination(podWith("a", entry("karpenter-nomination", { "f:status": {} })))).toBe(false);
  expect(isOwnNomination(podWith("a", null, "odd"))).toBe(false);
});
