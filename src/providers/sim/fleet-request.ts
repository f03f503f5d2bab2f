import type { ResourceList } from "../../api/kubernetes/pod.ts";
import type { Taint } from "../../api/labels.ts";
import type { SimulatedInstance } from "../../cloud/instance-source.ts";
import type { OfferingKey } from "../../cloud/offering-key.ts";
import type { Random } from "../../util/random.ts";

/** What a store makes of an order: all of a machine but its times. */
export interface InstanceTemplate {
  readonly id: string;
  readonly providerId: string;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly taints: readonly Taint[];
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  readonly imageId?: string | undefined;
  /** Drawn by the cloud, unless given. */
  readonly bootMs?: number | undefined;
}

/** One thing an order would be content with. */
export interface FleetOverride {
  readonly key: OfferingKey;
  /** Dollars an hour. */
  readonly price: number;
  /** How many its reservation holds, if it is one. */
  readonly reservationCapacity?: number | undefined;
  /** The machine it would be; identities come from the dice. */
  readonly newInstance: (random: Random) => InstanceTemplate;
}

/** What to launch, and for whom. */
export interface FleetRequest {
  /** The same token, the same machine: an answer that was lost costs nothing. (03:S-12) */
  readonly clientToken: string;
  readonly claimName: string;
  /** In the order to try. */
  readonly overrides: readonly FleetOverride[];
}

/** A machine as the cloud knows it. */
export interface InstanceRecord {
  readonly instance: SimulatedInstance;
  readonly key: OfferingKey;
  readonly clientToken: string;
  readonly claimName: string;
  /** Dollars an hour when it was bought; unknown for one of an earlier life. */
  readonly price?: number | undefined;
  readonly imageId?: string | undefined;
  readonly isTerminating: boolean;
}

/** What an order came to. */
export type FleetResult =
  | { readonly kind: "launched"; readonly record: InstanceRecord; readonly soldOut: readonly OfferingKey[] }
  | { readonly kind: "sold-out"; readonly soldOut: readonly OfferingKey[] };
