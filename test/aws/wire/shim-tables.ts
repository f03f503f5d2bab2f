import type { AwsRequest } from "./aws-request.ts";
import type { XmlValue } from "./ec2-xml.ts";
import type { ShimAnswer } from "./shim.ts";

/** Something that goes wrong with the next calls of an action. */
export interface ShimFault {
  /** `ec2:CreateFleet`. */
  readonly action: string;
  /** How many calls; one, unless said. */
  readonly times?: number | undefined;
  /** The error that is answered. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly status?: number | undefined;
  /** Waits first. */
  readonly delayMs?: number | undefined;
  /** The call takes effect before the error is answered. */
  readonly isApplied?: boolean | undefined;
  /** The call takes effect and the connection is cut. */
  readonly isAnswerLost?: boolean | undefined;
}

/** A pool of capacity: `spot`, `on-demand` or `*`, a type or `*`, a zone or `*`. */
export interface CapacityPool {
  readonly capacityType: string;
  readonly type: string;
  readonly zone: string;
}

export interface ShimImpairment {
  readonly instanceId: string;
  readonly kind: "instance" | "system" | "event";
  /** Since when the check fails, RFC 3339. */
  readonly since?: string | undefined;
  /** Of an event: `instance-retirement` and so on. */
  readonly eventCode?: string | undefined;
}

/** What the shim answers from: tests write into these. */
export class ShimTables {
  readonly parameters = new Map<string, string>();
  /** Dollars an hour by type. */
  readonly onDemandPrices = new Map<string, number>();
  /** Dollars an hour by `type zone`. */
  readonly spotPrices = new Map<string, number>();
  /** As EC2's answer names the fields. */
  readonly reservations: Readonly<Record<string, XmlValue>>[] = [];
  readonly placementGroups: Readonly<Record<string, XmlValue>>[] = [];
  readonly impairments: ShimImpairment[] = [];
  /** Pools without capacity, with the error EC2 gives. */
  readonly soldOut: (CapacityPool & { readonly code?: string | undefined })[] = [];
  /** Types moto does not have, each with one it has that is described like it. */
  readonly typesLike = new Map<string, string>();
  /** Types the account has no others than; all, if empty. The list of all is megabytes, which each start reads twice. */
  readonly onlyTypes: string[] = [];
  /** How many instances a page has at most. */
  instancePageSize: number | undefined;
  readonly remembered = new Map<string, Promise<ShimAnswer>>();
  #faults: ShimFault[] = [];

  fail(fault: ShimFault): void {
    this.#faults.push(fault);
  }

  clear(): void {
    for (const table of [this.parameters, this.onDemandPrices, this.spotPrices, this.typesLike]) table.clear();
    const lists = [this.reservations, this.placementGroups, this.impairments, this.soldOut, this.onlyTypes];
    for (const list of lists) list.length = 0;
    this.instancePageSize = undefined;
    this.#faults = [];
  }

  /** The fault that meets this call, which is used up by it. */
  takeFault({ service, action }: AwsRequest): ShimFault | undefined {
    const fault = this.#faults.find((one) => one.action === `${service}:${action}`);
    if (fault === undefined) return undefined;
    const left = (fault.times ?? 1) - 1;
    this.#faults = this.#faults.flatMap((one) => (one !== fault ? [one] : left > 0 ? [{ ...one, times: left }] : []));
    return fault;
  }

  soldOutCode({ capacityType, type, zone }: CapacityPool): string | undefined {
    const matches = (pattern: string, value: string): boolean => pattern === "*" || pattern === value;
    const pool = this.soldOut.find(
      (one) => matches(one.capacityType, capacityType) && matches(one.type, type) && matches(one.zone, zone),
    );
    return pool && (pool.code ?? "InsufficientInstanceCapacity");
  }
}
