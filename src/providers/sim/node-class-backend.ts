import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ClaimLaunchRequest, LaunchableOffering } from "../../cloud/launchable-offerings.ts";
import type { NodeClassReader } from "../../cloud/node-class-reader.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { Random } from "../../util/random.ts";
import type { InstanceTemplate } from "./fleet-request.ts";

/** What a launch is for. */
export interface LaunchContext {
  readonly claim: NodeClaim;
  readonly launchRequest: ClaimLaunchRequest;
}

/** What the simulated cloud provides to one node class. */
export interface ServedNodeClass {
  instanceTypes(): readonly InstanceType[];
  /** Throws the error a launch from this class gets. */
  assertReady(): void;
  /** Which offerings to request. */
  chooseOffers(context: LaunchContext, offers: readonly LaunchableOffering[]): readonly LaunchableOffering[];
  /** The instance for an offering; its id comes from `random`. */
  newInstance(context: LaunchContext, offer: LaunchableOffering, random: Random): InstanceTemplate;
  /** Why an instance has drifted from its class. */
  driftOf(claim: NodeClaim): string | undefined;
}

/** Serves one kind of node class in the simulated cloud. */
export interface NodeClassBackend {
  readonly nodeClass: ResourceType;
  /** Undefined if the class is missing or being deleted. (04 §1.14) */
  find(nodeClasses: NodeClassReader, name: string): Promise<ServedNodeClass | undefined>;
}

export function nodeClassBackend<T extends KubeObject>(
  nodeClass: ResourceType,
  serve: (nodeClass: T) => ServedNodeClass,
): NodeClassBackend {
  return {
    nodeClass,
    find: async (nodeClasses, name) => {
      const found = await nodeClasses.find<T>(nodeClass, name);
      return found === undefined ? undefined : serve(found);
    },
  };
}
