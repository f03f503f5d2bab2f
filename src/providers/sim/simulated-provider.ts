import { labelPolicy } from "../../api/label-policy.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import type { CloudProvider, Instance } from "../../cloud/cloud-provider.ts";
import { instanceGarbageCollectionController } from "../../cloud/instance-garbage-collection.ts";
import type { InstancePlacement } from "../../cloud/instance-source.ts";
import {
  cheapestFirst,
  claimLaunchRequestOf,
  launchableOfferings,
  noCompatibleOffering,
} from "../../cloud/launchable-offerings.ts";
import { NodeClassReader } from "../../cloud/node-class-reader.ts";
import { offeringKey, offeringKeyText } from "../../cloud/offering-key.ts";
import { UnavailableOfferings } from "../../cloud/unavailable-offerings.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Clock } from "../../util/clock.ts";
import { type Logger, silentLogger } from "../../util/logger.ts";
import type { Random } from "../../util/random.ts";
import type { AwsMetrics } from "../aws/aws-metrics.ts";
import { nodeClassController } from "../aws/node-class/node-class-controller.ts";
import { defaultRegion, findRegion } from "../aws/regions.ts";
import { awsRepairPolicies } from "../aws/repair-policies.ts";
import { kwokInstanceTypes } from "../kwok/catalogue.ts";
import { withOfferingKeys } from "../kwok/kwok-instance-type.ts";
import { kwokNodeClassController } from "../kwok/kwok-node-class-controller.ts";
import type { KwokCapacityOptions } from "../kwok/launch.ts";
import { kwokRepairPolicies } from "../kwok/repair-policies.ts";
import { nodeAnnotationController, nodeClassAnnotationController } from "./controllers/cloud-annotation-controller.ts";
import { resolveEc2NodeClassStatus } from "./controllers/ec2-node-class-status.ts";
import { interruptionController } from "./controllers/interruption-controller.ts";
import { ec2Backend } from "./ec2-backend.ts";
import type { FleetOverride, InstanceRecord } from "./fleet-request.ts";
import { kwokBackend } from "./kwok-backend.ts";
import type { LaunchContext, NodeClassBackend, ServedNodeClass } from "./node-class-backend.ts";
import type { SimulatedCloud } from "./simulated-cloud.ts";

export interface SimulatedProviderOptions extends KwokCapacityOptions {
  readonly cloud: SimulatedCloud;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** The region of EC2NodeClasses. */
  readonly region?: string | undefined;
  /** The types of KWOKNodeClasses; by default the 144 KWOK types. */
  readonly kwokTypes?: readonly InstanceType[] | undefined;
  /** Interruption metrics. */
  readonly metrics?: Pick<AwsMetrics, "count" | "observe"> | undefined;
  /** Silent by default. */
  readonly log?: Logger | undefined;
}

/** A provider over the simulated cloud: KWOK types for KWOKNodeClasses, EC2 types for EC2NodeClasses. */
export function simulatedProvider(options: SimulatedProviderOptions): CloudProvider {
  const { cloud, client, clock, random, log = silentLogger, metrics } = options;
  const catalogue = options.kwokTypes ?? kwokInstanceTypes();
  const unavailable = new UnavailableOfferings({ clock });
  const offeringState = { supply: cloud.supply, unavailable };
  const region = regionOf(options.region ?? defaultRegion);
  const backends: readonly NodeClassBackend[] = [
    kwokBackend({ offeringState, catalogue, ...options }),
    ec2Backend({ offeringState, region }),
  ];
  const nodeClassTypes = backends.map(({ nodeClass }) => nodeClass);
  const nodeClasses = new NodeClassReader(client, nodeClassTypes);
  const policy = withOfferingKeys(labelPolicy("all"), catalogue);
  const list = async () => (await cloud.describeAll()).map(instanceOf);

  return {
    name: "simulated",
    nodeClasses: nodeClassTypes,
    labelPolicy: policy,
    repairPolicies: [
      ...kwokRepairPolicies,
      ...awsRepairPolicies.filter(({ conditionType }) => conditionType !== "Ready"),
    ],
    onPricesChanged: (listener) => cloud.supply.subscribe(listener),
    controllers: [
      nodeClasses.controller,
      kwokNodeClassController(),
      nodeClassController({
        resolve: async (nodeClass) => ({
          status: resolveEc2NodeClassStatus(nodeClass, { region, nowMs: clock.now() }),
        }),
      }),
      instanceGarbageCollectionController({ list, terminate: (providerId) => cloud.terminate(providerId) }),
      interruptionController({ queue: cloud.interruptionQueue, unavailable, metrics, log }),
      nodeAnnotationController(cloud),
      nodeClassAnnotationController(cloud),
    ],
    create: async (claim, { plannedInstanceTypes } = {}) => {
      const nodeClass = await findNodeClass(claim.spec.nodeClassRef);
      if (nodeClass === undefined) {
        throw new CloudError("insufficient-capacity", notFoundMessage(claim.spec.nodeClassRef));
      }
      nodeClass.assertReady();
      const context: LaunchContext = { claim, launchRequest: claimLaunchRequestOf(claim, policy) };
      const { uid, name = "" } = claim.metadata;
      const types = nodeClass.instanceTypes();
      const overrides = fleetOverridesOf(context, { nodeClass, types: plannedInstanceTypes?.(types) ?? types });
      const result = await cloud.launch({ clientToken: uid ?? name, claimName: name, overrides });
      for (const key of result.unavailable) unavailable.markUnavailable(key);
      if (result.kind === "launched") return instanceOf(result.record);
      if (result.kind === "quota-exceeded") {
        const { maxInstances } = result;
        throw new CloudError("insufficient-capacity", `the quota of ${maxInstances} instances is used up`);
      }
      const tried = result.unavailable.map(offeringKeyText).join(", ");
      const message = tried === "" ? noCompatibleOffering : `insufficient capacity: ${tried}`;
      throw new CloudError("insufficient-capacity", message);
    },
    delete: (claim) => {
      const { providerID } = claim.status ?? {};
      const known = providerID || cloud.recordOf(claim.metadata.uid ?? "")?.instance.providerId;
      return cloud.terminate(known ?? `of NodeClaim ${claim.metadata.name ?? ""}`);
    },
    get: async (providerId) => instanceOf(await cloud.describe(providerId)),
    list,
    instanceTypes: async ({ spec }) => {
      const { nodeClassRef } = spec.template.spec;
      const nodeClass = await findNodeClass(nodeClassRef);
      if (nodeClass === undefined) throw new CloudError("node-class-not-ready", notFoundMessage(nodeClassRef));
      return nodeClass.instanceTypes();
    },
    driftReason: async (claim) => (await findNodeClass(claim.spec.nodeClassRef))?.driftOf(claim),
  };

  async function findNodeClass(ref: NodeClassRef): Promise<ServedNodeClass | undefined> {
    const { group, kind, name } = ref;
    const backend = backends.find(({ nodeClass }) => nodeClass.group === group && nodeClass.kind === kind);
    if (backend !== undefined) return backend.find(nodeClasses, name);
    throw new CloudError("node-class-not-ready", `${kind}.${group} is not supported by this provider`);
  }

  function fleetOverridesOf(
    context: LaunchContext,
    { nodeClass, types }: { readonly nodeClass: ServedNodeClass; readonly types: readonly InstanceType[] },
  ): readonly FleetOverride[] {
    const offers = nodeClass.chooseOffers(context, launchableOfferings(context.launchRequest, types));
    const claimRandom = random.fork(context.claim.metadata.uid ?? "");
    return cheapestFirst(offers, claimRandom).map((offer) => {
      const key = offeringKey(offer.type, offer.offering);
      const { reservationCapacity: left } = offer.offering;
      return {
        key,
        price: offer.offering.price,
        ...(left !== undefined && { reservationCapacity: left + cloud.supply.reservationUsage(key) }),
        newInstance: (own) => nodeClass.newInstance(context, offer, own),
      };
    });
  }
}

function notFoundMessage({ kind, name }: NodeClassRef): string {
  return `${kind} ${name} not found`;
}

function instanceOf({ instance, imageId, isTerminating, claimName }: InstanceRecord): Instance {
  const { providerId, labels, annotations, capacity, allocatable, launchedAt } = instance;
  return {
    providerId,
    ...(imageId !== undefined && { imageId }),
    labels,
    ...(annotations && { annotations }),
    capacity,
    allocatable,
    createdAt: launchedAt,
    isTerminating,
    claimName,
  };
}

/** Region and zones of EC2NodeClasses in the simulated cloud. */
export function simulatedPlacement(region = defaultRegion): InstancePlacement {
  const { name, zones } = regionOf(region);
  return { region: name, zones: zones.map((zone) => zone.name).sort() };
}

function regionOf(name: string) {
  const found = findRegion(name);
  if ("problem" in found) throw new Error(`${found.problem.message}; known: ${found.problem.expected}`);
  return found.region;
}
