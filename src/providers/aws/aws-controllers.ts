import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { awsLabels } from "../../api/labels.ts";
import type { TerminableInstances } from "../../cloud/instance-garbage-collection.ts";
import { instanceGarbageCollectionController } from "../../cloud/instance-garbage-collection.ts";
import { offeringKeyOfLabels } from "../../cloud/offering-key.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import type { Controller } from "../../kube/controller.ts";
import type { AwsServices, AwsServicesOptions } from "./aws-services.ts";
import { offeringMetricsController } from "./controllers/offering-metrics-controller.ts";
import {
  instanceTypeController,
  launchTemplateController,
  pricingController,
  versionController,
} from "./controllers/periodic-controllers.ts";
import {
  reservationCapacityTypeController,
  reservationExpirationController,
} from "./controllers/reservation-controllers.ts";
import { seenMemoryController } from "./controllers/seen-memory-controller.ts";
import { taggingController } from "./controllers/tagging-controller.ts";
import { zonalShiftController } from "./controllers/zonal-shift-controller.ts";
import { instanceStatusController } from "./interruption/instance-status-controller.ts";
import { interruptionQueueController } from "./interruption/queue-controller.ts";
import { nodeClassControllers } from "./node-class/node-class-services.ts";

export interface AwsControllersOptions extends AwsServicesOptions {
  readonly services: AwsServices;
  readonly terminable: TerminableInstances;
  readonly refreshVersion: () => Promise<void>;
  readonly instanceTypes: (pool: NodePool) => Promise<readonly InstanceType[]>;
}

/** The controllers of the AWS provider. (04 §5.3) */
export function awsControllers(options: AwsControllersOptions): readonly Controller[] {
  const { aws, clock, settings, metrics, services, usesReservations } = options;
  return [
    services.context.controller,
    ...nodeClassControllers({
      ...{ api: aws, clock, settings, services: services.nodeClasses, usesReservations },
      launchTemplates: services.launchTemplates,
      target: services.target,
      instanceTypes: async (nodeClass) => services.instanceTypes.list(nodeClass),
      instanceVariables: (nodeClass) => services.instanceTypes.variables(nodeClass),
      onReleased: (nodeclass) => {
        services.instanceTypes.forget(nodeclass);
        metrics?.forget("ec2nodeclasses_userdata_bytes", { nodeclass });
      },
    }),
    instanceGarbageCollectionController(options.terminable),
    taggingController({ instances: services.instances, clusterName: settings.clusterName }),
    pricingController(services.prices),
    instanceTypeController(services.discovery),
    ...(services.overlayPrices === undefined ? [] : [services.overlayPrices.controller]),
    seenMemoryController(services.seenMemory),
    launchTemplateController(services.launchTemplates),
    versionController(options.refreshVersion),
    ...(metrics === undefined
      ? []
      : [
          offeringMetricsController({
            ...{ metrics, discovery: services.discovery, usesReservations },
            instanceTypes: options.instanceTypes,
          }),
        ]),
    ...(usesReservations
      ? [reservationCapacityTypeController(services.instances), reservationExpirationController()]
      : []),
    ...(services.zonalShifts === undefined
      ? []
      : [zonalShiftController({ shifts: services.zonalShifts, policy: labelPolicy("aws") })]),
    ...interruptionControllers(options),
  ];
}

function interruptionControllers({
  aws,
  log,
  metrics,
  settings,
  services,
}: AwsControllersOptions): readonly Controller[] {
  const { unavailable, reservations } = services;
  const interruption = {
    log,
    metrics,
    capacityLost: ({ metadata }: NodeClaim, kind: "spot_interrupted" | "capacity_reservation_interrupted") => {
      const reservationId = metadata.labels?.[awsLabels.capacityReservationId];
      if (kind === "spot_interrupted") unavailable.offerings.markUnavailable(offeringKeyOfLabels(metadata.labels));
      else if (reservationId !== undefined) reservations.markExhausted(reservationId);
    },
  };
  const { interruptionQueue: queueName } = settings;
  return [
    instanceStatusController({ ...interruption, ec2: aws.ec2 }),
    ...(queueName === undefined ? [] : [interruptionQueueController({ ...interruption, sqs: aws.sqs, queueName })]),
  ];
}
