import type { CapacityReservation } from "@aws-sdk/client-ec2";
import type { InstanceVariables } from "../../../api/validation/kubelet-expressions.ts";
import type { InstanceType } from "../../../core/instance-type.ts";
import type { Controller } from "../../../kube/controller.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Logger } from "../../../util/logger.ts";
import type { Random } from "../../../util/random.ts";
import type { AwsApi } from "../api/aws-api.ts";
import type { AwsSettings } from "../aws-settings.ts";
import { cachedCompilation } from "../expression-cache.ts";
import type { LaunchTarget } from "../launch/launch-template-specs.ts";
import { Amis } from "./amis.ts";
import { CapacityReservations } from "./capacity-reservations.ts";
import { ClusterCidr } from "./cluster-cidr.ts";
import type { LaunchTemplateStore } from "./dry-runs.ts";
import { imageParameterController } from "./image-parameter-controller.ts";
import { ImageParameters } from "./image-parameters.ts";
import { instanceProfileController } from "./instance-profile-controller.ts";
import { InstanceProfiles } from "./instance-profiles.ts";
import { nodeClassController } from "./node-class-controller.ts";
import type { Ec2NodeClassObject } from "./node-class-object.ts";
import { nodeClassParts } from "./node-class-parts.ts";
import { NodeClassValidation } from "./node-class-validation.ts";
import { PlacementGroups } from "./placement-groups.ts";
import { resolveNodeClass } from "./resolve-node-class.ts";
import { SecurityGroups } from "./security-groups.ts";
import { SubnetAddresses } from "./subnet-addresses.ts";
import { Subnets } from "./subnets.ts";

export interface NodeClassServicesOptions {
  readonly api: AwsApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: AwsSettings;
  /** Major and minor, such as 1.33. */
  readonly kubernetesVersion: () => string;
  /** Told what is left of reservations whenever EC2 was asked. */
  readonly onReservationsRead?: ((reservations: readonly CapacityReservation[]) => void) | undefined;
}

/** What resolves classes; launches use some of it, too. */
type NodeClassServices = ReturnType<typeof nodeClassServices>;

export function nodeClassServices(options: NodeClassServicesOptions) {
  const { api, clock, random, log, settings, kubernetesVersion } = options;
  const { ec2, iam, ssm, eks, region } = api;
  const { clusterName, amiRefreshMs, subnetRefreshMs } = settings;
  const parameters = new ImageParameters({ ssm, clock });
  const subnetAddresses = new SubnetAddresses({ clock, refreshMs: subnetRefreshMs });
  return {
    parameters,
    subnetAddresses,
    kubernetesVersion,
    compileExpression: cachedCompilation({ clock }),
    clusterCidr: new ClusterCidr({ eks, clusterName }),
    amis: new Amis({ ec2, clock, refreshMs: amiRefreshMs, parameters, kubernetesVersion, log }),
    subnets: new Subnets({ ec2, clock, refreshMs: subnetRefreshMs, addresses: subnetAddresses }),
    securityGroups: new SecurityGroups({ ec2, clock }),
    capacityReservations: new CapacityReservations({ ec2, clock, log, onRead: options.onReservationsRead }),
    placementGroups: new PlacementGroups({ ec2, clock }),
    instanceProfiles: new InstanceProfiles({ iam, clock, random, region, clusterName }),
  };
}

export interface NodeClassControllersOptions extends Pick<NodeClassServicesOptions, "api" | "clock" | "settings"> {
  readonly services: NodeClassServices;
  readonly launchTemplates: LaunchTemplateStore;
  readonly instanceTypes: (nodeClass: Ec2NodeClassObject) => Promise<readonly InstanceType[]>;
  readonly instanceVariables: (nodeClass: Ec2NodeClassObject) => readonly InstanceVariables[];
  /** With the CIDR of Services, once it is known. */
  readonly target: () => LaunchTarget;
  /** Whether the gate ReservedCapacity is on. */
  readonly usesReservations: boolean;
  /** A class is gone: whatever is kept for it can go, too. */
  readonly onReleased?: ((nodeClassName: string) => void) | undefined;
}

/** The controllers of classes, of the parameters that name their images, and of their instance profiles. (04 §5.3) */
export function nodeClassControllers(options: NodeClassControllersOptions): readonly Controller[] {
  const { api, clock, settings, services, launchTemplates, target, usesReservations } = options;
  const { instanceTypes, instanceVariables } = options;
  const validation = new NodeClassValidation({
    clock,
    clusterCidr: services.clusterCidr,
    dryRuns: { ec2: api.ec2, launchTemplates, instanceTypes, target, usesReservations },
    isDryRunDisabled: settings.isDryRunDisabled,
    allowsExpressions: settings.gates.NodeClassCEL,
    instanceVariables,
    compileExpression: services.compileExpression,
  });
  const parts = [...nodeClassParts(services, { usesReservations }), validation];
  return [
    nodeClassController({
      kinds: [karpenterTypes.NodePool],
      reads: [
        { of: "cloud", withinMs: 60_000, because: "AWS does not announce what changes in the account" },
        { of: karpenterTypes.NodePool, withinMs: 10 * 60_000, because: "dry runs launch a type of its pools" },
      ],
      caBundle: () => target().cluster.caBundle,
      resolve: (nodeClass, context) => resolveNodeClass(nodeClass, context, { parts, usesReservations }),
      release: async (nodeClass) => {
        const { name = "" } = nodeClass.metadata;
        const hasOwnProfiles = !settings.isIsolatedVpc && nodeClass.spec?.instanceProfile === undefined;
        if (hasOwnProfiles) await services.instanceProfiles.deleteAll(nodeClass);
        await launchTemplates.deleteOf(name);
        validation.forget(name);
        options.onReleased?.(name);
      },
    }),
    imageParameterController({ ec2: api.ec2, parameters: services.parameters }),
    ...(settings.isIsolatedVpc ? [] : [instanceProfileController(services.instanceProfiles)]),
  ];
}
