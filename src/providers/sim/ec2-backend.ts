import { hashAnnotationKeys, isDriftedByHash } from "../../api/hash/hash-drift.ts";
import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { annotations, awsLabels, simulationAnnotations, taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { type LaunchableOffering, resolvedLabels, resourceListOf } from "../../cloud/launchable-offerings.ts";
import { type InstanceType, offeringZone } from "../../core/instance-type.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { ec2InstanceTypes, isRetired } from "../aws/catalogue.ts";
import { chooseLaunchOffers } from "../aws/choose-launch-offers.ts";
import { amiFor } from "../aws/node-class/ami-requirements.ts";
import { assertNodeClassLaunchable } from "../aws/node-class-readiness.ts";
import { nodeSettingsOf } from "../aws/node-class-settings.ts";
import type { Region } from "../aws/regions.ts";

import { CurrentInstanceTypes, type OfferingState } from "./current-instance-types.ts";
import { type LaunchContext, type NodeClassBackend, nodeClassBackend } from "./node-class-backend.ts";
import { ec2NodeName } from "./vpc.ts";

export interface Ec2BackendOptions {
  readonly offeringState: OfferingState;
  readonly region: Region;
}

type Ec2NodeClassObject = KubeObject & Ec2NodeClass;

/** Serves EC2NodeClasses with the types of a simulated region, retired ones included. */
export function ec2Backend({ offeringState, region }: Ec2BackendOptions): NodeClassBackend {
  const typesByNodeClass = new InstanceTypesByNodeClass(region, offeringState);
  return nodeClassBackend<Ec2NodeClassObject>(karpenterTypes.EC2NodeClass, (nodeClass) => {
    const amis = nodeClass.status?.amis ?? [];
    return {
      instanceTypes: () => typesByNodeClass.forNodeClass(nodeClass).list(),
      assertReady: () => assertNodeClassLaunchable(nodeClass),
      chooseOffers: (context, offers) => {
        const bootable = offers.filter(({ type }) => amiFor(type, amis) !== undefined);
        return chooseLaunchOffers(bootable, context);
      },
      newInstance: (context, offer, random) => {
        const id = `i-${random.hex(17)}`;
        const zone = offeringZone(offer.offering) ?? "";
        return {
          id,
          providerId: `aws:///${zone}/${id}`,
          nodeName: ec2NodeName(id, { region, zone }),
          ...instanceDescription(context, nodeClass, offer),
        };
      },
      driftOf: (claim) => {
        const hashes = { claim: claim.metadata.annotations, owner: nodeClass.metadata.annotations };
        return isDriftedByHash(hashAnnotationKeys.ec2NodeClass, hashes) ? "NodeClassDrift" : undefined;
      },
    };
  });
}

/** Everything but the id. */
function instanceDescription(
  { claim, launchRequest }: LaunchContext,
  { metadata, status }: Ec2NodeClass,
  offer: LaunchableOffering,
) {
  const { hash, version } = hashAnnotationKeys.ec2NodeClass;
  const hashes = [hash, version].flatMap((key) => {
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
      ...Object.fromEntries(hashes),
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

/** One list of types for all classes that produce the same nodes in the same zones. */
class InstanceTypesByNodeClass {
  readonly #region: Region;
  readonly #offeringState: OfferingState;
  readonly #byClass = new Map<string, { readonly settings: string; readonly types: CurrentInstanceTypes }>();

  constructor(region: Region, offeringState: OfferingState) {
    this.#region = region;
    this.#offeringState = offeringState;
  }

  forNodeClass(nodeClass: Ec2NodeClass): CurrentInstanceTypes {
    const name = nodeClass.metadata.name ?? "";
    const zones = zonesOf(nodeClass, this.#region);
    const settings = JSON.stringify([nodeSettingsOf(nodeClass), zones]);
    const known = this.#byClass.get(name);
    if (known?.settings === settings) return known.types;
    const same = [...this.#byClass.values()].find((one) => one.settings === settings);
    const types = same?.types ?? new CurrentInstanceTypes(this.#catalogue(nodeClass, zones), this.#offeringState);
    this.#byClass.set(name, { settings, types });
    return types;
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

/** The zones of its subnets; all zones while they are unresolved. */
function zonesOf({ status }: Ec2NodeClass, region: Region): readonly string[] {
  const found = new Set(status?.subnets?.map((subnet) => subnet.zone) ?? []);
  const names = region.zones.map(({ name }) => name);
  return found.size === 0 ? names : names.filter((name) => found.has(name));
}
