import type { Subnet } from "@aws-sdk/client-ec2";
import type { CapacityType } from "../../../api/labels.ts";
import { resources } from "../../../api/labels.ts";
import { type InstanceType, offeringCapacityType, offeringZone } from "../../../core/instance-type.ts";
import { amountOf } from "../../../core/resources.ts";
import type { Clock } from "../../../util/clock.ts";
import { ExpiringMap } from "../../../util/expiring-map.ts";
import type { Ec2NodeClassStatus } from "./node-class-object.ts";

type StatusSubnet = NonNullable<Ec2NodeClassStatus["subnets"]>[number];

export interface SubnetAddressesOptions {
  readonly clock: Clock;
  /** How often subnets are read again. */
  readonly refreshMs: number;
}

/** What a launch will use. */
export interface SubnetChoiceRequest {
  readonly subnets: readonly StatusSubnet[];
  readonly instanceTypes: readonly InstanceType[];
  readonly capacityType: CapacityType;
}

/** The subnet of one zone, with the addresses promised to the launch. */
export interface ChosenSubnet {
  readonly id: string;
  readonly zone: string;
  readonly promised: number;
  /** Which reading of the subnet the promise was taken from. */
  readonly reading: number;
}

interface Reading {
  readonly free: number;
  readonly number: number;
}

const leastMemoryMs = 5 * 60_000;
const beyondRefreshMs = 4 * 60_000;

/**
 * The free addresses of subnets, less those promised to launches under way. Nothing here waits, so concurrent launches
 * cannot come between a choice and its promise. (04 §1.5)
 */
export class SubnetAddresses {
  readonly #readings: ExpiringMap<Reading>;
  readonly #memoryMs: number;
  /** Free addresses after the launches under way, by subnet. */
  readonly #predicted = new Map<string, number>();
  #readingNumber = 0;

  constructor({ clock, refreshMs }: SubnetAddressesOptions) {
    this.#readings = new ExpiringMap(clock);
    this.#memoryMs = Math.max(leastMemoryMs, refreshMs + beyondRefreshMs);
  }

  /** What EC2 says now already counts the launches that were under way. */
  update(subnets: readonly Subnet[]): void {
    for (const { SubnetId = "", AvailableIpAddressCount: free = 0 } of subnets) this.#set(SubnetId, free);
  }

  /** The subnet had no address left for a launch: it comes last until it is read again. */
  markExhausted(subnetId: string): void {
    this.#set(subnetId, 0);
  }

  /** In each zone the subnet with the most free addresses; a promise is deducted from it. */
  choose(request: SubnetChoiceRequest): readonly ChosenSubnet[] {
    const byZone = new Map<string, StatusSubnet>();
    for (const subnet of request.subnets) {
      const best = byZone.get(subnet.zone);
      if (best === undefined || this.#remaining(subnet.id) > this.#remaining(best.id)) byZone.set(subnet.zone, subnet);
    }
    return [...byZone.values()].map(({ id, zone }) => {
      const promised = leastPods(request, zone);
      this.#predicted.set(id, this.#remaining(id) - promised);
      return { id, zone, promised, reading: this.#readings.get(id)?.number ?? 0 };
    });
  }

  /** Gives back what a launch did not use; also after a launch that failed. Not if the subnet was read since. */
  release(chosen: readonly ChosenSubnet[], usedSubnetIds: readonly string[]): void {
    for (const { id, promised, reading } of chosen) {
      const predicted = this.#predicted.get(id);
      const isCurrent = (this.#readings.get(id)?.number ?? 0) === reading;
      if (usedSubnetIds.includes(id) || !isCurrent || predicted === undefined) continue;
      this.#predicted.set(id, predicted + promised);
    }
  }

  #set(subnetId: string, free: number): void {
    this.#readings.set(subnetId, { free, number: ++this.#readingNumber }, this.#memoryMs);
    this.#predicted.delete(subnetId);
  }

  #remaining(subnetId: string): number {
    return this.#predicted.get(subnetId) ?? this.#readings.get(subnetId)?.free ?? 0;
  }
}

/** The fewest pods a node launched there can have: at least as many addresses will be used. */
function leastPods({ instanceTypes, capacityType }: SubnetChoiceRequest, zone: string): number {
  const launchable = instanceTypes.filter(({ offerings }) =>
    offerings.some(
      (offering) =>
        offering.available && offeringCapacityType(offering) === capacityType && offeringZone(offering) === zone,
    ),
  );
  if (launchable.length === 0) return 0;
  return Math.min(...launchable.map(({ capacity }) => amountOf(capacity, resources.pods).toNumber()));
}
