import type { Pod } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import { allocatable, type InstanceType, type Offering } from "../instance-type.ts";
import type { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import { amount, max, merge, noResources, type Resources } from "../resources.ts";
import type { Pass, Shop } from "../scheduling/pass-state.ts";
import type { Pool } from "../scheduling/problem.ts";
import { type Demand, podDemands, poolDemands } from "./demands.ts";

/** One way to buy a machine for a pod, and all that speaks against it. */
export interface Machine {
  readonly type: InstanceType;
  readonly price: number;
  /** What the pool says that it is not, with the value it has instead. */
  readonly poolMisses: readonly LabelMiss[];
  /** What the pod says that it is not. */
  readonly podMisses: readonly LabelMiss[];
  /** Whether the pod's volumes are elsewhere. */
  readonly missesVolumes: boolean;
  readonly shortages: readonly Shortage[];
  /** What the pool's limits lack for it. */
  readonly excesses: readonly Excess[];
}

export interface LabelMiss {
  readonly demand: Demand;
  /** Of the machine; undefined where it has many or none. */
  readonly value: string | undefined;
}

export interface Shortage {
  readonly resource: string;
  /** By the pod alone. */
  readonly asked: Quantity;
  /** With what daemons ask for taken off. */
  readonly left: Quantity;
  readonly daemons: Quantity;
}

export interface Excess {
  readonly resource: string;
  readonly limit: Quantity;
  /** What the limit would have to be. */
  readonly needed: Quantity;
}

export interface MachineQuestion {
  readonly pass: Pass;
  readonly pod: Pod;
  readonly requests: Resources;
  readonly volumeAlternatives: readonly Requirements[];
  readonly pool: Pool;
  /** Absent where the pool's own requirements leave nothing. */
  readonly shop: Shop | undefined;
}

/** How many things speak against a machine. */
export function faultsOf({ poolMisses, podMisses, missesVolumes, shortages, excesses }: Machine): number {
  return poolMisses.length + podMisses.length + shortages.length + excesses.length + (missesVolumes ? 1 : 0);
}

/** Every available offering of every type the provider sells to the pool, whether or not the pool wants it. */
export function machinesFor(question: MachineQuestion): readonly Machine[] {
  const { pass, pool, pod, shop, volumeAlternatives } = question;
  const { labelPolicy } = pass.problem;
  const fromPool = poolDemands(pool.nodePool, labelPolicy);
  const fromPod = podDemands(pod, labelPolicy);
  const overheads = daemonsByType(shop);
  const rest = remainingOf(pass, shop);
  return pool.instanceTypes.flatMap((type) => {
    const shortages = shortagesOf(type, question.requests, overheads(type));
    const excesses = excessesOf(type, { pool, rest });
    return type.offerings
      .filter(({ available }) => available)
      .map((offering): Machine => {
        const looks = (key: string): Requirement | undefined => labelOf(key, type, offering);
        return {
          type,
          price: offering.price,
          poolMisses: missesOf(fromPool, looks),
          podMisses: missesOf(fromPod, looks),
          missesVolumes:
            volumeAlternatives.length > 0 &&
            !volumeAlternatives.some((alternative) => [...alternative].every((one) => agrees(one, looks(one.key)))),
          shortages: offering.capacityOverride === undefined ? shortages : [],
          excesses,
        };
      });
  });
}

/** Whether types, or the ways to buy them, are told apart by a label. */
export function isTypeLabel(key: string, { instanceTypes }: Pool): boolean {
  return instanceTypes.some(
    ({ requirements, offerings }) => requirements.has(key) || offerings.some((one) => one.requirements.has(key)),
  );
}

function labelOf(key: string, type: InstanceType, offering: Offering): Requirement | undefined {
  if (offering.requirements.has(key)) return offering.requirements.get(key);
  return type.requirements.has(key) ? type.requirements.get(key) : undefined;
}

function missesOf(demands: readonly Demand[], looks: (key: string) => Requirement | undefined): readonly LabelMiss[] {
  return demands.flatMap((demand) => {
    const has = looks(demand.requirement.key);
    if (agrees(demand.requirement, has)) return [];
    return [{ demand, value: has?.complement === false ? has.sortedValues()[0] : undefined }];
  });
}

/** A label machines do not speak of may have any value. (02:R-25) */
function agrees(wanted: Requirement, has: Requirement | undefined): boolean {
  return has === undefined || wanted.hasIntersection(has) || (wanted.isNegative && has.isNegative);
}

/** Daemons of a type; of one the pool leaves out, at worst as many as anywhere. */
function daemonsByType(shop: Shop | undefined): (type: InstanceType) => Resources {
  if (shop === undefined) return () => noResources;
  const byType = new Map<InstanceType, Resources>();
  for (const { columns, overhead } of shop.daemons) {
    for (const type of shop.catalogue.typesIn(columns)) byType.set(type, overhead);
  }
  const most = max(...shop.daemons.map(({ overhead }) => overhead));
  return (type) => byType.get(type) ?? most;
}

function shortagesOf(type: InstanceType, requests: Resources, daemons: Resources): readonly Shortage[] {
  const offered = allocatable(type);
  return Object.keys(merge(requests, daemons)).flatMap((resource) => {
    const [asked, taken] = [amount(requests, resource), amount(daemons, resource)];
    const left = amount(offered, resource).sub(taken);
    return asked.cmp(left) > 0 ? [{ resource, asked, left, daemons: taken }] : [];
  });
}

/** What a pool's limits still allow; only limited resources are named. */
export function remainingOf({ space }: Pass, shop: Shop | undefined): Resources {
  if (shop === undefined) return noResources;
  const row = space.zero();
  for (const [name, left] of shop.remaining) if (space.indexOf(name) >= 0) row[space.indexOf(name)] = left;
  const all = space.toResources(row, (name) => shop.remaining.has(name));
  return Object.fromEntries([...shop.remaining.keys()].flatMap((name) => (all[name] ? [[name, all[name]]] : [])));
}

/** 02:H-2. */
function excessesOf(type: InstanceType, { pool, rest }: { pool: Pool; rest: Resources }): readonly Excess[] {
  const limits = pool.nodePool.spec.limits ?? {};
  return Object.entries(rest).flatMap(([resource, left]) => {
    const isNodes = resource === resources.nodes;
    const wanted = isNodes ? Quantity.of(1) : amount(type.capacity, resource);
    if (wanted.cmp(left) <= 0) return [];
    const limit = Quantity.tryParse(limits[resource] ?? "0") ?? Quantity.zero;
    return [{ resource, limit, needed: limit.sub(left).add(wanted) }];
  });
}
