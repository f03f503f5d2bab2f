import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { awsLabels, labels } from "../../api/labels.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import { CloudError, isCloudError } from "../../cloud/cloud-error.ts";
import type { CloudProvider, Instance } from "../../cloud/cloud-provider.ts";
import { claimLaunchRequestOf } from "../../cloud/launchable-offerings.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { errorMessage } from "../../util/error-text.ts";
import { awsErrorAdvice, networkHint } from "./api/aws-error-advice.ts";
import { awsControllers } from "./aws-controllers.ts";
import { type AwsServices, type AwsServicesOptions, awsServices, launchTargetFor } from "./aws-services.ts";
import { ec2DriftReason } from "./drift.ts";
import { ec2Tag, instanceOfEc2 } from "./instances/instance-details.ts";
import { instanceIdOfProviderId } from "./interruption/instance-id.ts";
import { launchEc2Instance } from "./launch/launch-instance.ts";
import type { Ec2NodeClassObject } from "./node-class/node-class-object.ts";
import { assertNodeClassLaunchable } from "./node-class-readiness.ts";
import { placementGroupHook } from "./placement-group-hook.ts";
import { awsRepairPolicies } from "./repair-policies.ts";

export interface AwsProviderOptions extends AwsServicesOptions {
  readonly refreshVersion: () => Promise<void>;
}

const policy = labelPolicy("aws");
const slowLaunchMs = 30_000;

/** EC2 as a cloud for the controllers. (04) */
export function awsProvider(options: AwsProviderOptions): CloudProvider {
  const services = awsServices(options);
  const calls = new AwsCalls(options, services);
  const { instances } = services;
  return {
    name: "aws",
    nodeClasses: [karpenterTypes.EC2NodeClass],
    labelPolicy: policy,
    repairPolicies: awsRepairPolicies,
    registrationHooks: [placementGroupHook(instances)],
    onPricesChanged: (listener) => services.prices.subscribe(listener),
    controllers: awsControllers({
      ...options,
      services,
      instanceTypes: (pool) => calls.instanceTypes(pool),
      terminable: {
        list: () => calls.list(),
        terminate: (providerId) => instances.terminate(instanceIdOf(providerId)),
      },
    }),
    create: (claim, { plannedInstanceTypes } = {}) =>
      calls.toldWhenSlow(claim, () => calls.create(claim, plannedInstanceTypes ?? ((types) => types))),
    delete: (claim) => calls.delete(claim),
    get: (providerId) => calls.get(providerId),
    list: () => calls.list(),
    instanceTypes: (pool) => calls.instanceTypes(pool),
    driftReason: (claim) => calls.driftReason(claim),
  };
}

/** The calls about claims and instances. */
class AwsCalls {
  readonly #options: AwsProviderOptions;
  readonly #services: AwsServices;

  constructor(options: AwsProviderOptions, services: AwsServices) {
    this.#options = options;
    this.#services = services;
  }

  async create(
    claim: NodeClaim,
    planned: (types: readonly InstanceType[]) => readonly InstanceType[],
  ): Promise<Instance> {
    const { context } = this.#services;
    const nodeClass = await context.nodeClass(claim.spec.nodeClassRef);
    if (nodeClass === undefined) {
      const message = nodeClassNotFound(claim.spec.nodeClassRef);
      context.warn(claim, "NodeClaim", { reason: "NodeClassNotFound", message });
      throw new CloudError("insufficient-capacity", message);
    }
    assertNodeClassLaunchable(nodeClass);
    await this.#services.nodeClasses.placementGroups.ensureRemembered(nodeClass.spec?.placementGroupSelector);
    const launchRequest = claimLaunchRequestOf(claim, policy);
    const instanceTypes = planned(this.#typesForLaunch(nodeClass));
    const { log, clock, metrics, settings, usesReservations } = this.#options;
    return launchEc2Instance(
      claim,
      { nodeClass, launchRequest, instanceTypes },
      {
        ...this.#services,
        ...{ log, clock, metrics, usesReservations, clusterName: settings.clusterName },
        subnetAddresses: this.#services.nodeClasses.subnetAddresses,
        targetFor: (own) => launchTargetFor(own, this.#services),
        onSpotRoleMissing: (own) => context.warn(own, "NodeClaim", spotRoleMissing),
      },
    );
  }

  /** A launch that hangs would otherwise look as if nobody had begun it. */
  async toldWhenSlow<T>(claim: NodeClaim, call: () => Promise<T>): Promise<T> {
    const timer = this.#options.clock.setTimer(slowLaunchMs, () =>
      this.#services.context.warn(claim, "NodeClaim", {
        reason: "LaunchSlow",
        message: `AWS has not answered the launch for ${slowLaunchMs / 1_000} s; check that the controller's network reaches AWS (${networkHint})`,
      }),
    );
    try {
      return await call();
    } finally {
      timer.cancel();
    }
  }

  /** `not-found` once EC2 no longer lists it; only then its place in a reservation is free. (04 §3.8) */
  async delete(claim: NodeClaim): Promise<void> {
    const { instances, reservations, context } = this.#services;
    const providerId = claim.status?.providerID;
    if (!providerId) throw new CloudError("not-found", `NodeClaim ${claim.metadata.name ?? ""} has no instance`);
    try {
      await instances.terminate(instanceIdOf(providerId));
    } catch (error) {
      const reservationId = claim.metadata.labels?.[awsLabels.capacityReservationId];
      const zone = claim.metadata.labels?.[labels.zone] ?? "";
      if (!isCloudError(error, "not-found")) {
        const message = `its instance cannot be terminated: ${awsErrorAdvice(error)}`;
        context.warn(claim, "NodeClaim", { reason: "InstanceTerminationFailed", message });
        const zoneLabels = { zone, zone_id: context.zoneIdOf(zone) ?? "" };
        this.#options.metrics?.count("cloudprovider_instance_termination_failures_total", zoneLabels);
      } else if (reservationId !== undefined) reservations.terminated(reservationId);
      throw error;
    }
  }

  async get(providerId: string): Promise<Instance> {
    const instance = await this.#services.instances.get(instanceIdOf(providerId));
    return this.#described(instance);
  }

  async list(): Promise<readonly Instance[]> {
    const found = await this.#services.instances.list();
    return Promise.all(found.map((instance) => this.#described(instance)));
  }

  async instanceTypes(pool: NodePool): Promise<readonly InstanceType[]> {
    const { context, instanceTypes, nodeClasses } = this.#services;
    const { nodeClassRef } = pool.spec.template.spec;
    const nodeClass = await context.nodeClass(nodeClassRef);
    if (nodeClass !== undefined) {
      await nodeClasses.placementGroups.ensureRemembered(nodeClass.spec?.placementGroupSelector);
      return instanceTypes.list(nodeClass);
    }
    const message = nodeClassNotFound(nodeClassRef);
    context.warn(pool, "NodePool", { reason: "NodeClassNotFound", message });
    throw new CloudError("node-class-not-ready", message);
  }

  /** Without pool or class there is nothing to compare with. (04 §1.13) */
  async driftReason(claim: NodeClaim): Promise<string | undefined> {
    const { context, instances, instanceTypes, placementGroupOf, nodeClasses } = this.#services;
    const nodeClass = await context.nodeClass(claim.spec.nodeClassRef);
    if (nodeClass === undefined || claim.metadata.labels?.[labels.nodePool] === undefined) return undefined;
    await nodeClasses.placementGroups.ensureRemembered(nodeClass.spec?.placementGroupSelector);
    return ec2DriftReason(claim, {
      nodeClass,
      instanceTypes: () => instanceTypes.list(nodeClass),
      instance: (options) => instances.get(instanceIdOf(claim.status?.providerID ?? ""), options),
      placementGroupId: placementGroupOf(nodeClass)?.id,
      usesReservations: this.#options.usesReservations,
    });
  }

  #typesForLaunch(nodeClass: Ec2NodeClassObject): readonly InstanceType[] {
    try {
      return this.#services.instanceTypes.list(nodeClass);
    } catch (error) {
      throw new CloudError("create-failed", errorMessage(error), {
        reason: "InstanceTypeResolutionFailed",
        cause: error,
      });
    }
  }

  async #described(instance: Parameters<typeof instanceOfEc2>[0]): Promise<Instance> {
    const { context, instanceTypes } = this.#services;
    const name = ec2Tag(instance, awsLabels.nodeClass) ?? "";
    const nodeClass = context.nodeClasses().find(({ metadata }) => metadata.name === name);
    const isUsable = nodeClass !== undefined && (nodeClass.status?.subnets ?? []).length > 0;
    const types = isUsable ? instanceTypes.list(nodeClass) : [];
    return instanceOfEc2(instance, {
      usesReservations: this.#options.usesReservations,
      instanceType: types.find((type) => type.name === instance.InstanceType),
      zoneIdOf: (zone) => context.zoneIdOf(zone),
    });
  }
}

const spotRoleMissing = {
  reason: "SpotServiceLinkedRoleMissing",
  message:
    "EC2 may not create the service-linked role that spot instances need: create it with `aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`",
};

function instanceIdOf(providerId: string): string {
  const id = instanceIdOfProviderId(providerId);
  if (id === undefined) throw new Error(`provider id ${JSON.stringify(providerId)} is not one of AWS`);
  return id;
}

function nodeClassNotFound({ kind, name }: NodeClassRef): string {
  return `failed to resolve NodeClass: there is no ${kind} ${name}, or it is being deleted`;
}
