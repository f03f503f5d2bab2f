import type { AllocatedDevices } from "./allocated-devices.ts";
import { addAmount, type Device } from "./device.ts";
import type { PublishedDevices } from "./published-devices.ts";

/** What a host uses if it becomes an instance type. */
export interface TypeUse {
  /** Devices it has to itself, by key. */
  readonly published: ReadonlySet<string>;
  readonly template: ReadonlySet<string>;
  /** Shared counters and capacities, by their keys. */
  readonly publishedAmounts: ReadonlyMap<string, bigint>;
  readonly templateAmounts: ReadonlyMap<string, bigint>;
}

interface DeviceHolder {
  readonly host: number;
  readonly types: Set<string>;
}

/**
 * Which devices are taken while pods are placed. A planned node is one of several instance types, and each of them may
 * use other devices: a published device is taken for all other nodes as soon as one type uses it, and of shared amounts
 * a node is charged with the most that any of its types uses. (02:D-8)
 */
export class DeviceLedger {
  readonly #allocated: AllocatedDevices;
  /** What the claims of the cluster take of shared counters and capacities. */
  readonly #initial: ReadonlyMap<string, bigint>;
  readonly #holders = new Map<string, DeviceHolder>();
  readonly #uses = new Map<number, Map<string, TypeUse>>();
  readonly #charged = new Map<string, bigint>();

  constructor(allocated: AllocatedDevices, { countersByDevice }: PublishedDevices) {
    this.#allocated = allocated;
    const initial = new Map(allocated.capacity);
    for (const key of [...allocated.exclusive, ...allocated.shared])
      for (const [counter, amount] of countersByDevice.get(key) ?? []) addAmount(initial, counter, amount);
    this.#initial = initial;
  }

  /** Whether a device that one claim has to itself is in use. A host may use it once for each of its types. */
  isTaken({ key, isTemplate }: Device, host: number, type: string): boolean {
    if (isTemplate) return this.#uses.get(host)?.get(type)?.template.has(key) ?? false;
    if (this.#allocated.exclusive.has(key)) return true;
    const holder = this.#holders.get(key);
    return holder !== undefined && (holder.host !== host || holder.types.has(type));
  }

  /** What is in use of a shared counter or capacity of published devices. */
  publishedAmount(key: string): bigint {
    return (this.#initial.get(key) ?? 0n) + (this.#charged.get(key) ?? 0n);
  }

  /** The same of the devices the host itself will publish. */
  templateAmount(key: string, host: number, type: string): bigint {
    return this.#uses.get(host)?.get(type)?.templateAmounts.get(key) ?? 0n;
  }

  add(host: number, uses: ReadonlyMap<string, TypeUse>): void {
    this.#change(host, (known) => {
      for (const [type, use] of uses) {
        known.set(type, sumOf(known.get(type), use));
        for (const key of use.published) this.#hold(key, host, type);
      }
    });
  }

  #hold(key: string, host: number, type: string): void {
    const holder = this.#holders.get(key) ?? { host, types: new Set() };
    holder.types.add(type);
    this.#holders.set(key, holder);
  }

  /** The host will not be one of these types. */
  release(host: number, types: Iterable<string>): void {
    this.#change(host, (known) => {
      for (const type of types) {
        for (const key of known.get(type)?.published ?? []) this.#letGo(key, type);
        known.delete(type);
      }
    });
  }

  #letGo(key: string, type: string): void {
    const holder = this.#holders.get(key);
    holder?.types.delete(type);
    if (holder?.types.size === 0) this.#holders.delete(key);
  }

  /** Charges what the change makes of the most any type uses. */
  #change(host: number, change: (uses: Map<string, TypeUse>) => void): void {
    const uses = this.#uses.get(host) ?? new Map<string, TypeUse>();
    for (const [key, amount] of mostOf(uses.values())) addAmount(this.#charged, key, -amount);
    change(uses);
    for (const [key, amount] of mostOf(uses.values())) addAmount(this.#charged, key, amount);
    this.#uses.set(host, uses);
  }
}

function sumOf(one: TypeUse | undefined, other: TypeUse): TypeUse {
  if (one === undefined) return other;
  return {
    published: new Set([...one.published, ...other.published]),
    template: new Set([...one.template, ...other.template]),
    publishedAmounts: sumOfAmounts(one.publishedAmounts, other.publishedAmounts),
    templateAmounts: sumOfAmounts(one.templateAmounts, other.templateAmounts),
  };
}

function sumOfAmounts(
  one: ReadonlyMap<string, bigint>,
  other: ReadonlyMap<string, bigint>,
): ReadonlyMap<string, bigint> {
  const sum = new Map(one);
  for (const [key, amount] of other) addAmount(sum, key, amount);
  return sum;
}

function mostOf(uses: Iterable<TypeUse>): ReadonlyMap<string, bigint> {
  const most = new Map<string, bigint>();
  for (const { publishedAmounts } of uses)
    for (const [key, amount] of publishedAmounts) if (amount > (most.get(key) ?? 0n)) most.set(key, amount);
  return most;
}
