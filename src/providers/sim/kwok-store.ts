import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import { taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { custom } from "../../kube/resources.ts";
import {
  checkKwokClass,
  kwokName,
  kwokNodeLabels,
  kwokSize,
  registrationDelayMs,
  type SizeOptions,
} from "../kwok/launch.ts";
import { Shelf, type Trade } from "./shelf.ts";
import type { Store } from "./store.ts";

export interface KwokStoreOptions extends SizeOptions {
  readonly trade: Trade;
  readonly catalogue: readonly InstanceType[];
}

/** Sells KWOK types to KWOKNodeClasses. (02 §9) */
export function kwokStore({ trade, catalogue, ...size }: KwokStoreOptions): Store {
  const shelf = new Shelf(catalogue, trade);
  return {
    nodeClass: custom.KWOKNodeClass,
    types: () => shelf.types(),
    check: (nodeClass) => checkKwokClass(asKwok(nodeClass)),
    choose: (_, offers) => offers,
    draw: ({ claim, nodeClass, demand }, offer, random) => {
      const name = kwokName(claim, random);
      return {
        id: name,
        providerId: `kwok://${name}`,
        nodeName: name,
        labels: kwokNodeLabels(claim, { demand, offer }),
        taints: [taints.unregistered],
        ...kwokSize({ demand, offer }, size),
        bootMs: registrationDelayMs(asKwok(nodeClass)),
      };
    },
    driftOf: () => undefined, // 02:K-10
  };
}

function asKwok(nodeClass: KubeObject): KwokNodeClass {
  return nodeClass as unknown as KwokNodeClass;
}
