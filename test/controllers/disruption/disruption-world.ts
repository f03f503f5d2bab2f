import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import type { Node } from "../../../src/api/kubernetes/cluster-objects.ts";
import { finalizers, labels, taints } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { disruptionControllers } from "../../../src/controllers/disruption/disruption-controller.ts";
import type { OpenSearch } from "../../../src/controllers/disruption/search-budget.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { recordingMetrics } from "../../world/recording-metrics.ts";
import { type ControllerWorldOptions, controllerWorld } from "../controller-world.ts";
import { claim, kwokClass, type PoolDraft, pool } from "../pool-objects.ts";

export type LiveClaim = KubeObject & NodeClaim;
type LiveNode = KubeObject & Node;

export interface DisruptionWorldOptions extends Partial<ControllerWorldOptions> {
  readonly openSearch?: OpenSearch | undefined;
}

/** The pool's nodes go as soon as they can, and any number of them. */
export const eager: NodePool["spec"]["disruption"] = {
  consolidationPolicy: "WhenEmptyOrUnderutilized",
  consolidateAfter: "0s",
  budgets: [{ nodes: "100%" }],
};

/**
 * The disruption controllers alone, with a pool `default` of on-demand nodes: nothing launches, registers or ends, so a
 * test decides when a replacement is there.
 */
export async function disruptionWorld({ openSearch, ...options }: DisruptionWorldOptions = {}) {
  const metrics = recordingMetrics();
  const evaluations: string[] = [];
  const world = await controllerWorld({
    metrics: {
      ...metrics,
      observe: (name, { consolidation_type: type }: Readonly<Record<string, unknown>>) => {
        if (name === "voluntary_disruption_decision_evaluation_duration_seconds") evaluations.push(String(type));
      },
    },
    controllers: (dependencies) => disruptionControllers({ ...dependencies, ...(openSearch && { openSearch }) }),
    ...options,
  });
  await world.create(kwokClass());
  await addPool(world, "default");
  return {
    ...world,
    series: metrics.series,
    /** The `consolidation_type` of every search, in order. */
    evaluations,
    node: async (name: string) => world.get<LiveNode>(builtInTypes.Node, name),
    claim: async (name: string) => world.get<LiveClaim>(karpenterTypes.NodeClaim, name),
    /** Claims that this test did not make. */
    replacements: async () =>
      (await world.list<LiveClaim>(karpenterTypes.NodeClaim)).filter(({ metadata }) => metadata.generateName),
    conditionOf: async (name: string, type: string) => {
      const found = await world.get<LiveClaim>(karpenterTypes.NodeClaim, name);
      return found && getCondition(found, type);
    },
    isTainted: async (name: string) =>
      ((await world.get<LiveNode>(builtInTypes.Node, name))?.spec?.taints ?? []).some(
        ({ key }) => key === taints.disrupted.key,
      ),
    isDeleted: async (name: string) => {
      const found = await world.get<LiveClaim>(karpenterTypes.NodeClaim, name);
      return found === undefined || found.metadata.deletionTimestamp !== undefined;
    },
  };
}
export type DisruptionWorld = Awaited<ReturnType<typeof disruptionWorld>>;

type World = Pick<DisruptionWorld, "create" | "status" | "clock">;

export async function addPool(world: World, name: string, draft: PoolDraft = {}): Promise<void> {
  const requirements = [
    { key: labels.capacityType, operator: "In", values: ["on-demand"] },
    { key: labels.os, operator: "In", values: ["linux"] },
    { key: labels.arch, operator: "In", values: ["amd64"] },
    ...(draft.requirements ?? []),
  ];
  const made = await world.create(pool(name, { disruption: eager, ...draft, requirements }));
  await world.status(made, conditions(world, ["ValidationSucceeded", "NodeClassReady", "Ready"]));
}

function conditions({ clock }: Pick<World, "clock">, types: readonly string[]) {
  const lastTransitionTime = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
  return {
    conditions: types.map((written) => {
      const [type = "", status = "True"] = written.split("=");
      return { type, status, reason: type, message: "", lastTransitionTime };
    }),
  };
}

export interface RunningNodeDraft {
  readonly pool?: string;
  readonly type?: string;
  /** Requests of the pods on it. */
  readonly pods?: readonly string[];
  /** Further conditions of the claim, as `Drifted` or `Consolidatable=False`. */
  readonly conditions?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

const usual = ["Launched", "Registered", "Initialized", "Consolidatable", "Ready"];

/** A node of sixteen cpus that is initialized and consolidatable, with its claim and pods. */
export async function runningNode(world: World, name: string, draft: RunningNodeDraft = {}): Promise<void> {
  const { pool: poolName = "default", type = "s-16x-amd64-linux", pods = [], annotations = {} } = draft;
  const cpu = /-(\d+)x-/.exec(type)?.[1] ?? "0";
  const own = {
    [labels.nodePool]: poolName,
    [labels.instanceType]: type,
    [labels.capacityType]: "on-demand",
    [labels.zone]: "test-zone-a",
    [labels.os]: "linux",
    [labels.arch]: "amd64",
  };
  const written = claim(name, { pool: poolName, labels: own });
  const made = await world.create({
    ...written,
    metadata: { ...written.metadata, finalizers: [finalizers.termination] },
  });
  const providerID = `kwok://${name}`;
  const capacity = { cpu, memory: `${4 * Number(cpu)}Gi`, pods: "110", "ephemeral-storage": "20Gi" };
  const given = draft.conditions ?? [];
  const named = new Set(given.map((one) => one.split("=")[0]));
  const all = [...usual.filter((one) => !named.has(one)), ...given];
  await world.status(made, { providerID, nodeName: name, capacity, allocatable: capacity, ...conditions(world, all) });
  const marks = { [labels.registered]: "true", [labels.initialized]: "true", [labels.hostname]: name };
  const node = await world.create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...own, ...marks }, annotations },
    spec: { providerID },
  });
  await world.status(node, { capacity, allocatable: capacity, ...conditions(world, ["Ready"]) });
  for (const [at, cpuRequest] of pods.entries()) await world.create(runningPod(`${name}-${at}`, name, cpuRequest));
}

export interface PodDraft {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export function runningPod(name: string, nodeName: string, cpu: string, draft: PodDraft = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels: { app: "web" }, ...draft },
    spec: { nodeName, containers: [{ name: "app", image: "app", resources: { requests: { cpu } } }] },
  };
}

/** The replacement is up: initialized, or whatever conditions are given. */
export async function setConditions(world: World, object: KubeObject, types: readonly string[]): Promise<void> {
  const { name = "" } = object.metadata;
  const status = { providerID: `kwok://${name}`, nodeName: name, ...conditions(world, types) };
  await world.status(object, status);
}

/** Lets seconds pass until it is so. */
export async function eventually(
  world: Pick<DisruptionWorld, "pass">,
  probe: () => Promise<boolean>,
  seconds = 60,
): Promise<void> {
  for (let second = 0; second <= seconds; second++) {
    if (await probe()) return;
    await world.pass(1);
  }
  throw new Error(`not within ${seconds} s`);
}
