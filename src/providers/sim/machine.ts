import type { ResourceList } from "../../api/kubernetes/pod.ts";
import type { Taint } from "../../api/labels.ts";
import type { SimulatedInstance } from "../../cloud/instance-source.ts";
import type { OfferingKey } from "../../cloud/offering-key.ts";
import type { Random } from "../../util/random.ts";

/** What a store makes of an order: all of a machine but its times. */
export interface Blueprint {
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
export interface Wish {
  readonly key: OfferingKey;
  /** Dollars an hour. */
  readonly price: number;
  /** How many its reservation holds, if it is one. */
  readonly reserved?: number | undefined;
  /** The machine it would be; identities come from the dice. */
  readonly draw: (random: Random) => Blueprint;
}

/** What to launch, and for whom. */
export interface Order {
  /** The same token, the same machine: an answer that was lost costs nothing. (03:S-12) */
  readonly token: string;
  readonly claimName: string;
  /** In the order to try. */
  readonly wishes: readonly Wish[];
}

/** A machine as the cloud knows it. */
export interface Machine {
  readonly instance: SimulatedInstance;
  readonly key: OfferingKey;
  readonly token: string;
  readonly claimName: string;
  /** Dollars an hour when it was bought; unknown for one of an earlier life. */
  readonly price?: number | undefined;
  readonly imageId?: string | undefined;
  readonly isTerminating: boolean;
}

/** What an order came to. */
export type Delivery =
  | { readonly kind: "launched"; readonly machine: Machine; readonly soldOut: readonly OfferingKey[] }
  | { readonly kind: "sold-out"; readonly soldOut: readonly OfferingKey[] };
