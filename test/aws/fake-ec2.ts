import type { CapacityReservation, Image, Instance, InstanceStatus, LaunchTemplate } from "@aws-sdk/client-ec2";
import type { Ec2Api } from "../../src/providers/aws/api/aws-api.ts";
import { AwsError } from "../../src/providers/aws/api/aws-error.ts";
import { matchesFilters, tagFields } from "./ec2-filters.ts";
import type { FakeAws } from "./fake-aws.ts";
import { createFakeFleet, type StoredLaunchTemplate } from "./fake-fleet.ts";

/** EC2 of the fake account. */
export function fakeEc2(aws: FakeAws): Ec2Api {
  const call = <T>(operation: string, input: unknown, run: () => T): Promise<T> =>
    aws.call("ec2", operation, input, run);
  return {
    describeInstanceTypes: (input) =>
      call("DescribeInstanceTypes", input, () => {
        refuseDryRun("DescribeInstanceTypes", input.DryRun);
        return aws.instanceTypes;
      }),
    describeInstanceTypeOfferings: (input) => call("DescribeInstanceTypeOfferings", input, () => aws.typeOfferings),
    describeSpotPriceHistory: (input) => call("DescribeSpotPriceHistory", input, () => aws.spotPrices),
    describeSubnets: (input) =>
      call("DescribeSubnets", input, () =>
        aws.subnets
          .filter(({ SubnetId, VpcId, AvailabilityZone, Tags }) =>
            matchesFilters(input.Filters, {
              "subnet-id": [SubnetId],
              "vpc-id": [VpcId],
              "availability-zone": [AvailabilityZone],
              ...tagFields(Tags),
            }),
          )
          .map((subnet) => ({ ...subnet })),
      ),
    describeSecurityGroups: (input) =>
      call("DescribeSecurityGroups", input, () =>
        aws.securityGroups.filter(({ GroupId, GroupName, Tags }) =>
          matchesFilters(input.Filters, { "group-id": [GroupId], "group-name": [GroupName], ...tagFields(Tags) }),
        ),
      ),
    describeImages: (input) =>
      call("DescribeImages", input, () =>
        aws.images.filter((image) => isOwned(image, input.Owners) && matchesFilters(input.Filters, imageFields(image))),
      ),
    describeCapacityReservations: (input) =>
      call("DescribeCapacityReservations", input, () => {
        const ids = input.CapacityReservationIds ?? [];
        const missing = ids.find((id) => !aws.capacityReservations.some((one) => one.CapacityReservationId === id));
        if (missing !== undefined)
          throw notFound("DescribeCapacityReservations", "InvalidCapacityReservationId.NotFound", missing);
        return aws.capacityReservations.filter(
          (one) =>
            (ids.length === 0 || ids.includes(one.CapacityReservationId ?? "")) &&
            matchesFilters(input.Filters, reservationFields(one)),
        );
      }),
    describePlacementGroups: (input) =>
      call("DescribePlacementGroups", input, () => {
        const { GroupIds = [], GroupNames = [] } = input;
        const found = aws.placementGroups.filter(
          ({ GroupId = "", GroupName = "" }) =>
            (GroupIds.length === 0 || GroupIds.includes(GroupId)) &&
            (GroupNames.length === 0 || GroupNames.includes(GroupName)),
        );
        if (found.length === 0 && GroupIds.length + GroupNames.length > 0) {
          throw notFound(
            "DescribePlacementGroups",
            "InvalidPlacementGroup.Unknown",
            [...GroupIds, ...GroupNames].join(),
          );
        }
        return found.filter(({ State, Tags, Strategy }) =>
          matchesFilters(input.Filters, { state: [State], strategy: [Strategy], ...tagFields(Tags) }),
        );
      }),
    describeLaunchTemplates: (input) =>
      call("DescribeLaunchTemplates", input, () => {
        const names = input.LaunchTemplateNames ?? [];
        const missing = names.find((name) => !aws.launchTemplates.has(name));
        if (missing !== undefined) {
          throw notFound("DescribeLaunchTemplates", "InvalidLaunchTemplateName.NotFoundException", missing);
        }
        return [...aws.launchTemplates.values()]
          .filter(({ name }) => names.length === 0 || names.includes(name))
          .filter(({ name, tags }) =>
            matchesFilters(input.Filters, { "launch-template-name": [name], ...tagFields(tags) }),
          )
          .map(describedTemplate);
      }),
    createLaunchTemplate: (input) =>
      call("CreateLaunchTemplate", input, () => {
        refuseDryRun("CreateLaunchTemplate", input.DryRun);
        const name = input.LaunchTemplateName ?? "";
        if (aws.launchTemplates.has(name)) {
          throw new AwsError(
            "ec2:CreateLaunchTemplate",
            "InvalidLaunchTemplateName.AlreadyExistsException",
            `Launch template name ${name} is already in use.`,
            { status: 400 },
          );
        }
        const tags = (input.TagSpecifications ?? []).flatMap(({ Tags = [] }) => Tags);
        const stored = { id: aws.newId("lt"), name, data: input.LaunchTemplateData ?? {}, tags };
        aws.launchTemplates.set(name, stored);
        return { $metadata: {}, LaunchTemplate: describedTemplate(stored) };
      }),
    deleteLaunchTemplate: (input) =>
      call("DeleteLaunchTemplate", input, () => {
        const found = [...aws.launchTemplates.values()].find(
          ({ id, name }) => id === input.LaunchTemplateId || name === input.LaunchTemplateName,
        );
        if (found === undefined) {
          const asked = input.LaunchTemplateName ?? input.LaunchTemplateId ?? "";
          throw notFound("DeleteLaunchTemplate", "InvalidLaunchTemplateId.NotFound", asked);
        }
        aws.launchTemplates.delete(found.name);
      }),
    createFleet: (input) =>
      call("CreateFleet", input, () => {
        refuseDryRun("CreateFleet", input.DryRun);
        return createFakeFleet(aws, input);
      }),
    runInstances: (input) => call("RunInstances", input, () => refuseDryRun("RunInstances", input.DryRun)),
    describeInstances: (input) =>
      call("DescribeInstances", input, () => {
        const ids = input.InstanceIds ?? [];
        const missing = ids.find((id) => !aws.instances.has(id));
        if (missing !== undefined) throw notFound("DescribeInstances", "InvalidInstanceID.NotFound", missing);
        return aws
          .describeInstances()
          .filter(({ InstanceId = "" }) => ids.length === 0 || ids.includes(InstanceId))
          .filter((instance) => matchesFilters(input.Filters, instanceFields(instance)));
      }),
    describeInstanceStatus: (input) =>
      call("DescribeInstanceStatus", input, () =>
        aws.instanceStatuses.filter((status) => matchesFilters(input.Filters, statusFields(status))),
      ),
    terminateInstances: (input) =>
      call("TerminateInstances", input, () => {
        const ids = input.InstanceIds ?? [];
        const missing = ids.find((id) => !aws.instances.has(id));
        if (missing !== undefined) throw notFound("TerminateInstances", "InvalidInstanceID.NotFound", missing);
        return ids.map((InstanceId) => {
          aws.terminate(InstanceId);
          return { InstanceId, CurrentState: { Name: "shutting-down" as const } };
        });
      }),
    createTags: (input) =>
      call("CreateTags", input, () => {
        for (const id of input.Resources ?? []) {
          const instance = aws.instances.get(id);
          if (instance === undefined) throw notFound("CreateTags", "InvalidInstanceID.NotFound", id);
          const keys = new Set((input.Tags ?? []).map(({ Key }) => Key));
          instance.Tags = [...(instance.Tags ?? []).filter(({ Key }) => !keys.has(Key)), ...(input.Tags ?? [])];
        }
      }),
  };
}

/** AWS says by an error that a dry run would have been allowed. */
function refuseDryRun(operation: string, isDryRun: boolean | undefined): void {
  if (isDryRun !== true) return;
  const message = "Request would have succeeded, but DryRun flag is set.";
  throw new AwsError(`ec2:${operation}`, "DryRunOperation", message, { status: 412 });
}

function notFound(operation: string, code: string, what: string): AwsError {
  return new AwsError(`ec2:${operation}`, code, `${what} does not exist`, { status: 400 });
}

function describedTemplate({ id, name, tags }: StoredLaunchTemplate): LaunchTemplate {
  return { LaunchTemplateId: id, LaunchTemplateName: name, Tags: [...tags] };
}

/** `self` owns what has no owner alias. */
function isOwned(image: Image, owners: readonly string[] | undefined): boolean {
  return (
    owners === undefined ||
    owners.some((owner) => owner === (image.ImageOwnerAlias ?? "self") || owner === image.OwnerId)
  );
}

function imageFields({ ImageId, Name, State = "available", Tags, Architecture }: Image) {
  return { "image-id": [ImageId], name: [Name], state: [State], architecture: [Architecture], ...tagFields(Tags) };
}

function reservationFields({
  State,
  OwnerId,
  InstanceMatchCriteria,
  Tags,
  CapacityReservationId,
}: CapacityReservation) {
  return {
    state: [State],
    "owner-id": [OwnerId],
    "instance-match-criteria": [InstanceMatchCriteria],
    "capacity-reservation-id": [CapacityReservationId],
    ...tagFields(Tags),
  };
}

function instanceFields({ InstanceId, State, Tags }: Instance) {
  return { "instance-id": [InstanceId], "instance-state-name": [State?.Name], ...tagFields(Tags) };
}

function statusFields({ InstanceStatus: instance, SystemStatus: system, Events = [] }: InstanceStatus) {
  return {
    "instance-status.status": [instance?.Status],
    "system-status.status": [system?.Status],
    "event.code": Events.map(({ Code }) => Code),
  };
}
