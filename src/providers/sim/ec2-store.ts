import { isLaunchable } from "../../api/conditions/ec2-node-class.ts";
import { get } from "../../api/conditions/engine.ts";
import { hashStamps, isDriftedByHash } from "../../api/hash/drift.ts";
import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { annotations, awsLabels, simulationAnnotations, taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { type Offer, resolvedLabels, written } from "../../cloud/choose-offering.ts";
import { CloudError } from "../../cloud/error.ts";
import { type InstanceType, zone } from "../../core/instance-type.ts";
import { custom } from "../../kube/resources.ts";
import { ec2InstanceTypes, isRetired } from "../aws/catalogue.ts";
import { settingsOf } from "../aws/class-settings.ts";
import { launchChoice } from "../aws/launch-choice.ts";
import type { Region } from "../aws/regions.ts";
import { imageFor } from "./images.ts";
import { Shelf, type Trade } from "./shelf.ts";
import type { Buyer, Store } from "./store.ts";
import { nodeNameOf } from "./vpc.ts";

export interface Ec2StoreOptions {
  readonly trade: Trade;
  readonly region: Region;
}

/** Sells EC2 types of a simulated region to EC2NodeClasses, retired ones too. */
export function ec2Store({ trade, region }: Ec2StoreOptions): Store {
  const shelves = new Shelves(region, trade);
  return {
    nodeClass: custom.EC2NodeClass,
    types: (nodeClass) => shelves.of(asEc2(nodeClass)).types(),
    check: (nodeClass) => check(asEc2(nodeClass)),
    choose: (buyer, offers) => {
      const { status } = asEc2(buyer.nodeClass);
      const bootable = offers.filter(({ type }) => imageFor(type, status?.amis ?? []) !== undefined);
      return launchChoice(bootable, buyer);
    },
    draw: (buyer, offer, random) => {
      const id = `i-${random.hex(17)}`;
      const where = zone(offer.offering) ?? "";
      return {
        id,
        providerId: `aws:///${where}/${id}`,
        nodeName: nodeNameOf(id, { region, zone: where }),
        ...described(buyer, offer),
      };
    },
    driftOf: (claim, nodeClass) => {
      const stamped = { claim: claim.metadata.annotations, owner: nodeClass.metadata.annotations };
      return isDriftedByHash(hashStamps.ec2NodeClass, stamped) ? "NodeClassDrift" : undefined;
    },
  };
}

/** All but who it is. */
function described({ claim, nodeClass, demand }: Buyer, offer: Offer) {
  const { metadata, status } = asEc2(nodeClass);
  const stamps = [hashStamps.ec2NodeClass.hash, hashStamps.ec2NodeClass.version] as const;
  const stamped = stamps.flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined ? [] : [[key, value]];
  });
  return {
    labels: {
      ...tenancy(demand.requirements.get(awsLabels.instanceTenancy).has("default")),
      ...resolvedLabels(claim, demand, offer),
      [awsLabels.nodeClass]: metadata.name ?? "",
    },
    annotations: {
      ...Object.fromEntries(stamped),
      ...(status?.instanceProfile && { [annotations.awsInstanceProfileName]: status.instanceProfile }),
      ...(isRetired(offer.type.name) && { [simulationAnnotations.retiredType]: "true" }),
    },
    taints: [taints.unregistered, ...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? [])],
    capacity: written(offer.capacity),
    allocatable: written(offer.allocatable),
    imageId: imageFor(offer.type, status?.amis ?? [])?.id,
  };
}

function tenancy(isShared: boolean) {
  return { [awsLabels.instanceTenancy]: isShared ? "default" : "dedicated" };
}

/** 04 §3.1-2. */
function check(nodeClass: Ec2NodeClass): void {
  const ready = get(nodeClass, "Ready");
  if (ready === undefined || ready.status === "Unknown") {
    throw new CloudError("create-failed", ready?.message || "nobody has looked at the node class yet", {
      reason: "NodeClassReadinessUnknown",
    });
  }
  if (ready.status === "False") throw new CloudError("node-class-not-ready", ready.message ?? ready.reason ?? "");
  if (!isLaunchable(nodeClass)) {
    throw new CloudError("node-class-not-ready", "its status is about an older generation");
  }
}

/** Types as classes shape them: one shelf for all classes that make the same nodes in the same zones. */
class Shelves {
  readonly #region: Region;
  readonly #trade: Trade;
  readonly #byClass = new Map<string, { readonly shape: string; readonly shelf: Shelf }>();

  constructor(region: Region, trade: Trade) {
    this.#region = region;
    this.#trade = trade;
  }

  of(nodeClass: Ec2NodeClass): Shelf {
    const name = nodeClass.metadata.name ?? "";
    const zones = zonesOf(nodeClass, this.#region);
    const shape = JSON.stringify([settingsOf(nodeClass), zones]);
    const known = this.#byClass.get(name);
    if (known?.shape === shape) return known.shelf;
    const same = [...this.#byClass.values()].find((one) => one.shape === shape);
    const shelf = same?.shelf ?? new Shelf(this.#catalogue(nodeClass, zones), this.#trade);
    this.#byClass.set(name, { shape, shelf });
    return shelf;
  }

  #catalogue(nodeClass: Ec2NodeClass, zones: readonly string[]): readonly InstanceType[] {
    const result = ec2InstanceTypes({
      ...settingsOf(nodeClass),
      region: this.#region.name,
      zones,
      includeRetired: true,
    });
    if ("problem" in result) throw new Error(`simulated region ${this.#region.name}: ${result.problem.message}`);
    return result.types;
  }
}

/** Where its subnets are; a class nobody resolved yet may use all. */
function zonesOf({ status }: Ec2NodeClass, region: Region): readonly string[] {
  const found = new Set(status?.subnets?.map((subnet) => subnet.zone) ?? []);
  const names = region.zones.map(({ name }) => name);
  return found.size === 0 ? names : names.filter((name) => found.has(name));
}

function asEc2(nodeClass: KubeObject): Ec2NodeClass {
  return nodeClass as unknown as Ec2NodeClass;
}
