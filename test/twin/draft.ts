import type { SelectorOwner } from "../../src/api/kubernetes/cluster-objects.ts";
import type { Toleration } from "../../src/api/kubernetes/pod.ts";
import type { SchedulingPolicy, SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { type InstanceTypeBuilder, instanceType } from "../builders/instance-type.ts";
import type { ShortRequirement } from "../builders/keys.ts";
import { type NodeBuilder, node } from "../builders/node.ts";
import { type NodePoolBuilder, nodePool } from "../builders/node-pool.ts";
import { type AffinityOptions, type PodBuilder, pod, type SpreadOptions } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import type { VolumeDraft } from "../builders/volumes.ts";

/**
 * A random problem before it is built: short data, so that a failure prints it and shrinking can take it apart. A trait
 * is one call of a builder; one less of them is a simpler problem.
 */
export interface ProblemDraft {
  readonly seed: number;
  readonly policy: Partial<SchedulingPolicy>;
  readonly types: readonly TypeDraft[];
  readonly pools: readonly PoolDraft[];
  readonly nodes: readonly NodeDraft[];
  readonly pods: readonly PodDraft[];
  readonly daemons: readonly PodDraft[];
  readonly volumes: readonly VolumeDraft[];
}

export type PodTrait =
  | readonly ["on", string, string]
  | readonly ["needs", readonly ShortRequirement[]]
  | readonly ["prefers", number, readonly ShortRequirement[]]
  | readonly ["tolerates", Toleration]
  | readonly ["spread", string, SpreadOptions]
  | readonly ["near" | "apart", string, Readonly<Record<string, string>>, AffinityOptions]
  | readonly ["port", number, string]
  | readonly ["volume", string]
  | readonly ["namespace", string]
  | readonly ["request", string, string]
  | readonly ["terminating"]
  | readonly ["claims-device"];

export interface PodDraft {
  readonly count: number;
  readonly cpu: string;
  readonly app: string;
  readonly traits: readonly PodTrait[];
}

export type TypeTrait =
  | readonly ["zones", ...string[]]
  | readonly ["soldOutIn", string, string]
  | readonly ["priceIn", string, number]
  | readonly ["sizeIn", string, string]
  | readonly ["reserved", string, string, number]
  | readonly ["label", string, string]
  | readonly ["gpu", string]
  | readonly ["overhead", string];

export interface TypeDraft {
  readonly cpu: number;
  readonly traits: readonly TypeTrait[];
}

type PoolOperator = Parameters<NodePoolBuilder["requires"]>[1];

export type PoolTrait =
  | readonly ["zones", ...string[]]
  | readonly ["requires", string, PoolOperator, ...string[]]
  | readonly ["minValues", string, number]
  | readonly ["label", string, string]
  | readonly ["taint", string]
  | readonly ["weight", number]
  | readonly ["limit", string, string]
  | readonly ["types", ...number[]];

export interface PoolDraft {
  readonly traits: readonly PoolTrait[];
}

export type NodeTrait =
  | readonly ["label", string, string]
  | readonly ["without", string]
  | readonly ["pool", string]
  | readonly ["taint", string]
  | readonly ["runs", PodDraft]
  | readonly ["runsDaemon", PodDraft]
  | readonly ["volumeLimit", number]
  | readonly ["uninitialized"]
  | readonly ["inFlight"]
  | readonly ["unregistered", string, string]
  | readonly ["leaving"];

export interface NodeDraft {
  readonly zone: string;
  readonly cpu: string;
  readonly traits: readonly NodeTrait[];
}

/** Names follow from the place in the list. */
export function buildProblem(draft: ProblemDraft): SchedulingProblem {
  const types = draft.types.map((one, at) => buildType(one, `t${at}`));
  const isLeaving = ({ traits }: NodeDraft): boolean => traits.some(([what]) => what === "leaving");
  const nodes = draft.nodes.map((one, at) => ({ isLeaving: isLeaving(one), node: buildNode(one, `n${at}`) }));
  const built = problem()
    .seed(draft.seed)
    .policy(draft.policy)
    .types(...types)
    .pools(...draft.pools.map((one, at) => buildPool(one, { name: `pool-${at}`, types })))
    .nodes(...nodes.filter((one) => !one.isLeaving).map((one) => one.node))
    .leaving(...nodes.filter((one) => one.isLeaving).map((one) => one.node))
    .daemons(...draft.daemons.map(buildPod))
    .volumes(...draft.volumes, ...draft.volumes.map((one) => ({ ...one, namespace: "other" })))
    .namespace("other", { kind: "other" })
    .selectorOwners(service("x"), service("y"));
  return draft.pods.reduce((rest, one) => rest.pods(one.count, buildPod(one)), built).build();
}

function service(app: string): SelectorOwner {
  return { kind: "Service", metadata: { name: app, namespace: "default" }, spec: { selector: { app } } };
}

function buildPod({ cpu, app, traits }: PodDraft): PodBuilder {
  return traits.reduce(withPodTrait, pod().label("app", app).cpu(cpu));
}

function withPodTrait(built: PodBuilder, trait: PodTrait): PodBuilder {
  switch (trait[0]) {
    case "on":
      return built.on(trait[1], trait[2]);
    case "needs":
      return built.needs(...trait[1]);
    case "prefers":
      return built.prefers(trait[1], ...trait[2]);
    case "tolerates":
      return built.tolerates(trait[1]);
    case "spread":
      return built.spread(trait[1], trait[2]);
    case "near":
      return built.near(trait[1], trait[2], trait[3]);
    case "apart":
      return built.apart(trait[1], trait[2], trait[3]);
    case "port":
      return built.hostPort(trait[1], { ip: trait[2] });
    case "volume":
      return built.volume(trait[1]);
    case "namespace":
      return built.namespace(trait[1]);
    case "request":
      return built.request(trait[1], trait[2]);
    case "terminating":
      return built.terminating();
    case "claims-device":
      return built.resourceClaim("device");
  }
}

function buildType({ cpu, traits }: TypeDraft, name: string): InstanceTypeBuilder {
  const plain = instanceType(name).cpu(cpu).zones("a", "b").label("karpenter.kwok.sh/instance-cpu", String(cpu));
  return traits.reduce(withTypeTrait, plain);
}

function withTypeTrait(built: InstanceTypeBuilder, trait: TypeTrait): InstanceTypeBuilder {
  switch (trait[0]) {
    case "zones":
      return built.zones(...trait.slice(1).map(String));
    case "soldOutIn":
      return built.soldOutIn(trait[1], trait[2]);
    case "priceIn":
      return built.priceIn(trait[1], trait[2]);
    case "sizeIn":
      return built.sizeIn(trait[1], { cpu: trait[2] });
    case "reserved":
      return built.reserved(trait[1], { zone: trait[2], capacity: trait[3] });
    case "label":
      return built.label(trait[1], trait[2]);
    case "gpu":
      return built.resource("nvidia.com/gpu", trait[1]);
    case "overhead":
      return built.overhead({ cpu: trait[1] });
  }
}

interface PoolPlace {
  readonly name: string;
  readonly types: readonly InstanceTypeBuilder[];
}

function buildPool({ traits }: PoolDraft, place: PoolPlace): NodePoolBuilder {
  return traits.reduce((built, trait) => withPoolTrait(built, trait, place), nodePool(place.name));
}

function withPoolTrait(built: NodePoolBuilder, trait: PoolTrait, { types }: PoolPlace): NodePoolBuilder {
  switch (trait[0]) {
    case "zones":
      return built.zones(...trait.slice(1).map(String));
    case "requires":
      return built.requires(trait[1], trait[2], ...trait.slice(3).map(String));
    case "minValues":
      return built.minValues(trait[1], trait[2]);
    case "label":
      return built.label(trait[1], trait[2]);
    case "taint":
      return built.taint(trait[1]);
    case "weight":
      return built.weight(trait[1]);
    case "limit":
      return built.limit(trait[1], trait[2]);
    case "types": {
      const own = trait.slice(1).flatMap((at) => types[Number(at)] ?? []);
      return own.length === 0 ? built : built.types(...new Set(own));
    }
  }
}

function buildNode({ zone, cpu, traits }: NodeDraft, name: string): NodeBuilder {
  return traits.reduce(withNodeTrait, node(name).zone(zone).cpu(cpu));
}

function withNodeTrait(built: NodeBuilder, trait: NodeTrait): NodeBuilder {
  switch (trait[0]) {
    case "label":
      return built.label(trait[1], trait[2]);
    case "without":
      return built.without(trait[1]);
    case "pool":
      return built.pool(trait[1]);
    case "taint":
      return built.taint(trait[1]);
    case "runs":
      return built.running(...Array.from({ length: trait[1].count }, () => buildPod(trait[1])));
    case "runsDaemon":
      return built.runningDaemons(buildPod(trait[1]));
    case "volumeLimit":
      return built.volumeLimit("disk.example.com", trait[1]);
    case "uninitialized":
      return built.uninitialized();
    case "inFlight":
      return built.inFlight();
    case "unregistered":
      return built.unregistered(trait[1], trait[2]);
    case "leaving":
      return built;
  }
}

/** One line an object: what a failure prints. */
export function describeDraft(draft: ProblemDraft): string {
  const line = (name: string, value: unknown): string => `${name} ${JSON.stringify(value)}`;
  return [
    line("seed", draft.seed),
    line("policy", draft.policy),
    ...draft.types.map((one, at) => line(`type t${at}`, one)),
    ...draft.pools.map((one, at) => line(`pool pool-${at}`, one.traits)),
    ...draft.nodes.map((one, at) => line(`node n${at}`, one)),
    ...draft.daemons.map((one) => line("daemon", one)),
    ...draft.volumes.filter(({ claim }) => isUsed(claim, draft)).map((one) => line("volume", one)),
    ...draft.pods.map((one) => line("pods", one)),
  ].join("\n");
}

function isUsed(claim: string, { nodes, pods }: ProblemDraft): boolean {
  return JSON.stringify([nodes, pods]).includes(JSON.stringify(["volume", claim]));
}
