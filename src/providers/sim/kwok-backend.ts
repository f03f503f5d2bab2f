import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import { taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { kwokProviderId } from "../kwok/kwok-nodes.ts";
import {
  assertKwokNodeClassReady,
  type KwokCapacityOptions,
  kwokCapacity,
  kwokNodeLabels,
  newKwokNodeName,
  registrationDelayMs,
} from "../kwok/launch.ts";
import { CurrentInstanceTypes, type OfferingState } from "./current-instance-types.ts";
import { type NodeClassBackend, nodeClassBackend } from "./node-class-backend.ts";

export interface KwokBackendOptions extends KwokCapacityOptions {
  readonly offeringState: OfferingState;
  readonly catalogue: readonly InstanceType[];
}

/** Serves KWOKNodeClasses with KWOK types. (02 §9) */
export function kwokBackend({ offeringState, catalogue, ...capacityOptions }: KwokBackendOptions): NodeClassBackend {
  const currentTypes = new CurrentInstanceTypes(catalogue, offeringState);
  return nodeClassBackend<KubeObject & KwokNodeClass>(karpenterTypes.KWOKNodeClass, (nodeClass) => ({
    instanceTypes: () => currentTypes.list(),
    assertReady: () => assertKwokNodeClassReady(nodeClass),
    chooseOffers: (_, offers) => offers,
    newInstance: ({ claim, launchRequest }, offer, random) => {
      const name = newKwokNodeName(claim, random);
      return {
        id: name,
        providerId: kwokProviderId(name),
        nodeName: name,
        labels: kwokNodeLabels(claim, { launchRequest, offer }),
        taints: [taints.unregistered],
        ...kwokCapacity({ launchRequest, offer }, capacityOptions),
        bootMs: registrationDelayMs(nodeClass),
      };
    },
    driftOf: () => undefined, // KWOK nodes never drift. (02:K-10)
  }));
}
