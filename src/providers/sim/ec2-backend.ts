import { isNodeClassLaunchable } from "../../api/conditions/ec2-node-class.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import { hashAnnotationKeys, isDriftedByHash } from "../../api/hash/hash-drift.ts";
import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { annotations, awsLabels, simulationAnnotations, taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import { type LaunchableOffering, resolvedLabels, resourceListOf } from "../../cloud/launchable-offerings.ts";
import { type InstanceType, offeringZone } from "../../core/instance-type.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { ec2InstanceTypes, isRetired } from "../aws/catalogue.ts";
import { chooseLaunchOffers } from "../aws/choose-launch-offers.ts";
import { nodeSettingsOf } from "../aws/node-class-settings.ts";
import type { Region } from "../aws/regions.ts";
import { amiFor } from "./amis.ts";
import { CurrentInstanceTypes, type OfferingState } from "./current-instance-types.ts";
import type { LaunchContext, NodeClassBackend } from "./node-class-backend.ts";
import { ec2NodeName } from "./vpc.ts";

export interface Ec2BackendOptions {
  readonly offeringState: OfferingState;
  readonly region: Region;
}

/** Sells EC2 types of a simulated region to EC2NodeClasses, retired ones too. */
export function ec2Backend({ offeringState, region }: Ec2BackendOptions): NodeClassBackend {
  const typesByNodeClass = new InstanceTypesByNodeClass(region, offeringState);
  return {
    nodeClass: karpenterTypes.EC2NodeClass,
    instanceTypes: (nodeClass) => typesByNodeClass.forNodeClass(asEc2(nodeClass)).list(),
    assertReady: (nodeClass) => assertLaunchable(asEc2(nodeClass)),
    chooseOffers: (launchContext, offers) => {
      const { status } = asEc2(launchContext.nodeClass);
      const bootable = offers.filter(({ type }) => amiFor(type, status?.amis ?? []) !== undefined);
      return chooseLaunchOffers(bootable, launchContext);
    },
    newInstance: (launchContext, offer, random) => {
      const id = `i-${random.hex(17)}`;
      const where = offeringZone(offer.offering) ?? "";
      return {
        id,
        providerId: `aws:///${where}/${id}`,
        nodeName: ec2NodeName(id, { region, zone: where }),
        ...instanceDescription(launchContext, offer),
      };
    },
    driftOf: (claim, nodeClass) => {
      const stamped = { claim: claim.metadata.annotations, owner: nodeClass.metadata.annotations };
      return isDriftedByHash(hashAnnotationKeys.ec2NodeClass, stamped) ? "NodeClassDrift" : undefined;
    },
  };
}

/** All but who it is. */
function instanceDescription({ claim, nodeClass, launchRequest }: LaunchContext, offer: LaunchableOffering) {
  const { metadata, status } = asEc2(nodeClass);
  const stamps = [hashAnnotationKeys.ec2NodeClass.hash, hashAnnotationKeys.ec2NodeClass.version] as const;
  const stamped = stamps.flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined ? [] : [[key, value]];
  });
  return {
    labels: {
      ...tenancyLabel(launchRequest.requirements.get(awsLabels.instanceTenancy).has("default")),
      ...resolvedLabels(claim, launchRequest, offer),
      [awsLabels.nodeClass]: metadata.name ?? "",
    },
    annotations: {
      ...Object.fromEntries(stamped),
      ...(status?.instanceProfile && { [annotations.awsInstanceProfileName]: status.instanceProfile }),
      ...(isRetired(offer.type.name) && { [simulationAnnotations.retiredType]: "true" }),
    },
    taints: [taints.unregistered, ...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? [])],
    capacity: resourceListOf(offer.capacity),
    allocatable: resourceListOf(offer.allocatable),
    imageId: amiFor(offer.type, status?.amis ?? [])?.id,
  };
}

function tenancyLabel(isShared: boolean) {
  return { [awsLabels.instanceTenancy]: isShared ? "default" : "dedicated" };
}

/** 04 §3.1-2. */
function assertLaunchable(nodeClass: Ec2NodeClass): void {
  const ready = getCondition(nodeClass, "Ready");
  if (ready === undefined || ready.status === "Unknown") {
    throw new CloudError("create-failed", ready?.message || "nobody has looked at the node class yet", {
      reason: "NodeClassReadinessUnknown",
    });
  }
  if (ready.status === "False") throw new CloudError("node-class-not-ready", ready.message ?? ready.reason ?? "");
  if (!isNodeClassLaunchable(nodeClass)) {
    throw new CloudError("node-class-not-ready", "its status is about an older generation");
  }
}

/** Types as classes shape them: one shelf for all classes that make the same nodes in the same zones. */
class InstanceTypesByNodeClass {
  readonly #region: Region;
  readonly #offeringState: OfferingState;
  readonly #byClass = new Map<string, { readonly shape: string; readonly shelf: CurrentInstanceTypes }>();

  constructor(region: Region, offeringState: OfferingState) {
    this.#region = region;
    this.#offeringState = offeringState;
  }

  forNodeClass(nodeClass: Ec2NodeClass): CurrentInstanceTypes {
    const name = nodeClass.metadata.name ?? "";
    const zones = zonesOf(nodeClass, this.#region);
    const shape = JSON.stringify([nodeSettingsOf(nodeClass), zones]);
    const known = this.#byClass.get(name);
    if (known?.shape === shape) return known.shelf;
    const same = [...this.#byClass.values()].find((one) => one.shape === shape);
    const currentTypes =
      same?.shelf ?? new CurrentInstanceTypes(this.#catalogue(nodeClass, zones), this.#offeringState);
    this.#byClass.set(name, { shape, shelf: currentTypes });
    return currentTypes;
  }

  #catalogue(nodeClass: Ec2NodeClass, zones: readonly string[]): readonly InstanceType[] {
    const result = ec2InstanceTypes({
      ...nodeSettingsOf(nodeClass),
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
