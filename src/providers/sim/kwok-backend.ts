import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import { taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import {
  assertKwokNodeClassReady,
  type KwokCapacityOptions,
  kwokCapacity,
  kwokNodeLabels,
  newKwokNodeName,
  registrationDelayMs,
} from "../kwok/launch.ts";
import { CurrentInstanceTypes, type OfferingState } from "./current-instance-types.ts";
import type { NodeClassBackend } from "./node-class-backend.ts";

export interface KwokBackendOptions extends KwokCapacityOptions {
  readonly offeringState: OfferingState;
  readonly catalogue: readonly InstanceType[];
}

/** Sells KWOK types to KWOKNodeClasses. (02 §9) */
export function kwokBackend({ offeringState, catalogue, ...capacityOptions }: KwokBackendOptions): NodeClassBackend {
  const currentTypes = new CurrentInstanceTypes(catalogue, offeringState);
  return {
    nodeClass: karpenterTypes.KWOKNodeClass,
    instanceTypes: () => currentTypes.list(),
    assertReady: (nodeClass) => assertKwokNodeClassReady(asKwok(nodeClass)),
    chooseOffers: (_, offers) => offers,
    newInstance: ({ claim, nodeClass, launchRequest }, offer, random) => {
      const name = newKwokNodeName(claim, random);
      return {
        id: name,
        providerId: `kwok://${name}`,
        nodeName: name,
        labels: kwokNodeLabels(claim, { launchRequest, offer }),
        taints: [taints.unregistered],
        ...kwokCapacity({ launchRequest, offer }, capacityOptions),
        bootMs: registrationDelayMs(asKwok(nodeClass)),
      };
    },
    driftOf: () => undefined, // 02:K-10
  };
}

function asKwok(nodeClass: KubeObject): KwokNodeClass {
  return nodeClass as unknown as KwokNodeClass;
}
