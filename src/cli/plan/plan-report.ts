import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels, resources } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { resourceBound } from "../../core/bound/resource-bound.ts";
import { isCompatible } from "../../core/compatibility.ts";
import {
  type InstanceType,
  type Offering,
  offeringCapacityType,
  offeringGroups,
  offeringZone,
} from "../../core/instance-type.ts";
import { podRequests, QuantityReader } from "../../core/pod-requests.ts";
import type { PriceSource } from "../../core/price-source.ts";
import type { Requirements } from "../../core/requirements.ts";
import { mergeResources, type Resources } from "../../core/resources.ts";
import { isFiniteWork } from "../../core/scenario/finite-work.ts";
import type { PlannedNode } from "../../core/scheduling/decision.ts";
import type { Refusal } from "../../core/scheduling/refusal.ts";
import { priceSourcesOf, type ReportedPriceSource } from "../prices/price-sources.ts";
import { type MachineSize, machineSizeOf } from "./machine-size.ts";
import type { Plan } from "./make-plan.ts";
import { planNotes } from "./notes.ts";

/** Hours per month, as in cloud bills. */
export const hoursPerMonth = 730;

/** A plan as `-o json` prints it; other outputs are renderings of this. */
export interface PlanReport {
  /** The region whose instance types and prices are used; absent where they belong to none. */
  readonly region?: string;
  readonly newNodes: readonly ReportedNode[];
  /** Existing node → pods the plan schedules to it. */
  readonly existingNodes: Readonly<Record<string, readonly string[]>>;
  /** Pod → why it cannot be scheduled. */
  readonly unschedulable: Readonly<Record<string, string>>;
  readonly refusals: readonly ReportedRefusal[];
  /** Where the prices of new nodes come from. */
  readonly priceSources: readonly ReportedPriceSource[];
  readonly totals: ReportedTotals;
  readonly notes: readonly string[];
}

export interface ReportedNode {
  readonly nodePool: string;
  readonly pods: readonly string[];
  /** All types still possible, cheapest first, then by name. */
  readonly instanceTypes: readonly string[];
  /** Hourly price of the cheapest offering still possible. */
  readonly price: number;
  /** Where that price comes from. */
  readonly priceSource?: PriceSource;
  readonly requirements: Readonly<Record<string, string>>;
  /** The type of that cheapest offering. */
  readonly instanceType?: string;
  /** How large a machine of that type is. */
  readonly machine?: MachineSize;
  readonly capacityType?: string;
  /** The zones where it has that price; one zone if the node is restricted to it. */
  readonly zones: readonly string[];
  /** The share of the node's allocatable resources that is requested, 0 to 1. */
  readonly fill: { readonly cpu?: number; readonly memory?: number };
  readonly requests: Readonly<Record<string, string>>;
  /** All its pods are of Jobs or CronJobs, or end otherwise: it is needed only while they run. */
  readonly onlyJobs?: true;
}

interface ReportedRefusal {
  readonly pod: string;
  readonly code: string;
  readonly message: string;
}

interface ReportedTotals {
  readonly pods: number;
  readonly newNodes: number;
  readonly unschedulable: number;
  readonly pricePerHour: number;
  /** Of what is needed when no Job runs. */
  readonly pricePerMonth: number;
  /** The part of the hourly price that is due only while Jobs run. */
  readonly jobsPricePerHour?: number;
  /** A lower bound from cpu and memory alone: nothing that provides the requested amounts costs less per hour. */
  readonly resourceBoundPerHour: number;
  /** A lower bound on the hourly price of any plan for these pods, from a linear program. */
  readonly lowerBoundPerHour?: number;
  /** How far the plan is above the resource bound: 0.05 is five percent. */
  readonly gap?: number;
  readonly buildMs?: number;
  readonly solveMs?: number;
  readonly peakHeapMiB?: number;
}

export interface PlanReportOptions {
  /** The hourly price no plan can go below, if it was computed. */
  readonly lowerBound?: number | undefined;
  /** Timings differ from run to run, and so are left out unless they are asked for. */
  readonly includesTimings?: boolean | undefined;
}

/** The same plan makes the same report, byte for byte, but for timings. */
export function planReportOf(plan: Plan, { lowerBound, includesTimings }: PlanReportOptions = {}): PlanReport {
  const { decision, scenario, catalogue, timings } = plan;
  const refusals = [...scenario.ignored, ...decision.refusals].map(reportedRefusal).sort(orderBy(({ pod }) => pod));
  const newNodes = decision.newNodes
    .map((node) => reportedNode(node, catalogue.labelPolicy))
    .sort(orderBy(({ nodePool, instanceType, pods }) => [pods.join(","), nodePool, instanceType].join(" ")));
  const pricePerHour = newNodes.reduce((sum, { price }) => sum + price, 0);
  const lasting = newNodes.filter((node) => node.onlyJobs !== true);
  const lastingPricePerHour = plan.pricePerHourWithoutJobs ?? lasting.reduce((sum, { price }) => sum + price, 0);
  const bound = resourceBoundOf(plan);
  return {
    ...(catalogue.region !== undefined && { region: catalogue.region }),
    newNodes,
    existingNodes: placedPods(decision.placements),
    unschedulable: Object.fromEntries(refusals.map(({ pod, message }) => [pod, message])),
    refusals,
    priceSources: priceSourcesOf(newNodes),
    totals: {
      pods: scenario.problem.pods.length + scenario.ignored.length,
      newNodes: newNodes.length,
      unschedulable: refusals.length,
      pricePerHour,
      pricePerMonth: lastingPricePerHour * hoursPerMonth,
      ...(lastingPricePerHour < pricePerHour && { jobsPricePerHour: pricePerHour - lastingPricePerHour }),
      resourceBoundPerHour: bound,
      ...(lowerBound !== undefined && { lowerBoundPerHour: lowerBound }),
      ...(bound > 0 && { gap: dynamicPrice(plan) / bound - 1 }),
      ...(includesTimings === true && timings),
    },
    notes: planNotes(plan),
  };
}

function placedPods(placements: Plan["decision"]["placements"]): PlanReport["existingNodes"] {
  const byNode = placements.map(({ node, pods }) => [node, podNames(pods)] as const);
  return Object.fromEntries(byNode.sort(orderBy(([node]) => node)));
}

/** By code units, whatever the language of the machine. */
function orderBy<T>(key: (one: T) => string): (a: T, b: T) => number {
  return (a, b) => {
    const [left, right] = [key(a), key(b)];
    return left < right ? -1 : Number(left > right);
  };
}

/** Lower bound on the cost of the pods on new nodes; DaemonSet overhead is not counted. */
function resourceBoundOf(plan: Plan): number {
  const { problem } = plan.scenario;
  const reader = new QuantityReader();
  const perNode = dynamicNodes(plan).map(({ pods }) => mergeResources(...pods.map((pod) => podRequests(pod, reader))));
  return perNode.length === 0 ? 0 : resourceBound(mergeResources(...perNode), problem.pools, problem.labelPolicy);
}

/** Nodes of static pools are there whatever the pods need: no bound is about them. */
function dynamicNodes({ decision, scenario: { problem } }: Plan): readonly PlannedNode[] {
  const dynamic = new Set(problem.pools.map(({ nodePool }) => nodePool.metadata.name));
  return decision.newNodes.filter(({ pool }) => dynamic.has(pool));
}

function dynamicPrice(plan: Plan): number {
  return dynamicNodes(plan).reduce((sum, { price }) => sum + price, 0);
}

export function reportedNode(node: PlannedNode, policy: LabelPolicy): ReportedNode {
  const { pool, pods, instanceTypes, price, requirements, requests } = node;
  const [type] = instanceTypes;
  const offer = type && offerOf(type, { requirements, policy, chosen: node.offering });
  return {
    nodePool: pool,
    pods: podNames(pods),
    instanceTypes: instanceTypes.map(({ name }) => name),
    price,
    ...(offer?.priceSource !== undefined && { priceSource: offer.priceSource }),
    requirements: requirementTexts(requirements),
    ...(type !== undefined && { instanceType: type.name, machine: machineSizeOf(type) }),
    ...(offer?.capacityType !== undefined && { capacityType: offer.capacityType }),
    zones: offer?.zones ?? [],
    fill: offer === undefined ? {} : utilizationOf(requests, offer.allocatable),
    requests: Object.fromEntries(Object.entries(requests).map(([name, quantity]) => [name, quantity.canonical()])),
    ...(pods.length > 0 && pods.every(isFiniteWork) && { onlyJobs: true }),
  };
}

/** The chosen offering of a type, else the cheapest compatible one, and the zones with the same price. */
function offerOf(
  type: InstanceType,
  {
    requirements,
    policy,
    chosen,
  }: { readonly requirements: Requirements; readonly policy: LabelPolicy; readonly chosen: Offering | undefined },
) {
  const possible = offeringGroups(type)
    .flatMap(({ allocatable, offerings }) => offerings.map((offering) => ({ allocatable, offering })))
    .filter(({ offering }) => isCompatible(requirements, offering.requirements, { allowUndefined: policy.wellKnown }));
  const cheapest = possible.reduce<(typeof possible)[number] | undefined>(
    (low, one) => (low === undefined || one.offering.price < low.offering.price ? one : low),
    undefined,
  );
  const best = possible.find(({ offering }) => offering === chosen) ?? cheapest;
  if (best === undefined) return undefined;
  const chosenCapacityType = offeringCapacityType(best.offering);
  const alike = possible.filter(
    ({ offering }) => offering.price === best.offering.price && offeringCapacityType(offering) === chosenCapacityType,
  );
  const zones = new Set(alike.flatMap(({ offering }) => offeringZone(offering) ?? []));
  const { allocatable, offering } = best;
  return { capacityType: chosenCapacityType, zones: [...zones].sort(), allocatable, priceSource: offering.priceSource };
}

function utilizationOf(requests: Resources, allocatable: Resources): ReportedNode["fill"] {
  const share = (name: string): number | undefined => {
    const all = allocatable[name]?.toNumber() ?? 0;
    return all > 0 ? (requests[name]?.toNumber() ?? 0) / all : undefined;
  };
  const [cpu, memory] = [share(resources.cpu), share(resources.memory)];
  return { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
}

function requirementTexts(requirements: Requirements): Readonly<Record<string, string>> {
  const keys = requirements.sortedKeys().filter((key) => key !== labels.hostname);
  return Object.fromEntries(keys.map((key) => [key, String(requirements.get(key)).slice(key.length + 1)]));
}

function reportedRefusal({ pod, code, message }: Refusal): ReportedRefusal {
  return { pod: namespacedName(pod.metadata), code, message };
}

export function podNames(pods: readonly Pod[]): readonly string[] {
  return pods.map(({ metadata }) => namespacedName(metadata)).sort();
}
