import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ClaimLaunchRequest, LaunchableOffering } from "../../cloud/launchable-offerings.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { Random } from "../../util/random.ts";
import type { InstanceTemplate } from "./fleet-request.ts";

/** Who buys. */
export interface LaunchContext {
  readonly claim: NodeClaim;
  readonly nodeClass: KubeObject;
  readonly launchRequest: ClaimLaunchRequest;
}

/** One of the cloud's storefronts: what a kind of node class buys there. */
export interface NodeClassBackend {
  readonly nodeClass: ResourceType;
  /** All it sells to a class. */
  instanceTypes(nodeClass: KubeObject): readonly InstanceType[];
  /** Throws what a launch from this class is refused with. */
  assertReady(nodeClass: KubeObject): void;
  /** Which of the offers to ask for. */
  chooseOffers(launchContext: LaunchContext, offers: readonly LaunchableOffering[]): readonly LaunchableOffering[];
  /** The machine that is made of an offer; its identity comes from the dice. */
  newInstance(launchContext: LaunchContext, offer: LaunchableOffering, random: Random): InstanceTemplate;
  /** Why a machine is no longer what its class asks for. */
  driftOf(claim: NodeClaim, nodeClass: KubeObject): string | undefined;
}
