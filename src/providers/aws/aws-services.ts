import { awsLabels } from "../../api/labels.ts";
import { resolvedAmiFamily } from "../../api/validation/ami-family.ts";
import { CloudError } from "../../cloud/cloud-error.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Clock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { Logger } from "../../util/logger.ts";
import type { Random } from "../../util/random.ts";
import type { AwsApi } from "./api/aws-api.ts";
import type { AwsMetrics } from "./aws-metrics.ts";
import type { AwsSettings } from "./aws-settings.ts";
import { Ec2InstanceTypes } from "./instance-types/ec2-instance-types.ts";
import type { InstanceTypeDiscovery } from "./instance-types/instance-type-discovery.ts";
import { LivePrices } from "./instance-types/live-prices.ts";
import { OverlayPrices } from "./instance-types/overlay-prices.ts";
import { ReservationCounts } from "./instance-types/reservation-counts.ts";
import { SeenMemory } from "./instance-types/seen-memory.ts";
import { UnavailableCapacity } from "./instance-types/unavailable-capacity.ts";
import { Ec2Instances } from "./instances/ec2-instances.ts";
import { Fleets } from "./launch/fleets.ts";
import type { LaunchTarget } from "./launch/launch-template-specs.ts";
import { LaunchTemplates } from "./launch/launch-templates.ts";
import type { Ec2NodeClassObject } from "./node-class/node-class-object.ts";
import { nodeClassServices } from "./node-class/node-class-services.ts";
import { ProviderContext } from "./provider-context.ts";
import type { ClusterFacts } from "./user-data/user-data-request.ts";
import type { ZonalShifts } from "./zonal-shifts.ts";

export interface AwsServicesOptions {
  readonly aws: AwsApi;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics?: AwsMetrics | undefined;
  readonly settings: AwsSettings;
  /** The gate ReservedCapacity. */
  readonly usesReservations: boolean;
  /** The gate NodeOverlay. */
  readonly usesOverlays: boolean;
  /** What new nodes are told, but for the CIDR of Services. */
  readonly cluster: ClusterFacts;
  readonly discovery: InstanceTypeDiscovery;
  /** Undefined: zonal shift is off. */
  readonly zonalShifts?: ZonalShifts | undefined;
  /** Major and minor, such as 1.33. */
  readonly kubernetesVersion: () => string;
}

/** Everything the provider and its controllers are made of. */
export type AwsServices = ReturnType<typeof awsServices>;

export function awsServices(options: AwsServicesOptions) {
  const { aws, client, clock, log, metrics, settings, usesReservations, discovery } = options;
  const { clusterName } = settings;
  const context = new ProviderContext(client);
  const prices = new LivePrices({ aws, clock, isIsolatedVpc: settings.isIsolatedVpc });
  const overlayPrices = options.usesOverlays ? new OverlayPrices() : undefined;
  const unavailable = new UnavailableCapacity({ clock });
  const reservations = new ReservationCounts({ clock });
  const seenMemory = new SeenMemory({ clock });
  const nodeClasses = nodeClassServices({
    ...{ api: aws, clock, random: options.random, log, settings, kubernetesVersion: options.kubernetesVersion },
    onReservationsRead: (read) => reservations.sync(read),
  });
  const shiftedZoneIds = (): ReadonlySet<string> => options.zonalShifts?.zoneIds ?? noZones;
  const placementGroupOf = ({ spec }: Pick<Ec2NodeClassObject, "spec">) =>
    nodeClasses.placementGroups.remembered(spec?.placementGroupSelector);
  const observe = (batcher: string, { size, waitedMs }: { readonly size: number; readonly waitedMs: number }): void => {
    metrics?.observe("cloudprovider_batcher_batch_size", { batcher }, size);
    metrics?.observe("cloudprovider_batcher_batch_time_seconds", { batcher }, waitedMs / 1_000);
  };
  return {
    ...{
      context,
      discovery,
      prices,
      overlayPrices,
      unavailable,
      reservations,
      seenMemory,
      nodeClasses,
      placementGroupOf,
    },
    zonalShifts: options.zonalShifts,
    target: (): LaunchTarget => ({
      region: aws.region,
      cluster: { ...options.cluster, cidr: nodeClasses.clusterCidr.known },
    }),
    instanceTypes: new Ec2InstanceTypes({
      ...{
        region: aws.region,
        discovery,
        prices,
        overlayPrices,
        unavailable,
        reservations,
        seenMemory,
        usesReservations,
      },
      ...{ placementGroupOf, shiftedZoneIds, allowsExpressions: settings.gates.NodeClassCEL },
      compileExpression: nodeClasses.compileExpression,
      nodeSettings: {
        vmMemoryOverheadPercent: settings.vmMemoryOverheadPercent,
        reservedEnis: settings.reservedEnis,
      },
    }),
    launchTemplates: new LaunchTemplates({
      ...{ ec2: aws.ec2, clock, clusterName, log },
      onCreated: ({ userDataBytes }, tags) => {
        const nodeclass = tags[awsLabels.nodeClass] ?? "";
        metrics?.set("ec2nodeclasses_userdata_bytes", { nodeclass }, userDataBytes);
      },
    }),
    fleets: new Fleets({ ec2: aws.ec2, clock, log, observe: (batch) => observe("create_fleet", batch) }),
    instances: new Ec2Instances({
      ...{ ec2: aws.ec2, clock, clusterName, observe },
      isShifted: (zone) => shiftedZoneIds().has(context.zoneIdOf(zone) ?? ""),
    }),
  };
}

const noZones: ReadonlySet<string> = new Set();

/** Where nodes of the class join; the CIDR of Services is asked for when a family needs it. (04 §1.9) */
export async function launchTargetFor(
  nodeClass: Ec2NodeClassObject,
  { nodeClasses, target }: Pick<AwsServices, "nodeClasses" | "target">,
): Promise<LaunchTarget> {
  if (nodeClass.spec !== undefined && resolvedAmiFamily(nodeClass.spec) === "AL2023") {
    try {
      await nodeClasses.clusterCidr.resolve();
    } catch (error) {
      throw new CloudError("node-class-not-ready", `cannot resolve the CIDR of Services: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }
  return target();
}
