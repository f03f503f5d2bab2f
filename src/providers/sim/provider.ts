import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import type { KubeObject } from "../../api/object.ts";
import { cheapestFirst, demandOf, offersFor } from "../../cloud/choose-offering.ts";
import { CloudError } from "../../cloud/error.ts";
import { instanceCollectionLoop } from "../../cloud/instance-collection.ts";
import { offeringKey, offeringText } from "../../cloud/offering-key.ts";
import type { CloudProvider, Instance } from "../../cloud/provider.ts";
import { UnavailableOfferings } from "../../cloud/unavailable-offerings.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Clock } from "../../util/clock.ts";
import { type Logger, silent } from "../../util/logger.ts";
import type { Random } from "../../util/random.ts";
import { machines } from "../aws/families.ts";
import { defaultRegion, regionNamed } from "../aws/regions.ts";
import { awsRepairPolicies } from "../aws/repair-policies.ts";
import { kwokInstanceTypes } from "../kwok/catalogue.ts";
import { withOfferingKeys } from "../kwok/instance-type.ts";
import type { SizeOptions } from "../kwok/launch.ts";
import { kwokNodeClassLoop } from "../kwok/node-class.ts";
import { kwokRepairPolicies } from "../kwok/repair-policies.ts";
import type { SimulatedCloud } from "./cloud.ts";
import { ec2Store } from "./ec2-store.ts";
import { kwokStore } from "./kwok-store.ts";
import { ec2NodeClassLoop } from "./loops/ec2-node-class.ts";
import { type InterruptionMetrics, interruptionLoop } from "./loops/interruption.ts";
import type { Machine, Wish } from "./machine.ts";
import type { Buyer, Store } from "./store.ts";

export interface SimulatedProviderOptions extends SizeOptions {
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
  const { cloud, client, clock, random, log = silent, metrics } = options;
  const catalogue = options.kwokTypes ?? kwokInstanceTypes();
  const unavailable = new UnavailableOfferings({ clock });
  const trade = { market: cloud.market, unavailable };
  const region = regionOf(options.region ?? defaultRegion);
  const stores: readonly Store[] = [kwokStore({ trade, catalogue, ...options }), ec2Store({ trade, region })];
  const policy = withOfferingKeys(labelPolicy("all"), catalogue);
  const list = async () => (await cloud.describeAll()).map(instanceOf);

  return {
    name: "simulated",
    nodeClasses: stores.map(({ nodeClass }) => nodeClass),
    labelPolicy: policy,
    repairPolicies: [
      ...kwokRepairPolicies,
      ...awsRepairPolicies.filter(({ conditionType }) => conditionType !== "Ready"),
    ],
    onPrices: (listener) => cloud.market.subscribe(listener),
    loops: [
      kwokNodeClassLoop(),
      ec2NodeClassLoop(region),
      instanceCollectionLoop({ list, terminate: (providerId) => cloud.terminate(providerId) }),
      interruptionLoop({ notices: cloud.notices, unavailable, metrics, log }),
    ],
    create: async (claim, { asPlanned } = {}) => {
      const store = storeOf(stores, claim.spec.nodeClassRef);
      const nodeClass = await classOf(client, { store, name: claim.spec.nodeClassRef.name });
      if (nodeClass === undefined) throw new CloudError("insufficient-capacity", noClass(claim));
      store.check(nodeClass);
      const buyer: Buyer = { claim, nodeClass, demand: demandOf(claim, policy) };
      const { uid, name = "" } = claim.metadata;
      const sold = store.types(nodeClass);
      const wishes = wishesOf(buyer, { store, types: asPlanned?.(sold) ?? sold });
      const delivery = await cloud.launch({ token: uid ?? name, claimName: name, wishes });
      for (const key of delivery.soldOut) unavailable.mark(key);
      if (delivery.kind === "launched") return instanceOf(delivery.machine);
      const tried = delivery.soldOut.map(offeringText).join(", ");
      throw new CloudError("insufficient-capacity", tried === "" ? nothingSuits : `sold out: ${tried}`);
    },
    delete: (claim) => {
      const { providerID } = claim.status ?? {};
      const known = providerID || cloud.machineOf(claim.metadata.uid ?? "")?.instance.providerId;
      return cloud.terminate(known ?? `of NodeClaim ${claim.metadata.name ?? ""}`);
    },
    get: async (providerId) => instanceOf(await cloud.describe(providerId)),
    list,
    instanceTypes: async ({ spec }) => {
      const ref = spec.template.spec.nodeClassRef;
      const store = storeOf(stores, ref);
      const nodeClass = await classOf(client, { store, name: ref.name });
      if (nodeClass === undefined) throw new CloudError("node-class-not-ready", `there is no ${ref.kind} ${ref.name}`);
      return store.types(nodeClass);
    },
    driftOf: async (claim) => {
      const store = storeOf(stores, claim.spec.nodeClassRef);
      const nodeClass = await classOf(client, { store, name: claim.spec.nodeClassRef.name });
      return nodeClass && store.driftOf(claim, nodeClass);
    },
  };

  function wishesOf(buyer: Buyer, { store, types }: { store: Store; types: readonly InstanceType[] }): readonly Wish[] {
    const offers = store.choose(buyer, offersFor(buyer.demand, types));
    const dice = random.fork(buyer.claim.metadata.uid ?? "");
    return cheapestFirst(offers, dice).map((offer) => {
      const key = offeringKey(offer.type, offer.offering);
      const { reservationCapacity: left } = offer.offering;
      return {
        key,
        price: offer.offering.price,
        ...(left !== undefined && { reserved: left + cloud.market.usedOf(key) }),
        draw: (own) => store.draw(buyer, offer, own),
      };
    });
  }
}

const nothingSuits = "no available offering suits the claim";

function noClass({ spec }: NodeClaim): string {
  return `there is no ${spec.nodeClassRef.kind} ${spec.nodeClassRef.name}`;
}

function storeOf(stores: readonly Store[], { group, kind }: { readonly group: string; readonly kind: string }): Store {
  const found = stores.find(({ nodeClass }) => nodeClass.group === group && nodeClass.kind === kind);
  if (found === undefined) throw new CloudError("node-class-not-ready", `${kind}.${group} is not served here`);
  return found;
}

/** Undefined where it is gone or going. (04 §1.14) */
async function classOf(
  client: KubeClient,
  { store, name }: { readonly store: Store; readonly name: string },
): Promise<KubeObject | undefined> {
  try {
    const found = await client.get(store.nodeClass, { name });
    return found.metadata.deletionTimestamp === undefined ? found : undefined;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}

function instanceOf({ instance, imageId, isTerminating, claimName }: Machine): Instance {
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
  const found = regionNamed(name, machines());
  if ("problem" in found) throw new Error(`${found.problem.message}; known: ${found.problem.expected}`);
  return found.region;
}
