import { isCompatible } from "../compatibility.ts";
import type { Requirements } from "../requirements.ts";
import { type ConsumedCapacity, consumedCapacity } from "./capacity-policy.ts";
import type { ClaimRequests, DeviceAsk } from "./claim-requests.ts";
import { addAmount, capacityKey, type Device, nanoOf } from "./device.ts";
import type { DeviceLedger, TypeUse } from "./device-ledger.ts";
import { maxDevicesPerClaim } from "./device-refusal.ts";
import type { DeviceSelectors } from "./device-selectors.ts";
import { MatchAttribute } from "./match-attribute.ts";
import type { TemplateDevices } from "./template-devices.ts";

/** What a search for devices of one host and instance type reads. */
export interface DeviceSearchInput {
  readonly host: number;
  readonly type: string;
  readonly claims: readonly ClaimRequests[];
  /** Published devices the host can use, in the order they are tried; before those of the type. */
  readonly published: readonly Device[];
  readonly templates: TemplateDevices;
  readonly counterTotals: ReadonlyMap<string, bigint>;
  readonly requirements: Requirements;
  readonly wellKnown: ReadonlySet<string>;
  readonly ledger: DeviceLedger;
  readonly selectors: DeviceSelectors;
  /** Called before every device that is tried: true ends the search. (02:D-9) */
  readonly isOver: () => boolean;
}

/** A device that was found for a claim. */
export interface FoundDevice {
  /** The claim's place in the input. */
  readonly claim: number;
  readonly device: Device;
  /** Undefined if the claim gets the whole device. */
  readonly consumed: ConsumedCapacity | undefined;
}

/** Where the search is: a slot of a request of a claim. */
interface Slot {
  readonly claim: number;
  readonly request: number;
  readonly ask: DeviceAsk;
  readonly devices: readonly Device[];
  readonly number: number;
  /** The first device to try. */
  readonly from: number;
}

const noCapacity: ConsumedCapacity = new Map();

/** A depth-first search over claims, their requests, alternatives of those, and devices. (02:D-6) */
export class DeviceSearch {
  readonly #input: DeviceSearchInput;
  readonly #constraints: readonly (readonly MatchAttribute[])[];
  readonly #found: FoundDevice[] = [];
  readonly #taken = new Set<Device>();
  readonly #publishedAmounts = new Map<string, bigint>();
  readonly #templateAmounts = new Map<string, bigint>();
  #requirements: Requirements;

  constructor(input: DeviceSearchInput) {
    this.#input = input;
    this.#requirements = input.requirements;
    const { bindings } = input.templates;
    this.#constraints = input.claims.map(({ constraints }) =>
      constraints.map((one) => new MatchAttribute(one, bindings)),
    );
  }

  /** The first devices that satisfy all claims. */
  run(): readonly FoundDevice[] | undefined {
    return this.#continue(0, 0) ? this.#found : undefined;
  }

  #continue(claim: number, request: number): boolean {
    const requests = this.#input.claims[claim]?.requests;
    if (requests === undefined) return true;
    const alternatives = requests[request]?.alternatives;
    if (alternatives === undefined) return this.#continue(claim + 1, 0);
    return alternatives.some((ask) => {
      const devices = this.#devicesFor(ask);
      if (ask.count === undefined && devices.length === 0) return false; // all of none is no device
      return this.#fill({ claim, request, ask, devices, number: 0, from: 0 });
    });
  }

  #devicesFor({ count, selectors }: DeviceAsk): readonly Device[] {
    const { published, templates, selectors: expressions } = this.#input;
    const devices = [...published, ...templates.devices];
    return count === undefined ? devices.filter((device) => expressions.matches(device, selectors) === true) : devices;
  }

  #fill(slot: Slot): boolean {
    const { claim, request, ask, devices, number, from } = slot;
    if (number === (ask.count ?? devices.length)) return this.#continue(claim, request + 1);
    if (ask.count === undefined) return this.#try(slot, number);
    for (let at = from; at < devices.length; at++) if (this.#try(slot, at)) return true;
    return false;
  }

  #try(slot: Slot, at: number): boolean {
    const device = slot.devices[at] as Device;
    if (this.#input.isOver()) return false;
    const consumed = this.#consumedIfFree(device, slot.ask);
    if (consumed === undefined || !this.#hasCountersLeft(device)) return false;
    if (this.#input.selectors.matches(device, slot.ask.selectors) !== true) return false;
    if (this.#found.filter(({ claim }) => claim === slot.claim).length >= maxDevicesPerClaim) return false;
    const before = this.#requirements;
    const { topology } = device;
    if (topology !== undefined) {
      if (!isCompatible(before, topology, { allowUndefined: this.#input.wellKnown })) return false;
      this.#requirements = before.add(...topology);
    }
    const isDone = this.#withConstraints(slot, device, () => this.#take(slot, at, consumed));
    if (!isDone) this.#requirements = before;
    return isDone;
  }

  /** Goes on with the device counted by every constraint that is about the request; undoes that if it leads nowhere. */
  #withConstraints(slot: Slot, device: Device, goOn: () => boolean): boolean {
    const added: MatchAttribute[] = [];
    let isMatching = true;
    for (const constraint of this.#constraints[slot.claim] ?? []) {
      if (!constraint.appliesTo(slot.ask)) continue;
      isMatching = constraint.add(device);
      if (!isMatching) break;
      added.push(constraint);
    }
    if (isMatching && goOn()) return true;
    for (const constraint of added) constraint.removeLast();
    return false;
  }

  #take(slot: Slot, at: number, consumed: ConsumedCapacity): boolean {
    const device = slot.devices[at] as Device;
    this.#found.push({ claim: slot.claim, device, consumed: device.allowsMultiple ? consumed : undefined });
    this.#taken.add(device);
    this.#use(device, consumed, 1n);
    if (this.#fill({ ...slot, number: slot.number + 1, from: nextToTry(device, at) })) return true;
    this.#use(device, consumed, -1n);
    this.#taken.delete(device);
    this.#found.pop();
    return false;
  }

  #use(device: Device, consumed: ConsumedCapacity, sign: 1n | -1n): void {
    const amounts = device.isTemplate ? this.#templateAmounts : this.#publishedAmounts;
    for (const [counter, amount] of device.counters) addAmount(amounts, counter, sign * amount);
    for (const [name, amount] of consumed) addAmount(amounts, capacityKey(device.key, name), sign * amount);
  }

  /** What the ask takes of the device's capacity; undefined: it is in use, or has not enough left. */
  #consumedIfFree(device: Device, { capacity }: DeviceAsk): ConsumedCapacity | undefined {
    const { ledger, host, type } = this.#input;
    if (!device.allowsMultiple)
      return this.#taken.has(device) || ledger.isTaken(device, host, type) ? undefined : noCapacity;
    const consumed = consumedCapacity(device.spec, capacity);
    for (const [name, amount] of consumed ?? []) {
      const total = nanoOf(device.spec.capacity?.[name]?.value ?? 0);
      if (this.#inUse(device, capacityKey(device.key, name)) + amount > total) return undefined;
    }
    return consumed;
  }

  #hasCountersLeft(device: Device): boolean {
    const totals = device.isTemplate ? this.#input.templates.counterTotals : this.#input.counterTotals;
    for (const [counter, amount] of device.counters) {
      const total = totals.get(counter);
      if (total === undefined || this.#inUse(device, counter) + amount > total) return false;
    }
    return true;
  }

  #inUse({ isTemplate }: Device, key: string): bigint {
    const { ledger, host, type } = this.#input;
    if (isTemplate) return ledger.templateAmount(key, host, type) + (this.#templateAmounts.get(key) ?? 0n);
    return ledger.publishedAmount(key) + (this.#publishedAmounts.get(key) ?? 0n);
  }
}

/**
 * Slots of one request are alike, so devices are tried in ascending order: another order of the same devices leads
 * nowhere else. Only labels that a device adds can make room for one before it.
 */
function nextToTry({ topology, allowsMultiple }: Device, at: number): number {
  if (topology !== undefined) return 0;
  return allowsMultiple ? at : at + 1;
}

/** What the devices that were found take. */
export function typeUseOf(found: readonly FoundDevice[]): TypeUse {
  const published = new Set<string>();
  const template = new Set<string>();
  const publishedAmounts = new Map<string, bigint>();
  const templateAmounts = new Map<string, bigint>();
  for (const { device, consumed } of found) {
    if (!device.allowsMultiple) (device.isTemplate ? template : published).add(device.key);
    const amounts = device.isTemplate ? templateAmounts : publishedAmounts;
    for (const [counter, amount] of device.counters) addAmount(amounts, counter, amount);
    for (const [name, amount] of consumed ?? []) addAmount(amounts, capacityKey(device.key, name), amount);
  }
  return { published, template, publishedAmounts, templateAmounts };
}
