import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import type { KubeObject } from "../../api/object.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import type { CloudProvider, Instance } from "../../cloud/cloud-provider.ts";
import { instanceGarbageCollectionController } from "../../cloud/instance-garbage-collection.ts";
import { cheapestFirst, claimLaunchRequestOf, launchableOfferings } from "../../cloud/launchable-offerings.ts";
import { offeringKey, offeringKeyText } from "../../cloud/offering-key.ts";
import { UnavailableOfferings } from "../../cloud/unavailable-offerings.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import type { Clock } from "../../util/clock.ts";
import { type Logger, silentLogger } from "../../util/logger.ts";
import type { Random } from "../../util/random.ts";
import { ec2InstanceTypeInfos } from "../aws/instance-type-info.ts";
import { defaultRegion, findRegion } from "../aws/regions.ts";
import { awsRepairPolicies } from "../aws/repair-policies.ts";
import { kwokInstanceTypes } from "../kwok/catalogue.ts";
import { withOfferingKeys } from "../kwok/kwok-instance-type.ts";
import { kwokNodeClassController } from "../kwok/kwok-node-class-controller.ts";
import type { KwokCapacityOptions } from "../kwok/launch.ts";
import { kwokRepairPolicies } from "../kwok/repair-policies.ts";
import { ec2NodeClassController } from "./controllers/ec2-node-class-controller.ts";
import { type InterruptionMetrics, interruptionController } from "./controllers/interruption-controller.ts";
import { ec2Backend } from "./ec2-backend.ts";
import type { FleetOverride, InstanceRecord } from "./fleet-request.ts";
import { kwokBackend } from "./kwok-backend.ts";
import type { LaunchContext, NodeClassBackend } from "./node-class-backend.ts";
import type { SimulatedCloud } from "./simulated-cloud.ts";

export interface SimulatedProviderOptions extends KwokCapacityOptions {
  readonly cloud: SimulatedCloud;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Where EC2NodeClasses buy. */
  readonly region?: string | undefined;
  /** What KWOKNodeClasses buy; the usual 144 types unless given. */
  readonly kwokTypes?: readonly InstanceType[] | undefined;
  /** Where interruptions are counted. */
  readonly metrics?: InterruptionMetrics | undefined;
  /** Where they are logged; nowhere unless given. */
  readonly log?: Logger | undefined;
}

/** Sells machines of the simulated cloud: KWOK types to KWOKNodeClasses, EC2 types to EC2NodeClasses. */
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
  const policy = withOfferingKeys(labelPolicy("all"), catalogue);
  const list = async () => (await cloud.describeAll()).map(instanceOf);

  return {
    name: "simulated",
    nodeClasses: backends.map(({ nodeClass }) => nodeClass),
    labelPolicy: policy,
    repairPolicies: [
      ...kwokRepairPolicies,
      ...awsRepairPolicies.filter(({ conditionType }) => conditionType !== "Ready"),
    ],
    onPricesChanged: (listener) => cloud.supply.subscribe(listener),
    controllers: [
      kwokNodeClassController(),
      ec2NodeClassController(region),
      instanceGarbageCollectionController({ list, terminate: (providerId) => cloud.terminate(providerId) }),
      interruptionController({ queue: cloud.interruptionQueue, unavailable, metrics, log }),
    ],
    create: async (claim, { plannedInstanceTypes } = {}) => {
      const backend = backendOf(backends, claim.spec.nodeClassRef);
      const nodeClass = await getNodeClass(client, { backend, name: claim.spec.nodeClassRef.name });
      if (nodeClass === undefined) throw new CloudError("insufficient-capacity", noNodeClassMessage(claim));
      backend.assertReady(nodeClass);
      const launchContext: LaunchContext = { claim, nodeClass, launchRequest: claimLaunchRequestOf(claim, policy) };
      const { uid, name = "" } = claim.metadata;
      const types = backend.instanceTypes(nodeClass);
      const overrides = fleetOverridesOf(launchContext, { backend, types: plannedInstanceTypes?.(types) ?? types });
      const result = await cloud.launch({ clientToken: uid ?? name, claimName: name, overrides });
      for (const key of result.soldOut) unavailable.markUnavailable(key);
      if (result.kind === "launched") return instanceOf(result.record);
      const tried = result.soldOut.map(offeringKeyText).join(", ");
      throw new CloudError("insufficient-capacity", tried === "" ? noCompatibleOffering : `sold out: ${tried}`);
    },
    delete: (claim) => {
      const { providerID } = claim.status ?? {};
      const known = providerID || cloud.recordOf(claim.metadata.uid ?? "")?.instance.providerId;
      return cloud.terminate(known ?? `of NodeClaim ${claim.metadata.name ?? ""}`);
    },
    get: async (providerId) => instanceOf(await cloud.describe(providerId)),
    list,
    instanceTypes: async ({ spec }) => {
      const ref = spec.template.spec.nodeClassRef;
      const backend = backendOf(backends, ref);
      const nodeClass = await getNodeClass(client, { backend, name: ref.name });
      if (nodeClass === undefined) throw new CloudError("node-class-not-ready", `there is no ${ref.kind} ${ref.name}`);
      return backend.instanceTypes(nodeClass);
    },
    driftReason: async (claim) => {
      const backend = backendOf(backends, claim.spec.nodeClassRef);
      const nodeClass = await getNodeClass(client, { backend, name: claim.spec.nodeClassRef.name });
      return nodeClass && backend.driftOf(claim, nodeClass);
    },
  };

  function fleetOverridesOf(
    launchContext: LaunchContext,
    { backend, types }: { backend: NodeClassBackend; types: readonly InstanceType[] },
  ): readonly FleetOverride[] {
    const offers = backend.chooseOffers(launchContext, launchableOfferings(launchContext.launchRequest, types));
    const claimRandom = random.fork(launchContext.claim.metadata.uid ?? "");
    return cheapestFirst(offers, claimRandom).map((offer) => {
      const key = offeringKey(offer.type, offer.offering);
      const { reservationCapacity: left } = offer.offering;
      return {
        key,
        price: offer.offering.price,
        ...(left !== undefined && { reservationCapacity: left + cloud.supply.reservationUsage(key) }),
        newInstance: (own) => backend.newInstance(launchContext, offer, own),
      };
    });
  }
}

const noCompatibleOffering = "no available offering suits the claim";

function noNodeClassMessage({ spec }: NodeClaim): string {
  return `there is no ${spec.nodeClassRef.kind} ${spec.nodeClassRef.name}`;
}

function backendOf(
  backends: readonly NodeClassBackend[],
  { group, kind }: { readonly group: string; readonly kind: string },
): NodeClassBackend {
  const found = backends.find(({ nodeClass }) => nodeClass.group === group && nodeClass.kind === kind);
  if (found === undefined) throw new CloudError("node-class-not-ready", `${kind}.${group} is not served here`);
  return found;
}

/** Undefined where it is gone or going. (04 §1.14) */
async function getNodeClass(
  client: KubeClient,
  { backend, name }: { readonly backend: NodeClassBackend; readonly name: string },
): Promise<KubeObject | undefined> {
  try {
    const found = await client.get(backend.nodeClass, { name });
    return found.metadata.deletionTimestamp === undefined ? found : undefined;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
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

function regionOf(name: string) {
  const found = findRegion(name, ec2InstanceTypeInfos());
  if ("problem" in found) throw new Error(`${found.problem.message}; known: ${found.problem.expected}`);
  return found.region;
}
