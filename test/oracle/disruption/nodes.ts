import type { Draw } from "../../differential/draw.ts";
import { keys } from "../../differential/names.ts";
import type { PlainObject } from "../../differential/problem.ts";
import { deleted } from "../../differential/random-pods.ts";
import type { LaunchableType, NodeCatalogue } from "./catalogue.ts";
import { hashAnnotations, type PoolDraft } from "./pools.ts";
import type { Has } from "./problem.ts";
import { beganBefore, secondsBefore } from "./times.ts";

/** A node, and how much room there is for pods. */
export interface NodeDraft {
  readonly name: string;
  readonly objects: readonly PlainObject[];
  readonly cpuMilli: number;
}

export interface NodeSources {
  readonly catalogue: NodeCatalogue;
  readonly pools: readonly PoolDraft[];
  readonly has: Has;
  readonly now: string;
}

export function disruptedNodes(draw: Draw, sources: NodeSources): readonly NodeDraft[] {
  const count = sources.has("large") ? draw.count(10, 25) : draw.pick([1, 2, 3, 4, 4, 5, 6, 8]);
  return draw.times(count, (index) => nodeDraft(draw, `n${index}`, sources));
}

const states = [
  "launching",
  "in-flight",
  "unregistered",
  "registered",
  "unmanaged",
  "deleting",
  "node-deleting",
  "terminating",
] as const;

function nodeDraft(draw: Draw, name: string, sources: NodeSources): NodeDraft {
  const { catalogue, pools, has } = sources;
  const pool = draw.pick(pools);
  const type = draw.pick(catalogue.launchable);
  const state = draw.chance(has("states") ? 0.35 : 0.03) ? draw.pick(states) : "initialized";
  const labels = { ...pool.labels, ...launchedLabels(draw, { type, pool, has }) };
  const cpuMilli = type.cpu * 1000 - 100;
  if (state === "unmanaged") return { name, cpuMilli, objects: [unmanagedNode(draw, { name, labels, type })] };
  const claim = claimOf(draw, { name, labels, pool, state }, sources);
  if (state === "in-flight" || state === "launching") return { name, cpuMilli: 0, objects: [claim] };
  return {
    name,
    cpuMilli,
    objects: [claim, nodeOf(draw, { name, pool, state }, sources), ...csiNode(draw, name, has)],
  };
}

/** Mostly as one of the offerings that its pool allows. */
function launchedLabels(
  draw: Draw,
  { type, pool, has }: { readonly type: LaunchableType; readonly pool: PoolDraft; readonly has: Has },
): Readonly<Record<string, string>> {
  const allowed = type.offers.filter((offer) => pool.capacityTypes.includes(offer[keys.capacityType] ?? ""));
  const offer = draw.pick(allowed.length > 0 && draw.chance(has("drift") ? 0.7 : 0.97) ? allowed : type.offers) ?? {};
  const known = { [keys.instanceType]: draw.chance(has("odd-labels") ? 0.1 : 0) ? "old-type" : type.name, ...offer };
  if (!has("odd-labels")) return known;
  const kept = Object.entries(known).filter(() => draw.chance(0.85));
  return { ...Object.fromEntries(kept), ...draw.maybe(0.1, () => ({ [keys.zone]: "test-zone-y" })) };
}

function unmanagedNode(
  draw: Draw,
  { name, labels, type }: { name: string; labels: Readonly<Record<string, string>>; type: LaunchableType },
): PlainObject {
  const size = { cpu: String(type.cpu), memory: `${type.cpu * 4}Gi`, pods: "110" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels, ...draw.maybe(0.1, () => deleted) },
    status: { capacity: size, allocatable: size },
  };
}

interface ClaimParts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pool: PoolDraft;
  readonly state: "initialized" | (typeof states)[number];
}

function claimOf(draw: Draw, { name, labels, pool, state }: ClaimParts, { has, now }: NodeSources): PlainObject {
  const conditions = [
    ...conditionsOfState(state, now),
    ...(draw.chance(has("drift") || has("static") ? 0.4 : 0.02) ? [driftedCondition(draw, now)] : []),
    ...(draw.chance(has("times") ? 0.15 : 0)
      ? [condition("Consolidatable", draw.pick(["True", "False"]), now, 5)]
      : []),
  ];
  const age = draw.chance(0.3)
    ? { creationTimestamp: secondsBefore(now, draw.pick([60, 3_600, 3_601, 80_000, 1e6])) }
    : {};
  const status = {
    ...(conditions.length > 0 && { conditions }),
    ...draw.maybe(has("times") ? 0.7 : 0.1, () => ({
      lastPodEventTime: beganBefore(draw, now, pool.consolidateAfterSeconds),
    })),
  };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name,
      labels: { ...labels, ...poolLabel(draw, pool, has) },
      ...age,
      ...claimAnnotations(draw, pool, has),
      ...(state === "deleting" && deleted),
    },
    spec: { ...pool.claimSpec, requirements: [] },
    ...(Object.keys(status).length > 0 && { status }),
  };
}

function poolLabel(draw: Draw, { name }: PoolDraft, has: Has): Readonly<Record<string, string>> {
  if (!has("odd-labels") || draw.chance(0.9)) return { [keys.nodePool]: name };
  return draw.maybe(0.5, () => ({ [keys.nodePool]: "gone" }));
}

/** Protection of a claim does not count once its node is registered. */
function claimAnnotations(draw: Draw, { hash }: PoolDraft, has: Has): object {
  const protection = draw.maybe(has("protection") ? 0.1 : 0, () => ({ "karpenter.sh/do-not-disrupt": "true" }));
  return { annotations: { ...protection, ...(hash === undefined ? {} : claimHash(draw, hash)) } };
}

function claimHash(draw: Draw, hash: string): Readonly<Record<string, string>> {
  return draw.pick<Readonly<Record<string, string>>>([
    hashAnnotations(hash),
    hashAnnotations(hash),
    hashAnnotations("5678"),
    hashAnnotations("5678", "v2"),
    { "karpenter.sh/nodepool-hash": "5678" },
    {},
  ]);
}

function conditionsOfState(state: ClaimParts["state"], now: string): readonly object[] {
  const unknown =
    {
      launching: ["Launched", "Registered", "Initialized"],
      unregistered: ["Registered", "Initialized"],
      registered: ["Initialized"],
    }[state as string] ?? [];
  return [
    ...unknown.map((type) => condition(type, "Unknown", now, 60)),
    ...(state === "terminating" ? [condition("InstanceTerminating", "True", now, 60)] : []),
  ];
}

function driftedCondition(draw: Draw, now: string): object {
  return condition("Drifted", draw.pick(["True", "True", "True", "False"]), now, draw.pick([10, 60, 60, 600, 6_000]));
}

function condition(type: string, status: string, now: string, seconds: number): object {
  return { type, status, reason: type, message: "", lastTransitionTime: secondsBefore(now, seconds) };
}

function nodeOf(draw: Draw, { name, pool, state }: Omit<ClaimParts, "labels">, { has, now }: NodeSources): PlainObject {
  const taints = [
    ...(draw.chance(0.95) ? pool.taints : []),
    ...(draw.chance(has("taints") ? 0.15 : 0.01) ? [draw.pick(nodeTaints)] : []),
  ];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      ...draw.maybe(has("protection") ? 0.3 : 0.01, () => ({
        annotations: { "karpenter.sh/do-not-disrupt": draw.pick(["true", "true", "false", "1h", "48h", ""]) },
        creationTimestamp: beganBefore(draw, now, 3_600),
      })),
      ...(state === "registered" && draw.maybe(0.3, () => ({ labels: { "karpenter.sh/initialized": "true" } }))),
      ...(state === "node-deleting" && deleted),
    },
    spec: {
      ...(taints.length > 0 && { taints }),
      ...draw.maybe(has("taints") ? 0.05 : 0, () => ({ unschedulable: true })),
    },
    ...nodeStatus(draw, has),
  };
}

function nodeStatus(draw: Draw, has: Has): object {
  const status = {
    ...draw.maybe(has("budgets") || has("states") ? 0.1 : 0.01, () => ({
      conditions: [{ type: "Ready", status: draw.pick(["False", "Unknown"]) }],
    })),
    ...draw.maybe(has("odd-labels") ? 0.15 : 0, () => {
      const allocatable = { cpu: draw.pick(["1", "3", "6"]), memory: "6Gi", pods: draw.pick(["3", "20"]) };
      return { allocatable, capacity: allocatable };
    }),
  };
  return Object.keys(status).length > 0 ? { status } : {};
}

const nodeTaints = [
  { key: "karpenter.sh/disrupted", effect: "NoSchedule" },
  { key: "example.com/boot", effect: "NoSchedule" },
  { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
  { key: "other", value: "x", effect: "NoExecute" },
  { key: "soft", effect: "PreferNoSchedule" },
] as const;

function csiNode(draw: Draw, name: string, has: Has): readonly PlainObject[] {
  if (!has("volumes") || !draw.chance(0.5)) return [];
  const drivers = [
    { name: "disk.example.com", nodeID: name, topologyKeys: null, allocatable: { count: draw.pick([0, 1, 1, 2, 3]) } },
  ];
  return [{ apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name }, spec: { drivers } }];
}
