import type * as ec2 from "@aws-sdk/client-ec2";
import type { Cluster } from "@aws-sdk/client-eks";
import type * as iam from "@aws-sdk/client-iam";
import type { GetProductsCommandInput } from "@aws-sdk/client-pricing";
import type { Message } from "@aws-sdk/client-sqs";

// The calls we make (04 §5.7), with the SDK's own shapes. Only types come from the SDK here, so nothing of it is loaded.
// Calls that list return everything: pages are joined behind the interface. A refusal of AWS throws `AwsError`.

/** What ends a call early. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Ec2Api {
  describeInstanceTypes(
    input: ec2.DescribeInstanceTypesCommandInput,
    options?: CallOptions,
  ): Promise<ec2.InstanceTypeInfo[]>;
  describeInstanceTypeOfferings(
    input: ec2.DescribeInstanceTypeOfferingsCommandInput,
    options?: CallOptions,
  ): Promise<ec2.InstanceTypeOffering[]>;
  describeSpotPriceHistory(
    input: ec2.DescribeSpotPriceHistoryCommandInput,
    options?: CallOptions,
  ): Promise<ec2.SpotPrice[]>;
  describeSubnets(input: ec2.DescribeSubnetsCommandInput, options?: CallOptions): Promise<ec2.Subnet[]>;
  describeSecurityGroups(
    input: ec2.DescribeSecurityGroupsCommandInput,
    options?: CallOptions,
  ): Promise<ec2.SecurityGroup[]>;
  describeImages(input: ec2.DescribeImagesCommandInput, options?: CallOptions): Promise<ec2.Image[]>;
  describeCapacityReservations(
    input: ec2.DescribeCapacityReservationsCommandInput,
    options?: CallOptions,
  ): Promise<ec2.CapacityReservation[]>;
  describePlacementGroups(
    input: ec2.DescribePlacementGroupsCommandInput,
    options?: CallOptions,
  ): Promise<ec2.PlacementGroup[]>;
  describeLaunchTemplates(
    input: ec2.DescribeLaunchTemplatesCommandInput,
    options?: CallOptions,
  ): Promise<ec2.LaunchTemplate[]>;
  createLaunchTemplate(
    input: ec2.CreateLaunchTemplateCommandInput,
    options?: CallOptions,
  ): Promise<ec2.CreateLaunchTemplateCommandOutput>;
  deleteLaunchTemplate(input: ec2.DeleteLaunchTemplateCommandInput, options?: CallOptions): Promise<void>;
  createFleet(input: ec2.CreateFleetCommandInput, options?: CallOptions): Promise<ec2.CreateFleetCommandOutput>;
  /** Only with `DryRun`, which AWS answers with an error: `DryRunOperation` means that it would have been allowed. */
  runInstances(input: ec2.RunInstancesCommandInput & { readonly DryRun: true }, options?: CallOptions): Promise<void>;
  describeInstances(input: ec2.DescribeInstancesCommandInput, options?: CallOptions): Promise<ec2.Instance[]>;
  describeInstanceStatus(
    input: ec2.DescribeInstanceStatusCommandInput,
    options?: CallOptions,
  ): Promise<ec2.InstanceStatus[]>;
  terminateInstances(
    input: ec2.TerminateInstancesCommandInput,
    options?: CallOptions,
  ): Promise<ec2.InstanceStateChange[]>;
  createTags(input: ec2.CreateTagsCommandInput, options?: CallOptions): Promise<void>;
}

export interface IamApi {
  getInstanceProfile(name: string, options?: CallOptions): Promise<iam.InstanceProfile>;
  createInstanceProfile(
    input: iam.CreateInstanceProfileCommandInput,
    options?: CallOptions,
  ): Promise<iam.InstanceProfile>;
  deleteInstanceProfile(name: string, options?: CallOptions): Promise<void>;
  tagInstanceProfile(input: iam.TagInstanceProfileCommandInput, options?: CallOptions): Promise<void>;
  addRoleToInstanceProfile(input: iam.AddRoleToInstanceProfileCommandInput, options?: CallOptions): Promise<void>;
  removeRoleFromInstanceProfile(
    input: iam.RemoveRoleFromInstanceProfileCommandInput,
    options?: CallOptions,
  ): Promise<void>;
  listInstanceProfiles(
    input: iam.ListInstanceProfilesCommandInput,
    options?: CallOptions,
  ): Promise<iam.InstanceProfile[]>;
  getRole(name: string, options?: CallOptions): Promise<iam.Role>;
}

export interface SsmApi {
  /** The value of a parameter. */
  getParameter(name: string, options?: CallOptions): Promise<string>;
}

export interface EksApi {
  describeCluster(name: string, options?: CallOptions): Promise<Cluster>;
}

export interface PricingApi {
  /** Each product as the JSON text that AWS sends. */
  getProducts(input: GetProductsCommandInput, options?: CallOptions): Promise<string[]>;
}

export interface SqsApi {
  getQueueUrl(name: string, options?: CallOptions): Promise<string>;
  receiveMessages(queueUrl: string, options?: CallOptions): Promise<Message[]>;
  deleteMessage(queueUrl: string, receiptHandle: string, options?: CallOptions): Promise<void>;
}

export interface ZonalShiftApi {
  /** Zone ids the cluster is shifted away from now. */
  shiftedZoneIds(clusterArn: string, options?: CallOptions): Promise<string[]>;
}

/** All services of one region. */
export interface AwsApi {
  readonly region: string;
  readonly ec2: Ec2Api;
  readonly iam: IamApi;
  readonly ssm: SsmApi;
  readonly eks: EksApi;
  readonly pricing: PricingApi;
  readonly sqs: SqsApi;
  readonly zonalShift: ZonalShiftApi;
}
