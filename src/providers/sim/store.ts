import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Demand, Offer } from "../../cloud/choose-offering.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { Random } from "../../util/random.ts";
import type { Blueprint } from "./machine.ts";

/** Who buys. */
export interface Buyer {
  readonly claim: NodeClaim;
  readonly nodeClass: KubeObject;
  readonly demand: Demand;
}

/** One of the cloud's storefronts: what a kind of node class buys there. */
export interface Store {
  readonly nodeClass: ResourceType;
  /** All it sells to a class. */
  types(nodeClass: KubeObject): readonly InstanceType[];
  /** Throws what a launch from this class is refused with. */
  check(nodeClass: KubeObject): void;
  /** Which of the offers to ask for. */
  choose(buyer: Buyer, offers: readonly Offer[]): readonly Offer[];
  /** The machine that is made of an offer; its identity comes from the dice. */
  draw(buyer: Buyer, offer: Offer, random: Random): Blueprint;
  /** Why a machine is no longer what its class asks for. */
  driftOf(claim: NodeClaim, nodeClass: KubeObject): string | undefined;
}
