import type { Pod } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import { Quantity } from "../../util/quantity.ts";
import { allocatableOf, type InstanceType, type Offering } from "../instance-type.ts";
import type { Requirement } from "../requirement.ts";
import type { Requirements } from "../requirements.ts";
import { amountOf, maxResources, mergeResources, noResources, type Resources } from "../resources.ts";
import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import type { Pool } from "../scheduling/problem.ts";
import { type WrittenRequirement, writtenPodRequirements, writtenPoolRequirements } from "./written-requirements.ts";

/** One offering of one instance type, and everything that keeps the pod from it. */
export interface LaunchOption {
  readonly type: InstanceType;
  readonly price: number;
  /** Requirements of the pool it does not meet. */
  readonly poolMismatches: readonly LabelMismatch[];
  /** Requirements of the pod it does not meet. */
  readonly podMismatches: readonly LabelMismatch[];
  /** Whether the pod's volumes cannot be used there. */
  readonly missesVolumes: boolean;
  readonly shortages: readonly ResourceShortage[];
  /** Limits of the pool it would exceed. */
  readonly limitExcesses: readonly LimitExcess[];
}

export interface LabelMismatch {
  readonly writtenRequirement: WrittenRequirement;
  /** The value it has; undefined where it has several or none. */
  readonly value: string | undefined;
}

interface ResourceShortage {
  readonly resource: string;
  /** By the pod, without daemons. */
  readonly asked: Quantity;
  /** Allocatable less daemons. */
  readonly left: Quantity;
  readonly daemons: Quantity;
}

export interface LimitExcess {
  readonly resource: string;
  readonly limit: Quantity;
  /** The limit that would be needed. */
  readonly needed: Quantity;
}

export interface LaunchOptionQuery {
  readonly pass: Pass;
  readonly pod: Pod;
  readonly requests: Resources;
  readonly volumeAlternatives: readonly Requirements[];
  readonly pool: Pool;
  /** Undefined where the pool's own requirements leave no instance type. */
  readonly poolTemplate: PoolTemplate | undefined;
}

/** How many faults an option has. */
export function faultCount({
  poolMismatches,
  podMismatches,
  missesVolumes,
  shortages,
  limitExcesses,
}: LaunchOption): number {
  return (
    poolMismatches.length + podMismatches.length + shortages.length + limitExcesses.length + (missesVolumes ? 1 : 0)
  );
}

/** Every available offering of every instance type of the pool, whether or not the pool allows it. */
export function launchOptionsFor(query: LaunchOptionQuery): readonly LaunchOption[] {
  const { pass, pool, pod, poolTemplate, volumeAlternatives } = query;
  const { labelPolicy } = pass.problem;
  const fromPool = writtenPoolRequirements(pool.nodePool, labelPolicy);
  const fromPod = writtenPodRequirements(pod, labelPolicy);
  const overheads = daemonsByType(poolTemplate);
  const remainingLimits = remainingLimitsOf(pass, poolTemplate);
  return pool.instanceTypes.flatMap((type) => {
    const shortages = shortagesOf(type, query.requests, overheads(type));
    const limitExcesses = limitExcessesOf(type, { pool, remainingLimits });
    return type.offerings
      .filter(({ available }) => available)
      .map((offering): LaunchOption => {
        const labelFor = (key: string): Requirement | undefined => labelRequirement(key, type, offering);
        return {
          type,
          price: offering.price,
          poolMismatches: mismatchesOf(fromPool, labelFor),
          podMismatches: mismatchesOf(fromPod, labelFor),
          missesVolumes:
            volumeAlternatives.length > 0 &&
            !volumeAlternatives.some((alternative) =>
              [...alternative].every((one) => isCompatibleLabel(one, labelFor(one.key))),
            ),
          shortages: offering.capacityOverride === undefined ? shortages : [],
          limitExcesses,
        };
      });
  });
}

/** Whether instance types or offerings have a requirement on the label. */
export function isInstanceTypeLabel(key: string, { instanceTypes }: Pool): boolean {
  return instanceTypes.some(
    ({ requirements, offerings }) => requirements.has(key) || offerings.some((one) => one.requirements.has(key)),
  );
}

/** The values the pool's instance types have for a label. */
export function instanceTypeValues({ instanceTypes }: Pool, key: string): readonly string[] {
  const values = instanceTypes.flatMap(({ requirements }) =>
    requirements.has(key) && !requirements.get(key).complement ? requirements.get(key).sortedValues() : [],
  );
  return [...new Set(values)].sort();
}

function labelRequirement(key: string, type: InstanceType, offering: Offering): Requirement | undefined {
  if (offering.requirements.has(key)) return offering.requirements.get(key);
  return type.requirements.has(key) ? type.requirements.get(key) : undefined;
}

function mismatchesOf(
  writtenRequirements: readonly WrittenRequirement[],
  labelFor: (key: string) => Requirement | undefined,
): readonly LabelMismatch[] {
  return writtenRequirements.flatMap((writtenRequirement) => {
    const has = labelFor(writtenRequirement.requirement.key);
    if (isCompatibleLabel(writtenRequirement.requirement, has)) return [];
    return [{ writtenRequirement, value: has?.complement === false ? has.sortedValues()[0] : undefined }];
  });
}

/** A label without a requirement may have any value. (02:R-25) */
function isCompatibleLabel(wanted: Requirement, has: Requirement | undefined): boolean {
  return has === undefined || wanted.hasIntersection(has) || (wanted.isNegative && has.isNegative);
}

/** Daemon overhead of a type; for a type the pool leaves out, the largest overhead. */
function daemonsByType(poolTemplate: PoolTemplate | undefined): (type: InstanceType) => Resources {
  if (poolTemplate === undefined) return () => noResources;
  const byType = new Map<InstanceType, Resources>();
  for (const { columns, overhead } of poolTemplate.daemonGroups) {
    for (const type of poolTemplate.typeTable.typesIn(columns)) byType.set(type, overhead);
  }
  const largest = maxResources(...poolTemplate.daemonGroups.map(({ overhead }) => overhead));
  return (type) => byType.get(type) ?? largest;
}

function shortagesOf(type: InstanceType, requests: Resources, daemons: Resources): readonly ResourceShortage[] {
  const offered = allocatableOf(type);
  return Object.keys(mergeResources(requests, daemons)).flatMap((resource) => {
    const [asked, taken] = [amountOf(requests, resource), amountOf(daemons, resource)];
    const left = amountOf(offered, resource).sub(taken);
    return asked.cmp(left) > 0 ? [{ resource, asked, left, daemons: taken }] : [];
  });
}

/** What a pool's limits still allow; only limited resources are named. */
export function remainingLimitsOf({ space }: Pass, poolTemplate: PoolTemplate | undefined): Resources {
  if (poolTemplate === undefined) return noResources;
  const row = space.zeroRow();
  for (const [name, left] of poolTemplate.remainingLimits)
    if (space.indexOf(name) >= 0) row[space.indexOf(name)] = left;
  const all = space.toResources(row, (name) => poolTemplate.remainingLimits.has(name));
  return Object.fromEntries(
    [...poolTemplate.remainingLimits.keys()].flatMap((name) => (all[name] ? [[name, all[name]]] : [])),
  );
}

/** Limits of the pool that a node of this type would exceed. (02:H-2) */
function limitExcessesOf(
  type: InstanceType,
  { pool, remainingLimits }: { pool: Pool; remainingLimits: Resources },
): readonly LimitExcess[] {
  const limits = pool.nodePool.spec.limits ?? {};
  return Object.entries(remainingLimits).flatMap(([resource, left]) => {
    const isNodes = resource === resources.nodes;
    const wanted = isNodes ? Quantity.of(1) : amountOf(type.capacity, resource);
    if (wanted.cmp(left) <= 0) return [];
    const limit = Quantity.tryParse(limits[resource] ?? "0") ?? Quantity.zero;
    return [{ resource, limit, needed: limit.sub(left).add(wanted) }];
  });
}
