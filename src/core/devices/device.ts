import type { CounterSet, SliceDevice } from "../../api/devices/device-objects.ts";
import { Quantity } from "../../util/quantity.ts";
import type { Requirements } from "../requirements.ts";

/** A device that can be allocated: published in a ResourceSlice, or expected of an instance type. */
export interface Device {
  /** driver/pool/name. */
  readonly key: string;
  readonly driver: string;
  /** Expected of the node itself, and not published yet. */
  readonly isTemplate: boolean;
  readonly spec: SliceDevice;
  readonly allowsMultiple: boolean;
  /** What it takes of the shared counters of its pool, by counter key. */
  readonly counters: ReadonlyMap<string, bigint>;
  /** Labels of the nodes that can use it; undefined: no restriction beyond that of its slice. */
  readonly topology: Requirements | undefined;
}

interface DeviceOrigin {
  readonly driver: string;
  readonly pool: string;
  readonly isTemplate: boolean;
  readonly topology?: Requirements | undefined;
}

export function deviceOf(spec: SliceDevice, { driver, pool, isTemplate, topology }: DeviceOrigin): Device {
  return {
    key: deviceKey({ driver, pool, device: spec.name }),
    driver,
    isTemplate,
    spec,
    allowsMultiple: spec.allowMultipleAllocations ?? false,
    counters: countersUsedBy(spec, devicePoolKey({ driver, pool })),
    topology,
  };
}

export function deviceKey({ driver, pool, device }: { driver: string; pool: string; device: string }): string {
  return `${driver}/${pool}/${device}`;
}

export function devicePoolKey({ driver, pool }: { driver: string; pool: string }): string {
  return `${driver}/${pool}`;
}

/** The key of one capacity of a device. No name has a line break. */
export function capacityKey(device: string, capacity: string): string {
  return `${device}\n${capacity}`;
}

/** Amounts of the shared counters of a pool, by counter key. */
export function counterTotals(sets: readonly CounterSet[], pool: string): ReadonlyMap<string, bigint> {
  return new Map(
    sets.flatMap(({ name: set, counters = {} }) =>
      Object.entries(counters).map(([name, { value }]) => [counterKey(pool, set, name), nanoOf(value)] as const),
    ),
  );
}

function countersUsedBy({ consumesCounters = [] }: SliceDevice, pool: string): ReadonlyMap<string, bigint> {
  const used = new Map<string, bigint>();
  for (const { counterSet, counters = {} } of consumesCounters)
    for (const [name, { value }] of Object.entries(counters))
      addAmount(used, counterKey(pool, counterSet, name), nanoOf(value));
  return used;
}

function counterKey(pool: string, set: string, name: string): string {
  return `${pool}\n${set}\n${name}`;
}

/** An amount in billionths; what is no quantity counts as nothing. */
export function nanoOf(value: string | number): bigint {
  return Quantity.tryParse(value)?.nano ?? 0n;
}

export function addAmount(amounts: Map<string, bigint>, key: string, amount: bigint): void {
  amounts.set(key, (amounts.get(key) ?? 0n) + amount);
}
