import type { KwokNodeClass } from "../../api/kinds/kwok-node-class.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { kwokLabels, labels, taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import type { CloudProvider, Instance } from "../../cloud/cloud-provider.ts";
import { instanceGarbageCollectionController } from "../../cloud/instance-garbage-collection.ts";
import {
  type ClaimLaunchRequest,
  cheapestFirst,
  claimLaunchRequestOf,
  type LaunchableOffering,
  launchableOfferings,
  noCompatibleOffering,
} from "../../cloud/launchable-offerings.ts";
import { NodeClassReader } from "../../cloud/node-class-reader.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { KubeClient } from "../../kube/client.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { Clock } from "../../util/clock.ts";
import { Random } from "../../util/random.ts";
import { withOfferingKeys } from "./kwok-instance-type.ts";
import { kwokNodeClassController } from "./kwok-node-class-controller.ts";
import { type KwokNode, type KwokNodes, kwokNodeName, kwokProviderId } from "./kwok-nodes.ts";
import {
  assertKwokNodeClassReady,
  type KwokCapacityOptions,
  kwokCapacity,
  kwokNodeLabels,
  newKwokNodeName,
  registrationDelayMs,
} from "./launch.ts";
import { kwokRepairPolicies } from "./repair-policies.ts";

export interface KwokProviderOptions extends KwokCapacityOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly catalogue: readonly InstanceType[];
  readonly kwokNodes: KwokNodes;
}

/** The KWOK provider: its instances are Node objects of a cluster that runs the kwok controller. (02 §9) */
export function kwokProvider(options: KwokProviderOptions): CloudProvider {
  const { client, clock, catalogue, kwokNodes, ...capacityOptions } = options;
  const policy = withOfferingKeys(labelPolicy("kwok"), catalogue);
  const nodeClasses = new NodeClassReader(client, [karpenterTypes.KWOKNodeClass]);
  const list = async () => {
    const instances: Instance[] = [];
    for await (const node of kwokNodes.list()) instances.push(instanceOf(node, clock));
    return instances;
  };
  return {
    name: "kwok",
    nodeClasses: [karpenterTypes.KWOKNodeClass],
    labelPolicy: policy,
    repairPolicies: kwokRepairPolicies,
    controllers: [
      nodeClasses.controller,
      ...kwokNodes.controllers,
      kwokNodeClassController(),
      instanceGarbageCollectionController({
        list,
        terminate: (providerId) => kwokNodes.delete(kwokNodeName(providerId) ?? ""),
      }),
    ],
    create: async (claim, { plannedInstanceTypes } = {}) => {
      const nodeClass = await getNodeClass(claim, nodeClasses);
      assertKwokNodeClassReady(nodeClass);
      // The node's name depends on the claim alone, so that a repeated launch finds the first Node. (02 §7)
      const claimRandom = new Random(claim.metadata.uid ?? claim.metadata.name ?? "");
      const name = newKwokNodeName(claim, claimRandom);
      const before = await kwokNodes.find(name);
      if (before !== undefined) return instanceOf(before, clock);
      const launchRequest = claimLaunchRequestOf(claim, policy);
      const [offer] = cheapestFirst(
        launchableOfferings(launchRequest, plannedInstanceTypes?.(catalogue) ?? catalogue),
        claimRandom,
      );
      if (offer === undefined) throw new CloudError("insufficient-capacity", noCompatibleOffering);
      const node = newKwokNode(claim, { name, launchRequest, offer, capacityOptions });
      kwokNodes.create(node, { afterMs: registrationDelayMs(nodeClass) ?? 0 });
      return instanceOf(node, clock);
    },
    delete: async (claim) => kwokNodes.delete(nodeNameOfClaim(claim)),
    deletesAtOnce: true, // a Node being deleted counts as gone (02:K-10)
    get: async (providerId) => {
      const name = kwokNodeName(providerId);
      const node = name === undefined ? undefined : await kwokNodes.find(name);
      if (node === undefined) throw new CloudError("not-found", `no node has provider id ${providerId}`);
      return instanceOf(node, clock);
    },
    list,
    instanceTypes: async () => catalogue,
    driftReason: async () => undefined, // KWOK nodes never drift. (02:K-10)
  };
}

/** A claim without a provider id may still have a Node: its name is derived the same way. */
function nodeNameOfClaim(claim: NodeClaim): string {
  const knownName = kwokNodeName(claim.status?.providerID ?? "");
  return knownName ?? newKwokNodeName(claim, new Random(claim.metadata.uid ?? claim.metadata.name ?? ""));
}

async function getNodeClass({ spec }: NodeClaim, nodeClasses: NodeClassReader): Promise<KwokNodeClass> {
  const { name } = spec.nodeClassRef;
  const found = await nodeClasses.find<KubeObject & KwokNodeClass>(karpenterTypes.KWOKNodeClass, name);
  // As upstream: the claim is deleted and its pods are scheduled again. (02:K-7)
  if (found === undefined) throw new CloudError("insufficient-capacity", `KWOKNodeClass ${name} not found`);
  return found;
}

interface NewNodeInput {
  readonly name: string;
  readonly launchRequest: ClaimLaunchRequest;
  readonly offer: LaunchableOffering;
  readonly capacityOptions: KwokCapacityOptions;
}

/** The Node that the cluster's kwok controller keeps ready. (02:K-8) */
function newKwokNode(claim: NodeClaim, { name, launchRequest, offer, capacityOptions }: NewNodeInput): KwokNode {
  const fake = { [kwokLabels.fakeNode]: "fake" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        ...kwokNodeLabels(claim, { launchRequest, offer }),
        [labels.hostname]: claim.metadata.name ?? "",
        [kwokLabels.partition]: "a",
        ...fake,
      },
      annotations: { ...claim.metadata.annotations, ...fake },
    },
    spec: { providerID: kwokProviderId(name), taints: [taints.unregistered] },
    status: { ...kwokCapacity({ launchRequest, offer }, capacityOptions), phase: "Pending" },
  };
}

function instanceOf({ metadata, spec, status }: KwokNode, clock: Clock): Instance {
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
