import type {
  DeviceRequest,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceSlice,
  SliceDevice,
} from "../../src/api/devices/device-objects.ts";
import { isCompatible } from "../../src/core/compatibility.ts";
import type { DeviceHost } from "../../src/core/devices/device-allocator.ts";
import { Requirements } from "../../src/core/requirements.ts";
import { kwokPolicy, zoneLabel } from "./allocator-world.ts";

interface SlowDevice {
  readonly id: string;
  readonly pool: string;
  readonly own: boolean;
  readonly spec: SliceDevice;
  readonly zone: string | undefined;
}

interface Use {
  readonly device: SlowDevice;
  readonly memory: number;
}

interface SlowResult {
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly uses: ReadonlyMap<string, readonly Use[]>;
}

/** What one pod uses on a host, for each type that is left. */
interface Commitment {
  readonly host: number;
  readonly uses: ReadonlyMap<string, readonly Use[]>;
}

/**
 * Lists every assignment of devices to slots, in order, and checks each as a whole. It knows only what the random cases
 * use: one driver, zones, one counter and one capacity, selectors and constraints on `numa`.
 */
export class SlowAllocator {
  readonly #published: readonly SlowDevice[];
  readonly #counters = new Map<string, number>();
  readonly #commitments: Commitment[] = [];

  constructor(slices: readonly ResourceSlice[]) {
    for (const { spec } of slices)
      for (const { counters = {} } of spec.sharedCounters ?? [])
        this.#counters.set(spec.pool.name, Number(counters["slots"]?.value));
    this.#published = slices.flatMap(({ spec }) =>
      (spec.devices ?? []).map((device) => ({
        id: `${spec.pool.name}/${device.name}`,
        pool: spec.pool.name,
        own: false,
        spec: device,
        zone: spec.nodeSelector?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values?.[0],
      })),
    );
  }

  allocate({ id, types, requirements }: DeviceHost, claims: readonly ResourceClaim[]): SlowResult | undefined {
    const names = new Map<string, readonly string[]>();
    const uses = new Map<string, readonly Use[]>();
    let zone: string | undefined;
    for (const { name, templates } of types) {
      const own = templates.devices.map(({ key, spec }) => ({
        id: key.slice(key.indexOf("/") + 1),
        pool: "own",
        own: true,
        spec,
        zone: undefined,
      }));
      const ownSlots = Number(([...templates.counterTotals.values()][0] ?? 0n) / 1_000_000_000n);
      const usable = this.#published.filter((device) => isInZone(requirements, device.zone));
      const found = firstOf(
        assignments(claims, [...usable, ...own]),
        (all) =>
          this.#isPossible(
            all.flatMap((part) => part.uses),
            { host: id, type: name, ownSlots, zone },
          ) && all.every(isMatching),
      );
      if (found === undefined) continue;
      const all = found.flatMap((part) => part.uses);
      zone ??= all.find(({ device }) => device.zone !== undefined)?.device.zone;
      names.set(
        name,
        all.map(({ device }) => device.id),
      );
      uses.set(name, all);
    }
    return names.size === 0 ? undefined : { names, uses };
  }

  commit(host: number, { uses }: SlowResult, kept: ReadonlySet<string>): void {
    const dropped = new Set([...uses.keys()].filter((type) => !kept.has(type)));
    for (const [at, one] of this.#commitments.entries())
      if (one.host === host)
        this.#commitments[at] = { host, uses: new Map([...one.uses].filter(([type]) => !dropped.has(type))) };
    this.#commitments.push({ host, uses: new Map([...uses].filter(([type]) => kept.has(type))) });
  }

  #isPossible(
    uses: readonly Use[],
    { host, type, ownSlots, zone }: { host: number; type: string; ownSlots: number; zone: string | undefined },
  ): boolean {
    const zones = new Set([zone, ...uses.map(({ device }) => device.zone)].filter((one) => one !== undefined));
    if (zones.size > 1) return false;
    for (const { device } of uses) {
      if (device.spec.allowMultipleAllocations === true) {
        const total = Number(device.spec.capacity?.["memory"]?.value);
        const amount = (use: Use) => (use.device.id === device.id ? use.memory : 0);
        if (this.#used(amount, device.own, host, type) + sum(uses, amount) > total) return false;
      } else {
        if (uses.filter((use) => use.device.id === device.id).length > 1) return false;
        if (this.#isHeld(device, host, type)) return false;
      }
      if (slotsOf(device) === 0) continue;
      const total = device.own ? ownSlots : (this.#counters.get(device.pool) ?? 0);
      const slots = (use: Use) => (use.device.pool === device.pool ? slotsOf(use.device) : 0);
      if (this.#used(slots, device.own, host, type) + sum(uses, slots) > total) return false;
    }
    return true;
  }

  #isHeld({ id, own }: SlowDevice, host: number, type: string): boolean {
    return this.#commitments.some((one) =>
      [...one.uses].some(
        ([other, uses]) =>
          uses.some(({ device }) => device.id === id) &&
          (own ? one.host === host && other === type : one.host !== host || other === type),
      ),
    );
  }

  /** The most any type of each host uses; of a host's own devices, what this type uses. */
  #used(amount: (use: Use) => number, own: boolean, host: number, type: string): number {
    const ofType = (which: number, name: string) =>
      sum(
        this.#commitments.filter((one) => one.host === which).flatMap((one) => one.uses.get(name) ?? []),
        amount,
      );
    if (own) return ofType(host, type);
    const hosts = new Set(this.#commitments.map((one) => one.host));
    return sum([...hosts], (which) => {
      const names = new Set(
        this.#commitments.filter((one) => one.host === which).flatMap((one) => [...one.uses.keys()]),
      );
      return Math.max(0, ...[...names].map((name) => ofType(which, name)));
    });
  }
}

/** What one claim would get. */
interface Part {
  readonly claim: ResourceClaim;
  readonly uses: readonly Use[];
}

/** All ways to give the claims devices, in the order of the search. */
function* assignments(claims: readonly ResourceClaim[], devices: readonly SlowDevice[]): Generator<readonly Part[]> {
  const [claim, ...rest] = claims;
  if (claim === undefined) return yield [];
  for (const uses of ofRequests(claim.spec.devices?.requests ?? [], devices))
    for (const others of assignments(rest, devices)) yield [{ claim, uses }, ...others];
}

function* ofRequests(requests: readonly DeviceRequest[], devices: readonly SlowDevice[]): Generator<readonly Use[]> {
  const [request, ...rest] = requests;
  if (request === undefined) return yield [];
  for (const asked of request.exactly === undefined ? (request.firstAvailable ?? []) : [request.exactly])
    for (const uses of ofAsked(asked, devices))
      for (const others of ofRequests(rest, devices)) yield [...uses, ...others];
}

function* ofAsked(asked: ExactDeviceRequest, devices: readonly SlowDevice[]): Generator<readonly Use[]> {
  const matching = devices.filter((device) => isSelected(asked, device));
  if (asked.allocationMode === "All") {
    const uses = matching.map((device) => useOf(asked, device));
    if (uses.length > 0 && uses.every((use) => use !== undefined)) yield uses;
    return;
  }
  const usable = matching.map((device) => useOf(asked, device)).filter((use) => use !== undefined);
  yield* tuples(usable, asked.count ?? 1);
}

function* tuples(uses: readonly Use[], length: number): Generator<readonly Use[]> {
  if (length === 0) return yield [];
  for (const use of uses) for (const rest of tuples(uses, length - 1)) yield [use, ...rest];
}

function isSelected({ selectors = [] }: ExactDeviceRequest, { spec }: SlowDevice): boolean {
  const wanted = /== "(.)"/.exec(selectors[0]?.cel?.expression ?? "")?.[1];
  return wanted === undefined || numaOf(spec) === wanted;
}

function useOf({ capacity }: ExactDeviceRequest, device: SlowDevice): Use | undefined {
  if (device.spec.allowMultipleAllocations !== true) return { device, memory: 0 };
  const asked = capacity?.requests?.["memory"];
  return { device, memory: Number(asked ?? device.spec.capacity?.["memory"]?.value) };
}

/** All devices of the claim have one known value. */
function isMatching({ claim, uses }: Part): boolean {
  if ((claim.spec.devices?.constraints ?? []).length === 0) return true;
  const values = new Set(uses.map(({ device }) => numaOf(device.spec)));
  return values.size === 0 || (values.size === 1 && !values.has(undefined));
}

const numaOf = ({ attributes = {} }: SliceDevice): string | undefined => attributes["numa"]?.string;
const slotsOf = ({ spec }: SlowDevice): number => Number(spec.consumesCounters?.[0]?.counters?.["slots"]?.value ?? 0);

function isInZone(requirements: Requirements, zone: string | undefined): boolean {
  if (zone === undefined) return true;
  const wanted = Requirements.fromItems([{ key: zoneLabel, operator: "In", values: [zone] }], kwokPolicy);
  return isCompatible(requirements, wanted, { allowUndefined: kwokPolicy.wellKnown });
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}

function firstOf<T>(items: Iterable<T>, test: (item: T) => boolean): T | undefined {
  for (const item of items) if (test(item)) return item;
  return undefined;
}
