import type { ResourceSlice } from "../../api/devices/device-objects.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { groupBy } from "../../util/group-by.ts";
import { isCompatible } from "../compatibility.ts";
import { Requirements } from "../requirements.ts";
import { counterTotals, type Device, deviceOf, devicePoolKey } from "./device.ts";

/** The devices of one pool that a node can use. */
export interface DevicePool {
  readonly key: string;
  /** None if the pool is invalid. */
  readonly devices: readonly Device[];
  /** Slices of its newest generation are missing. */
  readonly isIncomplete: boolean;
  readonly isInvalid: boolean;
}

/** The node whose devices are asked for. */
export interface DeviceUser {
  /** With the hostname. */
  readonly requirements: Requirements;
  /** Undefined for a node that has no Node object yet. */
  readonly nodeName: string | undefined;
}

/** A slice with devices; those of shared counters have none. */
interface PreparedSlice {
  readonly slice: ResourceSlice;
  readonly terms: readonly Requirements[];
  readonly devices: readonly Device[];
}

/** The newest generation of a pool. */
interface PreparedPool {
  readonly key: string;
  readonly isIncomplete: boolean;
  readonly slices: readonly PreparedSlice[];
  readonly counterTotals: ReadonlyMap<string, bigint>;
  /** A counter set is declared twice, or a device uses a counter that is not declared. */
  readonly hasInvalidCounters: boolean;
}

/** The devices of ResourceSlices, by pool. (02:D-4) */
export class PublishedDevices {
  /** Pools that only one node uses, by its name. */
  readonly #byNodeName: ReadonlyMap<string, readonly PreparedPool[]>;
  readonly #shared: readonly PreparedPool[];
  readonly #policy: LabelPolicy;
  readonly counterTotals: ReadonlyMap<string, bigint>;
  /** What allocated devices take of shared counters is found by their keys. */
  readonly countersByDevice: ReadonlyMap<string, ReadonlyMap<string, bigint>>;

  constructor(slices: readonly ResourceSlice[], policy: LabelPolicy) {
    this.#policy = policy;
    const pools = newestGenerations(slices).map((newest) => preparedPool(newest, policy));
    this.#byNodeName = groupBy(
      pools.filter((pool) => soleNodeName(pool) !== undefined),
      (pool) => soleNodeName(pool) ?? "",
    );
    this.#shared = pools.filter((pool) => soleNodeName(pool) === undefined);
    this.counterTotals = new Map(pools.flatMap((pool) => [...pool.counterTotals]));
    this.countersByDevice = new Map(
      pools
        .flatMap(({ slices: prepared }) => prepared.flatMap(({ devices }) => devices))
        .filter(({ counters }) => counters.size > 0)
        .map(({ key, counters }) => [key, counters]),
    );
  }

  /** By driver and name. Pools without anything for this node are left out, unless they are invalid. */
  poolsFor(user: DeviceUser): readonly DevicePool[] {
    const own = user.nodeName === undefined ? [] : (this.#byNodeName.get(user.nodeName) ?? []);
    const pools = own.length === 0 ? this.#shared : [...own, ...this.#shared].sort(byKey);
    return pools.map((pool) => this.#poolFor(pool, user)).filter((pool) => pool !== undefined);
  }

  #poolFor(pool: PreparedPool, user: DeviceUser): DevicePool | undefined {
    const { key, isIncomplete } = pool;
    if (pool.hasInvalidCounters) return { key, isIncomplete, isInvalid: true, devices: [] };
    const visible = pool.slices.filter((slice) => this.#isVisible(slice, user));
    if (visible.length === 0 && !usesCounters(pool)) return undefined;
    const devices = visible.flatMap((slice) => slice.devices);
    const isInvalid = new Set(devices.map((device) => device.key)).size < devices.length;
    return { key, isIncomplete, isInvalid, devices: isInvalid ? [] : devices };
  }

  #isVisible({ slice: { spec }, terms }: PreparedSlice, { requirements, nodeName }: DeviceUser): boolean {
    if (spec.allNodes === true) return true;
    if (spec.nodeName) return spec.nodeName === nodeName;
    return terms.some((term) => isCompatible(requirements, term, { allowUndefined: this.#policy.wellKnown }));
  }
}

/** Slices of each pool that are of its newest generation, by pool; the order of slices is that of their names. */
function newestGenerations(slices: readonly ResourceSlice[]): readonly (readonly ResourceSlice[])[] {
  const byPool = groupBy(slices, ({ spec: { driver, pool } }) => devicePoolKey({ driver, pool: pool.name }));
  return [...byPool.keys()].sort().map((key) => {
    const all = byPool.get(key) ?? [];
    const newest = all.reduce((highest, { spec }) => Math.max(highest, spec.pool.generation), 0);
    return all
      .filter(({ spec }) => spec.pool.generation === newest)
      .toSorted((a, b) => order(a.metadata.name ?? "", b.metadata.name ?? ""));
  });
}

function preparedPool(slices: readonly ResourceSlice[], policy: LabelPolicy): PreparedPool {
  const [first] = slices;
  if (first === undefined) throw new Error("a pool of devices has at least one slice");
  const { driver, pool } = first.spec;
  const key = devicePoolKey({ driver, pool: pool.name });
  const sets = slices.flatMap(({ spec }) => spec.sharedCounters ?? []);
  const totals = counterTotals(sets, key);
  const prepared = slices
    .filter(({ spec }) => (spec.sharedCounters ?? []).length === 0)
    .map((slice) => preparedSlice(slice, policy));
  const isDeclared = ({ counters }: Device): boolean => [...counters.keys()].every((counter) => totals.has(counter));
  return {
    key,
    isIncomplete: slices.length !== pool.resourceSliceCount,
    slices: prepared,
    counterTotals: totals,
    hasInvalidCounters:
      new Set(sets.map(({ name }) => name)).size < sets.length ||
      !prepared.every(({ slice, devices }) => devices.every(isDeclared) && declaresSets(slice, sets)),
  };
}

/** A device may name a counter set without any of its counters. */
function declaresSets({ spec }: ResourceSlice, sets: readonly { readonly name: string }[]): boolean {
  const declared = new Set(sets.map(({ name }) => name));
  return (spec.devices ?? []).every(({ consumesCounters = [] }) =>
    consumesCounters.every(({ counterSet }) => declared.has(counterSet)),
  );
}

function preparedSlice(slice: ResourceSlice, policy: LabelPolicy): PreparedSlice {
  const { driver, pool, allNodes, nodeSelector, devices = [] } = slice.spec;
  const terms = (nodeSelector?.nodeSelectorTerms ?? []).map(({ matchExpressions = [] }) =>
    Requirements.fromItems(matchExpressions, policy),
  );
  const topology =
    allNodes === true || terms.length === 0 ? undefined : Requirements.of(...terms.flatMap((term) => [...term]));
  const origin = { driver, pool: pool.name, isTemplate: false, topology };
  return { slice, terms, devices: devices.map((device) => deviceOf(device, origin)) };
}

/** The only node that sees anything of a pool. Shared counters concern every node. */
function soleNodeName(pool: PreparedPool): string | undefined {
  if (pool.hasInvalidCounters || usesCounters(pool)) return undefined;
  const names = new Set(
    pool.slices.map(({ slice }) => (slice.spec.allNodes === true ? "" : (slice.spec.nodeName ?? ""))),
  );
  const [name] = names;
  return names.size === 1 && name !== "" ? name : undefined;
}

function usesCounters({ slices }: PreparedPool): boolean {
  return slices.some(({ devices }) => devices.some(({ counters }) => counters.size > 0));
}

function byKey(a: PreparedPool, b: PreparedPool): number {
  return order(a.key, b.key);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
