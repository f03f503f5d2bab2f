import type { DeviceClass, ResourceClaim, ResourceSlice } from "../../api/devices/device-objects.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { namespacedName } from "../../api/object.ts";
import { isCompatible } from "../compatibility.ts";
import { Requirements } from "../requirements.ts";
import { allocatedDevices, isReservedByMovingPods } from "./allocated-devices.ts";
import { type ClaimRequests, claimRequestsOf } from "./claim-requests.ts";
import type { Device } from "./device.ts";
import { DeviceLedger } from "./device-ledger.ts";
import { type DeviceRefusal, maxDevicesPerClaim } from "./device-refusal.ts";
import { DeviceSearch, type FoundDevice, typeUseOf } from "./device-search.ts";
import { DeviceSelectors } from "./device-selectors.ts";
import { type DevicePool, type DeviceUser, PublishedDevices } from "./published-devices.ts";
import type { TemplateDevices } from "./template-devices.ts";

/** The objects that say which devices there are and who has them. */
export interface DeviceObjects {
  /** Without those of nodes that are not there, or not initialized. (02:D-3) */
  readonly slices: readonly ResourceSlice[];
  /** All of the cluster, by namespace/name. */
  readonly claims: ReadonlyMap<string, ResourceClaim>;
  readonly classes: ReadonlyMap<string, DeviceClass>;
  /** uids of pods that leave their nodes: what they have is free. (02:D-11) */
  readonly movingPods: ReadonlySet<string>;
}

/** A node that devices are wanted on. */
export interface DeviceHost extends DeviceUser {
  readonly id: number;
  /** The instance types it may become, in the order they are tried; the only one of a node that runs. */
  readonly types: readonly DeviceHostType[];
}

export interface DeviceHostType {
  readonly name: string;
  readonly templates: TemplateDevices;
}

/** Devices for the claims of a pod. */
export interface DeviceAllocation {
  /** Names of the types that have devices for all claims. */
  readonly types: ReadonlySet<string>;
  /** Where the node has to be, so that it can use them. */
  readonly requirements: Requirements;
  /** What was found for each type; empty if all claims had their devices before. */
  readonly found: ReadonlyMap<string, readonly FoundDevice[]>;
  /** Keys of the claims that the devices were found for. */
  readonly claims: readonly string[];
}

/** What a claim got in this pass. */
export interface ClaimAllocation {
  readonly host: number;
  readonly usesTemplates: boolean;
  /** By instance type of the host. */
  readonly devices: Map<string, readonly FoundDevice[]>;
}

/** Called when the search for a pod's devices on one node begins; what it returns says when the time is over. (02:D-9) */
export type OpenSearchBudget = () => () => boolean;

/** How many devices one search may try, so that a decision does not depend on the speed of a machine. (02:D-9) */
const maxTries = 1_000_000;
const triesPerLook = 256;

/** Finds devices for the claims of pods, and keeps what they get. (02 §5.14) */
export class DeviceAllocator {
  readonly #objects: DeviceObjects;
  readonly #policy: LabelPolicy;
  readonly #published: PublishedDevices;
  readonly #ledger: DeviceLedger;
  readonly #selectors = new DeviceSelectors();
  readonly #requests = new Map<string, ClaimRequests | DeviceRefusal>();
  readonly #allocations = new Map<string, ClaimAllocation>();
  readonly #openBudget: OpenSearchBudget;

  constructor(objects: DeviceObjects, policy: LabelPolicy, openBudget: OpenSearchBudget = () => () => false) {
    this.#objects = objects;
    this.#policy = policy;
    this.#published = new PublishedDevices(objects.slices, policy);
    this.#ledger = new DeviceLedger(allocatedDevices(objects.claims.values(), objects.movingPods), this.#published);
    this.#openBudget = openBudget;
  }

  /** What the claims got, by namespace/name. */
  get allocations(): ReadonlyMap<string, ClaimAllocation> {
    return this.#allocations;
  }

  allocate(host: DeviceHost, claims: readonly ResourceClaim[]): DeviceAllocation | DeviceRefusal {
    const waiting: ClaimRequests[] = [];
    let { requirements } = host;
    let added = Requirements.none;
    for (const claim of claims) {
      const known = this.#knownPlace(claim, host.id);
      if ("reason" in known) return known;
      if ("requests" in known) waiting.push(known);
      else {
        if (!this.#isCompatible(requirements, known.requirements))
          return { reason: "allocated-elsewhere", claim: namespacedName(claim.metadata), by: known.by };
        requirements = requirements.add(...known.requirements);
        added = added.add(...known.requirements);
      }
    }
    if (waiting.length > 0) return this.#search({ ...host, requirements }, waiting, added);
    return { types: new Set(host.types.map(({ name }) => name)), requirements: added, found: new Map(), claims: [] };
  }

  /** The host uses the devices; types it will not become give back theirs. */
  commit(host: number, { found, claims }: DeviceAllocation, types: ReadonlySet<string>): void {
    if (claims.length === 0) return;
    this.#ledger.add(host, new Map([...found].map(([type, devices]) => [type, typeUseOf(devices)])));
    for (const [index, key] of claims.entries()) {
      const devices = new Map([...found].map(([type, all]) => [type, all.filter(({ claim }) => claim === index)]));
      const usesTemplates = [...devices.values()].flat().some(({ device }) => device.isTemplate);
      this.#allocations.set(key, { host, usesTemplates, devices });
    }
    const dropped = [...found.keys()].filter((type) => !types.has(type));
    this.#ledger.release(host, dropped);
    for (const { host: other, devices } of this.#allocations.values())
      if (other === host) for (const type of dropped) devices.delete(type);
  }

  /** Drivers of the devices that claims of this host got, sorted. (02:D-10) */
  driversOf(host: number): readonly string[] {
    const drivers = new Set<string>();
    for (const allocation of this.#allocations.values())
      if (allocation.host === host)
        for (const { device } of [...allocation.devices.values()].flat()) drivers.add(device.driver);
    return [...drivers].sort();
  }

  /** Where a claim has its devices; or what it asks for, if it has none. (02:D-5) */
  #knownPlace(
    claim: ResourceClaim,
    host: number,
  ): { readonly requirements: Requirements; readonly by: "cluster" | "this-pass" } | ClaimRequests | DeviceRefusal {
    const key = namespacedName(claim.metadata);
    const allocation = this.#allocations.get(key);
    if (allocation !== undefined) {
      const { usesTemplates, devices } = allocation;
      if (usesTemplates && allocation.host !== host) return { reason: "tied-to-other-node", claim: key };
      const requirements = usesTemplates ? Requirements.none : topologyOf([...devices.values()].flat());
      return { requirements, by: "this-pass" };
    }
    const { status } = claim;
    if (status?.allocation !== undefined && !isReservedByMovingPods(claim, this.#objects.movingPods)) {
      const terms = status.allocation.nodeSelector?.nodeSelectorTerms ?? [];
      const items = terms.flatMap(({ matchExpressions = [] }) => matchExpressions);
      return { requirements: Requirements.fromItems(items, this.#policy), by: "cluster" };
    }
    return this.#requestsOf(claim, key);
  }

  #requestsOf(claim: ResourceClaim, key: string): ClaimRequests | DeviceRefusal {
    const { classes } = this.#objects;
    const requests = this.#requests.get(key) ?? claimRequestsOf(claim, { classes, selectors: this.#selectors });
    this.#requests.set(key, requests);
    return requests;
  }

  /** Tries each type. What the devices of one require of the node is required for those after it, too. (02:D-6) */
  #search(host: DeviceHost, claims: readonly ClaimRequests[], known: Requirements): DeviceAllocation | DeviceRefusal {
    const pools = this.#published.poolsFor(host);
    const published = pools.filter(({ isIncomplete }) => !isIncomplete).flatMap(({ devices }) => devices);
    const problem = this.#problemOf(claims, pools, published);
    if (problem !== undefined) return problem;
    const found = new Map<string, readonly FoundDevice[]>();
    const isOver = this.#searchLimit();
    let added = known;
    for (const { name: type, templates } of host.types) {
      const devices = new DeviceSearch({
        host: host.id,
        type,
        claims,
        published,
        templates,
        counterTotals: this.#published.counterTotals,
        requirements: host.requirements.add(...added),
        wellKnown: this.#policy.wellKnown,
        ledger: this.#ledger,
        selectors: this.#selectors,
        isOver,
      }).run();
      if (isOver()) return { reason: "search-limit" };
      if (devices === undefined) continue;
      found.set(type, devices);
      added = added.add(...topologyOf(devices));
    }
    if (found.size === 0) return { reason: "no-devices" };
    return { types: new Set(found.keys()), requirements: added, found, claims: claims.map(({ key }) => key) };
  }

  /** Counts devices that are tried. Once it is over, it stays so. */
  #searchLimit(): () => boolean {
    const isTimeOver = this.#openBudget();
    let tries = 0;
    let isOver = false;
    return () => {
      tries++;
      isOver ||= tries > maxTries || (tries % triesPerLook === 0 && isTimeOver());
      return isOver;
    };
  }

  /** What is wrong with claims on every type: too many devices, or all of some that nobody knows. (02:D-7) */
  #problemOf(
    claims: readonly ClaimRequests[],
    pools: readonly DevicePool[],
    published: readonly Device[],
  ): DeviceRefusal | undefined {
    for (const { name: claim, requests } of claims) {
      let wanted = 0;
      for (const { alternatives } of requests) {
        let least = Number.POSITIVE_INFINITY;
        for (const { alternative, count, selectors } of alternatives) {
          const all =
            count === undefined
              ? this.#allMatching({ claim, request: alternative }, selectors, pools, published)
              : count;
          if (typeof all !== "number") return all;
          least = Math.min(least, all);
        }
        wanted += least;
      }
      if (wanted > maxDevicesPerClaim) return { reason: "too-many-devices", claim, wanted };
    }
    return undefined;
  }

  #allMatching(
    request: { readonly claim: string; readonly request: string },
    selectors: readonly string[],
    pools: readonly DevicePool[],
    published: readonly Device[],
  ): number | DeviceRefusal {
    for (const { key: pool, isInvalid, isIncomplete } of pools) {
      if (isInvalid) return { reason: "invalid-pool", request, pool };
      if (isIncomplete) return { reason: "incomplete-pool", request, pool };
    }
    let matching = 0;
    for (const device of published) {
      const match = this.#selectors.matches(device, selectors);
      if (typeof match === "object") return { reason: "selector", request, ...match };
      if (match) matching++;
    }
    return matching;
  }

  #isCompatible(requirements: Requirements, wanted: Requirements): boolean {
    return isCompatible(requirements, wanted, { allowUndefined: this.#policy.wellKnown });
  }
}

/** Labels a node must have to use all of the devices. */
function topologyOf(found: readonly FoundDevice[]): Requirements {
  return Requirements.none.add(...found.flatMap(({ device }) => [...(device.topology ?? [])]));
}
