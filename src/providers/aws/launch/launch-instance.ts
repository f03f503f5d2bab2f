import type { CreateFleetCommandInput } from "@aws-sdk/client-ec2";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { CloudError } from "../../../cloud/cloud-error.ts";
import type { Instance } from "../../../cloud/cloud-provider.ts";
import { offeringReservationId, offeringZone } from "../../../core/instance-type.ts";
import type { Clock } from "../../../util/clock.ts";
import { type FleetErrorMemory, fleetFailure, rememberFleetErrors } from "./fleet-errors.ts";
import { ec2FleetRequest } from "./fleet-request.ts";
import type { FleetAnswer, Fleets } from "./fleets.ts";
import { classifyLaunchError, spotRoleCode } from "./launch-errors.ts";
import { type LaunchPlan, type LaunchPlanning, type LaunchSource, planLaunch } from "./launch-plan.ts";
import { isLaunchTemplateMissing, type LaunchTemplates } from "./launch-templates.ts";
import { launchedInstance } from "./launched-instance.ts";

export interface LaunchDependencies extends LaunchPlanning, Omit<FleetErrorMemory, "subnetAddresses"> {
  readonly clock: Pick<Clock, "now">;
  readonly launchTemplates: Pick<LaunchTemplates, "ensure" | "invalidate">;
  readonly fleets: Pick<Fleets, "create">;
  /** EC2 may not create the role that spot needs: somebody has to. */
  readonly onSpotRoleMissing?: ((claim: NodeClaim) => void) | undefined;
}

/** Launches one instance for a claim. (04 §3.1) */
export async function launchEc2Instance(
  claim: NodeClaim,
  source: LaunchSource,
  dependencies: LaunchDependencies,
): Promise<Instance> {
  const plan = await planLaunch(claim, source, dependencies);
  const usedSubnets: string[] = [];
  try {
    const answer = await createFleet(plan, dependencies);
    rememberFleetErrors(answer.errors, plan, dependencies);
    if (answer.errors.some(({ ErrorCode }) => ErrorCode === spotRoleCode)) dependencies.onSpotRoleMissing?.(claim);
    if (answer.instance === undefined) throw fleetFailure(answer.errors);
    const { SubnetId } = answer.instance.LaunchTemplateAndOverrides?.Overrides ?? {};
    if (SubnetId !== undefined) usedSubnets.push(SubnetId);
    const { offer, instance } = launchedInstance(answer.instance, plan, dependencies.clock.now());
    const reservationId = offeringReservationId(offer.offering);
    if (reservationId !== undefined) dependencies.reservations.launched(reservationId);
    return instance;
  } finally {
    dependencies.subnetAddresses.release(plan.chosenSubnets, usedSubnets);
  }
}

/** A template may have been deleted behind our back: it is made again, once. (04 §3.1-8) */
async function createFleet(plan: LaunchPlan, dependencies: LaunchDependencies): Promise<FleetAnswer> {
  const { launchTemplates, fleets } = dependencies;
  try {
    const { names, input } = await fleetInput(plan, dependencies);
    try {
      return await fleets.create(input);
    } catch (error) {
      if (!isLaunchTemplateMissing(error)) throw error;
      launchTemplates.invalidate(names);
      return await fleets.create((await fleetInput(plan, dependencies)).input);
    }
  } catch (error) {
    if (error instanceof CloudError) throw error;
    const { reason, message } = classifyLaunchError(error);
    throw new CloudError("create-failed", message, { reason, cause: error });
  }
}

async function fleetInput(
  plan: LaunchPlan,
  { launchTemplates }: LaunchDependencies,
): Promise<{ readonly names: readonly string[]; readonly input: CreateFleetCommandInput }> {
  const names = await launchTemplates.ensure(plan.specs, plan.tags);
  const input = ec2FleetRequest({
    claim: plan.claim,
    offers: plan.offers,
    capacityType: plan.capacityType,
    templates: plan.specs.map((spec, index) => ({ name: names[index] ?? "", spec })),
    subnets: new Map(plan.chosenSubnets.map(({ zone, id }) => [zone, id])),
    tags: plan.tags,
    context: plan.source.nodeClass.spec?.context,
  });
  if (input !== undefined) return { names, input };
  const zones = new Set(plan.offers.map(({ offering }) => offeringZone(offering)));
  const message = `no capacity offerings available: no subnet in ${[...zones].join(", ")}`;
  throw new CloudError("create-failed", message, { reason: "LaunchFailed" });
}
