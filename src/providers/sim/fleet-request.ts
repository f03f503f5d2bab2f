import type { SimulatedInstance } from "../../cloud/instance-source.ts";
import type { OfferingKey } from "../../cloud/offering-key.ts";
import type { Random } from "../../util/random.ts";

/** A new instance without its times. */
export interface InstanceTemplate
  extends Omit<SimulatedInstance, "launchedAt" | "bootMs" | "readyMs" | "state" | "kubelet" | "volumeLimits"> {
  readonly imageId?: string | undefined;
  /** Random by default. */
  readonly bootMs?: number | undefined;
}

/** One offering a request would accept. */
export interface FleetOverride {
  readonly key: OfferingKey;
  /** Dollars an hour. */
  readonly price: number;
  /** Capacity of its reservation, if it has one. */
  readonly reservationCapacity?: number | undefined;
  /** Creates the instance; ids come from `random`. */
  readonly newInstance: (random: Random) => InstanceTemplate;
}

/** What to launch, for which claim. */
export interface FleetRequest {
  /** The same token returns the same instance, so that a retry after a lost answer launches nothing. (03:S-12) */
  readonly clientToken: string;
  readonly claimName: string;
  /** In the order to try. */
  readonly overrides: readonly FleetOverride[];
}

/** An instance as the cloud records it. */
export interface InstanceRecord {
  readonly instance: SimulatedInstance;
  readonly key: OfferingKey;
  readonly clientToken: string;
  readonly claimName: string;
  /** Price at launch, in dollars an hour; unknown for restored instances. */
  readonly price?: number | undefined;
  readonly imageId?: string | undefined;
  readonly isTerminating: boolean;
}

/** The result of a launch, with the offerings that turned out to be unavailable. */
export type FleetResult =
  | { readonly kind: "launched"; readonly record: InstanceRecord; readonly unavailable: readonly OfferingKey[] }
  | { readonly kind: "unavailable"; readonly unavailable: readonly OfferingKey[] }
  /** The account has as many instances as its quota allows. No offering is to blame. */
  | { readonly kind: "quota-exceeded"; readonly maxInstances: number; readonly unavailable: readonly OfferingKey[] };
