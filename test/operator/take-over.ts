import { expect } from "vitest";
import type { Condition } from "../../src/api/conditions/condition.ts";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { annotations } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { Lease } from "../../src/kube/lease.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { claimsOf, isReady, type LivePod, nodesOf } from "../stories/facts.ts";
import type { StoryCluster } from "../stories/story.ts";
import { predecessor } from "./upstream-leftovers.ts";

const { nodePoolHash, nodePoolHashVersion } = annotations;
/** The lease is good for fifteen seconds, of which some are over when a stage stands. */
const patienceMs = 9_000;
const apps = ["drifted", "plain", "relaxed"];

/**
 * Our controller comes to a cluster the Go implementation ran until it died. It waits until the lease has run out,
 * and then, for as long as is said, leaves everything and everybody where it is, the hashes included.
 */
export async function takeOver(
  stage: StoryCluster,
  { quietSeconds }: { readonly quietSeconds: number },
): Promise<void> {
  const startedAt = stage.now();
  await stage.until("all pods of before run", async () => (await runningPods(stage)).length === 5, 60);
  const before = await seen(stage);
  const stamped = await stamps(stage);
  expect(before.claims.map(({ name }) => name.replace(/-.*/, ""))).toEqual(apps);
  await stage.until("the lease is ours", async () => (await leader(stage)) !== predecessor.holderIdentity, 60);
  expect(stage.now() - startedAt).toBeGreaterThan(patienceMs);
  const pods = await runningPods(stage);
  await stage.pass(quietSeconds);

  const after = await seen(stage);
  expect(after).toEqual(before);
  expect(await runningPods(stage)).toEqual(pods);
  expect(await stamps(stage)).toEqual(stamped);
  expectOneHash(stamped);
  expectQuiet(stage);
}

/** It works: a pod that does not fit gets a machine, and nobody has to leave for it. */
export async function goOn(stage: StoryCluster): Promise<void> {
  const before = await seen(stage);
  await stage.scale("plain", 6);
  await stage.until("the new pods run", async () => (await runningPods(stage)).length === 8, 120);
  const claims = await claimsOf(stage);
  expect(claims.filter(isGoing)).toEqual([]);
  expect(claims).toHaveLength(4);
  await stage.until("the new claim is ready", async () => (await claimsOf(stage, "plain")).every(isReady));
  const after = await seen(stage);
  expect(after.claims).toEqual(expect.arrayContaining([...before.claims]));
  expectOneHash(await stamps(stage)); // the new claim has the bits that the Go implementation stamped on the pool
}

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** All that must stay as it was. */
async function seen(stage: StoryCluster) {
  const claims = await claimsOf(stage);
  const nodes = await nodesOf(stage);
  return { claims: claims.map(essence), nodes: nodes.map(essence) };
}

/** Which one it is, what it says of itself, and what it is told to be; hashes apart. */
function essence({ metadata, spec, status }: KubeObject) {
  const { name = "", uid, labels, finalizers, ownerReferences, deletionTimestamp } = metadata;
  const { [nodePoolHash]: _, [nodePoolHashVersion]: __, ...notes } = metadata.annotations ?? {};
  const { conditions = [] } = (status ?? {}) as NonNullable<NodeClaim["status"]>;
  const told = conditions.filter(({ type }) => ofKarpenter.includes(type)).map(plain);
  return { name, uid, labels, notes, finalizers, ownerReferences, deletionTimestamp, spec, told };
}

const ofKarpenter = ["Launched", "Registered", "Initialized", "Drifted", "Ready", "Consolidatable"];

function plain({ type, status, reason, lastTransitionTime }: Condition) {
  return { type, status, reason, lastTransitionTime };
}

async function runningPods(stage: StoryCluster): Promise<readonly string[]> {
  const pods = await stage.list<LivePod>(builtInTypes.Pod);
  return pods
    .filter((pod) => isReady(pod) && !isGoing(pod))
    .map(({ metadata, spec }) => `${metadata.uid} on ${spec.nodeName}`);
}

async function leader({ client }: StoryCluster): Promise<string | undefined> {
  const key = { name: "karpenter-leader-election", namespace: "karpenter" };
  return (await client.get<Lease>(builtInTypes.Lease, key)).spec?.holderIdentity;
}

interface Stamp {
  readonly of: string;
  readonly kind: string;
  readonly hash: string | undefined;
  readonly version: string | undefined;
}

async function stamps(stage: StoryCluster): Promise<readonly Stamp[]> {
  const pools = await stage.list<KubeObject & NodePool>(karpenterTypes.NodePool);
  return [...pools, ...(await claimsOf(stage))].map(({ kind, metadata }) => ({
    of: metadata.labels?.["karpenter.sh/nodepool"] ?? metadata.name ?? "",
    kind,
    hash: metadata.annotations?.[nodePoolHash],
    version: metadata.annotations?.[nodePoolHashVersion],
  }));
}

/** Claims have the hash of their pool; only one that had drifted keeps what tells it apart. (01 §6.3) */
function expectOneHash(all: readonly Stamp[]): void {
  expect(all.map(({ version }) => version)).toEqual(all.map(() => "v3"));
  for (const app of apps) {
    const [pool, ...claims] = all.filter(({ of }) => of === app);
    const same = claims.map(({ hash }) => hash === pool?.hash);
    expect([app, ...same]).toEqual([app, ...claims.map(() => app !== "drifted")]);
  }
  expect(all.find(({ of, kind }) => of === "drifted" && kind === "NodeClaim")?.hash).toBe("1051302497054047366");
}

function expectQuiet(stage: StoryCluster): void {
  expect(stage.log().filter(({ level }) => level === "error")).toEqual([]);
  const deeds = ["created nodeclaim", "launched nodeclaim", "deleted nodeclaim", "tainted node", "deleted node"];
  expect(stage.log().filter(({ message }) => deeds.includes(message))).toEqual([]);
  const counted = [...stage.series().keys()].map((series) => series.replace(/\{.*/, ""));
  for (const name of ["nodeclaims_created_total", "nodeclaims_terminated_total", "nodeclaims_disrupted_total"]) {
    expect(counted).not.toContain(name);
  }
}
