import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { kwokLabels, labels, taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { cheapestFirst, type Demand, demandOf, type Offer, offersFor } from "../../cloud/choose-offering.ts";
import { CloudError } from "../../cloud/error.ts";
import { instanceCollectionLoop } from "../../cloud/instance-collection.ts";
import type { CloudProvider, Instance } from "../../cloud/provider.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import { custom } from "../../kube/resources.ts";
import type { Clock } from "../../util/clock.ts";
import { Random } from "../../util/random.ts";
import { withOfferingKeys } from "./instance-type.ts";
import { checkKwokClass, kwokName, kwokNodeLabels, kwokSize, registrationDelayMs, type SizeOptions } from "./launch.ts";
import { kwokNodeClassLoop } from "./node-class.ts";
import { type Fleet, type FleetNode, kwokNodeName, kwokProviderId } from "./node-fleet.ts";
import { kwokRepairPolicies } from "./repair-policies.ts";

export interface KwokProviderOptions extends SizeOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly catalogue: readonly InstanceType[];
  readonly fleet: Fleet;
}

/** The KWOK provider: machines are Node objects of a cluster that has the kwok controller. (02 §9) */
export function kwokProvider({ client, clock, catalogue, fleet, ...size }: KwokProviderOptions): CloudProvider {
  const policy = withOfferingKeys(labelPolicy("kwok"), catalogue);
  const list = async () => {
    const instances: Instance[] = [];
    for await (const node of fleet.all()) instances.push(instanceOf(node, clock));
    return instances;
  };
  return {
    name: "kwok",
    nodeClasses: [custom.KWOKNodeClass],
    labelPolicy: policy,
    repairPolicies: kwokRepairPolicies,
    loops: [
      ...fleet.loops,
      kwokNodeClassLoop(),
      instanceCollectionLoop({ list, terminate: (providerId) => fleet.stop(kwokNodeName(providerId) ?? "") }),
    ],
    create: async (claim, { asPlanned } = {}) => {
      const nodeClass = await classOf(claim, client);
      checkKwokClass(nodeClass);
      // The claim alone decides who its node is, so that a repeated launch finds the first one. (02 §7)
      const dice = new Random(claim.metadata.uid ?? claim.metadata.name ?? "");
      const name = kwokName(claim, dice);
      const before = await fleet.find(name);
      if (before !== undefined) return instanceOf(before, clock);
      const demand = demandOf(claim, policy);
      const [offer] = cheapestFirst(offersFor(demand, asPlanned?.(catalogue) ?? catalogue), dice);
      if (offer === undefined) throw new CloudError("insufficient-capacity", "no available offering suits the claim");
      const node = nodeObject(claim, { name, demand, offer, size });
      fleet.start(node, { afterMs: registrationDelayMs(nodeClass) ?? 0 });
      return instanceOf(node, clock);
    },
    delete: async (claim) => fleet.stop(nameOf(claim)),
    get: async (providerId) => {
      const name = kwokNodeName(providerId);
      const node = name === undefined ? undefined : await fleet.find(name);
      if (node === undefined) throw new CloudError("not-found", `no node has provider id ${providerId}`);
      return instanceOf(node, clock);
    },
    list,
    instanceTypes: async () => catalogue,
    driftOf: async () => undefined, // 02:K-10
  };
}

/** A claim that was never told of its node has one all the same, if it was launched. */
function nameOf(claim: NodeClaim): string {
  const told = kwokNodeName(claim.status?.providerID ?? "");
  return told ?? kwokName(claim, new Random(claim.metadata.uid ?? claim.metadata.name ?? ""));
}

async function classOf({ spec }: NodeClaim, client: KubeClient): Promise<KwokNodeClass> {
  const { name } = spec.nodeClassRef;
  try {
    return await client.get<KubeObject & KwokNodeClass>(custom.KWOKNodeClass, { name });
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
    throw new CloudError("insufficient-capacity", `there is no KWOKNodeClass ${name}`, { cause: error }); // 02:K-7
  }
}

interface Draft {
  readonly name: string;
  readonly demand: Demand;
  readonly offer: Offer;
  readonly size: SizeOptions;
}

/** 02:K-8. */
function nodeObject(claim: NodeClaim, { name, demand, offer, size }: Draft): FleetNode {
  const fake = { [kwokLabels.fakeNode]: "fake" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        ...kwokNodeLabels(claim, { demand, offer }),
        [labels.hostname]: claim.metadata.name ?? "",
        [kwokLabels.partition]: "a",
        ...fake,
      },
      annotations: { ...claim.metadata.annotations, ...fake },
    },
    spec: { providerID: kwokProviderId(name), taints: [taints.unregistered] },
    status: { ...kwokSize({ demand, offer }, size), phase: "Pending" },
  };
}

function instanceOf({ metadata, spec, status }: FleetNode, clock: Clock): Instance {
  const { creationTimestamp, labels: own = {} } = metadata;
  return {
    providerId: spec?.providerID ?? "",
    labels: own,
    annotations: metadata.annotations,
    capacity: status?.capacity ?? {},
    allocatable: status?.allocatable ?? {},
    createdAt: creationTimestamp === undefined ? clock.now() : Date.parse(creationTimestamp),
    isTerminating: false,
    claimName: own[labels.hostname],
  };
}
