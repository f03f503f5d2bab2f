import { labelPolicy } from "../../src/api/label-policy.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { DisruptionPass, type MethodProposal } from "../../src/core/disruption/disruption-pass.ts";
import type { SearchPosition } from "../../src/core/disruption/method.ts";
import type { DisruptionMethodName } from "../../src/core/disruption/methods.ts";
import { plainSimulator } from "../../src/core/disruption/plain-simulator.ts";
import { sharedSimulator } from "../../src/core/disruption/shared-simulator.ts";
import type { DisruptionSearch, DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import type { NodeVerdict } from "../../src/core/disruption/verdict.ts";
import { withDisruptionConditions } from "../../src/core/scenario/complete-disruption-conditions.ts";
import { completeObjects } from "../../src/core/scenario/complete-objects.ts";
import { defaultSchedulingPolicy } from "../../src/core/scheduling/problem.ts";
import { DisruptionProjection } from "../../src/state/disruption-projection.ts";
import { type DisruptionScenarioOptions, disruptionScenarioOf, disruptionSourcesOf } from "../../src/state/scenario.ts";
import { runSteps } from "../../src/util/steps.ts";
import { type InstanceTypeBuilder, instanceType } from "../builders/instance-type.ts";

export const now = Date.parse("2026-01-15T12:00:00Z");
const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };

/** A time before now. */
export function ago(minutes: number): string {
  return new Date(now - minutes * 60_000).toISOString();
}

/** Two, four, eight and sixteen cpus for half a dollar, one, two and four; spot costs 0.7 of that. */
const usualTypes = [2, 4, 8, 16].map((cpu) =>
  instanceType(`cpu-${cpu}`)
    .cpu(cpu)
    .memory(`${cpu * 4}Gi`),
);

export interface PoolFacts {
  readonly name?: string;
  readonly disruption?: object;
  readonly capacityTypes?: readonly string[];
  readonly requirements?: readonly object[];
  readonly spec?: object;
  readonly status?: object;
}

/** On-demand, consolidated at once, without a limit on disruption, until told otherwise. */
export function pool({
  name = "default",
  disruption,
  capacityTypes = ["on-demand"],
  ...facts
}: PoolFacts = {}): KubeObject {
  const requirements = [
    { key: labels.capacityType, operator: "In", values: capacityTypes },
    ...(facts.requirements ?? []),
  ];
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      disruption: { consolidateAfter: "0s", budgets: [{ nodes: "100%" }], ...disruption },
      template: { spec: { nodeClassRef, requirements } },
      ...facts.spec,
    },
    ...(facts.status && { status: facts.status }),
  } as KubeObject;
}

export interface MachineFacts {
  readonly pool?: string | undefined;
  readonly type?: string;
  readonly zone?: string;
  readonly capacityType?: string;
  readonly pods?: readonly PodFacts[];
  readonly conditions?: readonly string[];
  readonly claim?: { readonly metadata?: object; readonly spec?: object; readonly status?: object };
  readonly node?: { readonly metadata?: object; readonly spec?: object; readonly status?: object };
  readonly without?: readonly ("claim" | "node" | "pool-label" | "zone" | "capacity-type" | "instance-type")[];
  /** For how many minutes each condition holds. */
  readonly since?: number;
}

/** A node of eight cpus for two dollars, with what runs on it. */
export function machine(name: string, facts: MachineFacts = {}): readonly KubeObject[] {
  const { pool: poolName = "default", type = "cpu-8", zone = "a", capacityType = "on-demand", without = [] } = facts;
  const own = {
    ...(!without.includes("pool-label") && { [labels.nodePool]: poolName }),
    ...(!without.includes("instance-type") && { [labels.instanceType]: type }),
    ...(!without.includes("zone") && { [labels.zone]: zone }),
    ...(!without.includes("capacity-type") && { [labels.capacityType]: capacityType }),
  };
  const conditions = (facts.conditions ?? []).map((written) => {
    const [kind = "", status = "True"] = written.split("=");
    return { type: kind, status, reason: kind, message: "", lastTransitionTime: ago(facts.since ?? 60) };
  });
  const claim = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name, labels: own, ...facts.claim?.metadata },
    spec: { nodeClassRef, requirements: [], expireAfter: "720h", ...facts.claim?.spec },
    status: { conditions, ...facts.claim?.status },
  } as KubeObject;
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, ...facts.node?.metadata },
    ...(facts.node?.spec && { spec: facts.node.spec }),
    status: { allocatable: undefined, ...facts.node?.status },
  } as KubeObject;
  const pods = (facts.pods ?? []).map((one, index) => pod(`${name}-${index}`, { on: name, ...one }));
  return [
    ...(without.includes("claim") ? [] : [claim]),
    ...(without.includes("node") ? [] : [withoutUndefined(node)]),
    ...pods,
  ];
}

function withoutUndefined(object: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(object)) as KubeObject;
}

export interface PodFacts {
  readonly on?: string;
  readonly cpu?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly spec?: object;
  readonly status?: object;
  readonly isTerminating?: boolean;
}

/** One cpu. */
export function pod(name: string, facts: PodFacts = {}): KubeObject {
  const { on, cpu = "1", owner } = facts;
  const apiVersion = owner === "Node" ? "v1" : "apps/v1";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: facts.labels ?? { app: "web" },
      ...(facts.annotations && { annotations: facts.annotations }),
      ...(owner !== undefined && { ownerReferences: [{ apiVersion, kind: owner, name: "o", uid: "o" }] }),
      ...(facts.isTerminating && { deletionTimestamp: ago(0) }),
    },
    spec: {
      ...(on !== undefined && { nodeName: on }),
      containers: [{ name: "app", image: "app", resources: { requests: { cpu } } }],
      ...facts.spec,
    },
    ...(facts.status && { status: facts.status }),
  } as KubeObject;
}

export function pdb(
  name: string,
  facts: { readonly allowed?: number; readonly spec?: object; readonly namespace?: string } = {},
): KubeObject {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: facts.namespace ?? "default" },
    spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1, ...facts.spec },
    status: { disruptionsAllowed: facts.allowed ?? 0 },
  } as KubeObject;
}

export interface ClusterFacts {
  readonly types?: readonly InstanceTypeBuilder[];
  readonly nominated?: readonly string[];
  readonly mode?: DisruptionSearch;
  readonly allowsSpotToSpot?: boolean;
  readonly allowsMultiReplacement?: boolean;
  readonly packing?: "plain" | "polished";
  readonly nowMs?: number;
  readonly minValues?: "Strict" | "BestEffort";
}

/** What disruption decides on, in a cluster of these objects, each completed as `plan` completes it. */
export function cluster(objects: ClusterObjects, facts: ClusterFacts = {}): DisruptionSnapshot {
  return disruptionScenarioOf(...scenarioInput(objects, facts));
}

/** The same cluster, in which commands can be carried out. */
export function projectedCluster(objects: ClusterObjects, facts: ClusterFacts = {}): DisruptionProjection {
  const { cluster: state, sources } = disruptionSourcesOf(...scenarioInput(objects, facts));
  return new DisruptionProjection(state, sources);
}

export type ClusterObjects = readonly (KubeObject | readonly KubeObject[])[];

function scenarioInput(
  objects: ClusterObjects,
  facts: ClusterFacts,
): [readonly KubeObject[], DisruptionScenarioOptions] {
  const { types = usualTypes, nominated = [], mode = "default", allowsSpotToSpot = false, nowMs = now } = facts;
  const built = types.map((type) => type.build());
  const typesFor = () => built;
  const policy = labelPolicy("kwok");
  const complete = completeObjects(objects.flat() as KubeObject[], { typesFor, nowMs, defaultNodeClass: nodeClassRef });
  const options = {
    typesFor,
    served: [nodeClassRef],
    labelPolicy: policy,
    policy: {
      ...defaultSchedulingPolicy,
      minValues: facts.minValues ?? "Strict",
      packing: facts.packing ?? "plain",
    },
    seed: 1,
    nowMs,
    nominated,
    mode,
    allowsSpotToSpot,
    allowsMultiReplacement: facts.allowsMultiReplacement ?? false,
  };
  return [withDisruptionConditions(complete, { typesFor, labelPolicy: policy, nowMs }), options];
}

export interface AskOptions {
  /** How many simulations the search may run. */
  readonly simulations?: number;
  readonly resume?: SearchPosition | undefined;
  readonly sweep?: "first" | "all" | "several";
}

/** What a method proposes. */
export function ask(
  snapshot: DisruptionSnapshot,
  method: DisruptionMethodName,
  { simulations = Number.POSITIVE_INFINITY, resume, sweep = "all" }: AskOptions = {},
): MethodProposal {
  let left = simulations;
  const options = {
    simulator: sweep === "several" ? sharedSimulator(snapshot) : plainSimulator(snapshot),
    searchBudget: { mayContinue: () => left-- > 0 },
    resume,
    sweep,
  };
  return runSteps(new DisruptionPass(snapshot).propose(method, options));
}

/** Commands as text: `delete a,b` or `replace a -> cpu-2`. */
export function commandTexts({ commands }: Pick<MethodProposal, "commands">): readonly string[] {
  return commands.map(({ decision, candidates, replacements }) => {
    const nodes = candidates.map(({ name }) => name).sort();
    const types = replacements.map(({ instanceTypes }) => instanceTypes.map(({ name }) => name).join("|"));
    return [decision, nodes.join(","), ...(types.length > 0 ? ["->", types.join(" ")] : [])].join(" ");
  });
}

export function verdictOf({ verdicts }: Pick<MethodProposal, "verdicts">, node: string): NodeVerdict | undefined {
  return verdicts.find((one) => one.node === node);
}

export function codesOf({ verdicts }: Pick<MethodProposal, "verdicts">): Readonly<Record<string, string>> {
  return Object.fromEntries(verdicts.map(({ node, code }) => [node, code]));
}
