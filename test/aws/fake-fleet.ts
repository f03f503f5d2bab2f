import type {
  CreateFleetCommandInput,
  CreateFleetCommandOutput,
  CreateFleetError,
  CreateFleetInstance,
  FleetLaunchTemplateOverridesRequest,
  Instance,
  LaunchTemplateAndOverridesResponse,
  RequestLaunchTemplateData,
  Tag,
} from "@aws-sdk/client-ec2";
import { AwsError } from "../../src/providers/aws/api/aws-error.ts";
import type { FakeAws } from "./fake-aws.ts";

/** A launch template of the fake account, with what it contains. */
export interface StoredLaunchTemplate {
  readonly id: string;
  readonly name: string;
  readonly data: RequestLaunchTemplateData;
  readonly tags: readonly Tag[];
}

interface FleetCandidate {
  readonly template: StoredLaunchTemplate;
  readonly override: FleetLaunchTemplateOverridesRequest;
  readonly capacityType: string;
}

/** An instant fleet: overrides are tried cheapest first, each as far as its pool goes; empty pools answer with an error. */
export function createFakeFleet(aws: FakeAws, input: CreateFleetCommandInput): CreateFleetCommandOutput {
  const candidates = candidatesOf(aws, input);
  const instances: CreateFleetInstance[] = [];
  const errors: CreateFleetError[] = [];
  let wanted = input.TargetCapacitySpecification?.TotalTargetCapacity ?? 0;
  for (const candidate of candidates) {
    if (wanted === 0) break;
    const refusal = refusalOf(aws, candidate);
    if (refusal !== undefined) {
      errors.push({ ...refusal, Lifecycle: lifecycleOf(candidate), LaunchTemplateAndOverrides: echoOf(candidate) });
      continue;
    }
    const taken = aws.takeFromPool(poolOf(candidate), wanted);
    wanted -= taken;
    const ids = Array.from({ length: taken }, () => launch(aws, input, candidate));
    instances.push({
      InstanceIds: ids,
      InstanceType: candidate.override.InstanceType,
      Lifecycle: lifecycleOf(candidate),
      LaunchTemplateAndOverrides: echoOf(candidate),
    });
  }
  return { $metadata: {}, FleetId: aws.newId("fleet"), Instances: instances, Errors: errors };
}

function candidatesOf(aws: FakeAws, input: CreateFleetCommandInput): readonly FleetCandidate[] {
  const capacityType = input.TargetCapacitySpecification?.DefaultTargetCapacityType ?? "on-demand";
  const all = (input.LaunchTemplateConfigs ?? []).flatMap(({ LaunchTemplateSpecification, Overrides = [] }) => {
    const name = LaunchTemplateSpecification?.LaunchTemplateName ?? "";
    const template = aws.launchTemplates.get(name);
    if (template === undefined) {
      throw new AwsError(
        "ec2:CreateFleet",
        "InvalidLaunchTemplateName.NotFoundException",
        `The specified launch template, with template name ${name}, does not exist.`,
        { status: 400 },
      );
    }
    return Overrides.map((override) => ({ template, override, capacityType }));
  });
  return all.sort((a, b) => (a.override.Priority ?? 0) - (b.override.Priority ?? 0));
}

function refusalOf(aws: FakeAws, candidate: FleetCandidate): CreateFleetError | undefined {
  const pool = poolOf(candidate);
  const scripted = aws.poolErrors.get(pool);
  if (scripted !== undefined) return { ErrorCode: scripted.code, ErrorMessage: scripted.message };
  if (aws.poolSize(pool) > 0) return undefined;
  return { ErrorCode: "InsufficientInstanceCapacity", ErrorMessage: `there is no capacity for ${pool}` };
}

/** `spot:m5.large:us-west-2a`, or the id of the reservation a template targets. */
function poolOf({ template, override, capacityType }: FleetCandidate): string {
  const target = template.data.CapacityReservationSpecification?.CapacityReservationTarget?.CapacityReservationId;
  return target ?? `${capacityType}:${override.InstanceType}:${override.AvailabilityZone}`;
}

function launch(aws: FakeAws, input: CreateFleetCommandInput, candidate: FleetCandidate): string {
  const { template, override } = candidate;
  const { data } = template;
  const tags = input.TagSpecifications?.find(({ ResourceType }) => ResourceType === "instance")?.Tags ?? [];
  const subnet = aws.subnets.find(({ SubnetId }) => SubnetId === override.SubnetId);
  if (subnet?.AvailableIpAddressCount !== undefined) subnet.AvailableIpAddressCount -= 1;
  const reservation = data.CapacityReservationSpecification?.CapacityReservationTarget?.CapacityReservationId;
  const instance: Instance = {
    InstanceId: aws.newId("i"),
    InstanceType: override.InstanceType,
    ImageId: override.ImageId ?? data.ImageId,
    LaunchTime: new Date(aws.now()),
    State: { Name: "running" },
    SubnetId: override.SubnetId,
    VpcId: subnet?.VpcId,
    Placement: {
      AvailabilityZone: subnet?.AvailabilityZone ?? override.AvailabilityZone,
      ...(data.Placement?.GroupId !== undefined && { GroupId: data.Placement.GroupId }),
      ...(data.Placement?.Tenancy !== undefined && { Tenancy: data.Placement.Tenancy }),
      ...(data.Placement?.PartitionNumber !== undefined && { PartitionNumber: data.Placement.PartitionNumber }),
    },
    PrivateDnsName: `${aws.newId("ip")}.${aws.region}.compute.internal`,
    SecurityGroups: (data.NetworkInterfaces?.[0]?.Groups ?? data.SecurityGroupIds ?? []).map((GroupId) => ({
      GroupId,
    })),
    NetworkInterfaces: (data.NetworkInterfaces ?? []).map(({ InterfaceType }) => ({ InterfaceType })),
    ...(data.IamInstanceProfile?.Name && {
      IamInstanceProfile: { Arn: `arn:aws:iam::000000000000:instance-profile/${data.IamInstanceProfile.Name}` },
    }),
    ...(reservation !== undefined && { CapacityReservationId: reservation }),
    CapacityReservationSpecification: {
      CapacityReservationPreference: data.CapacityReservationSpecification?.CapacityReservationPreference,
    },
    ...(candidate.capacityType === "spot" && { InstanceLifecycle: "spot", SpotInstanceRequestId: aws.newId("sir") }),
    Tags: [...tags],
  };
  aws.instances.set(instance.InstanceId ?? "", instance);
  return instance.InstanceId ?? "";
}

function lifecycleOf({ capacityType }: FleetCandidate): "spot" | "on-demand" {
  return capacityType === "spot" ? "spot" : "on-demand";
}

function echoOf({ template, override }: FleetCandidate): LaunchTemplateAndOverridesResponse {
  return {
    LaunchTemplateSpecification: { LaunchTemplateId: template.id, Version: "1" },
    Overrides: {
      InstanceType: override.InstanceType,
      SubnetId: override.SubnetId,
      AvailabilityZone: override.AvailabilityZone,
      ...(override.ImageId !== undefined && { ImageId: override.ImageId }),
      ...(override.Priority !== undefined && { Priority: override.Priority }),
    },
  };
}
