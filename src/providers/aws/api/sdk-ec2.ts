import type { EC2Client } from "@aws-sdk/client-ec2";
import type { Ec2Api } from "./aws-api.ts";
import { abortOf, allPages, sdkCall } from "./sdk-call.ts";
import { type SdkClientOptions, sdkClientConfig } from "./sdk-client-options.ts";

/** Page sizes as large as EC2 allows. (04 §1.5–§3.8) */
const pageSizes = {
  instanceTypes: 100,
  typeOfferings: 1_000,
  spotPrices: 2_000,
  subnets: 500,
  securityGroups: 500,
  images: 1_000,
  reservations: 1_000,
  launchTemplates: 200,
  instances: 1_000,
} as const;

type Sdk = typeof import("@aws-sdk/client-ec2");

interface Ec2Clients {
  readonly sdk: Sdk;
  readonly client: EC2Client;
  /** Without retries: a refused dry run is an answer. */
  readonly dryRunClient: EC2Client;
}

/** EC2 through the SDK. */
export async function sdkEc2(options: SdkClientOptions): Promise<Ec2Api> {
  const sdk = await import("@aws-sdk/client-ec2");
  const config = sdkClientConfig(options);
  const client = new sdk.EC2Client(config);
  const dryRunClient = new sdk.EC2Client({ ...config, maxAttempts: 1 });
  const clients = { sdk, client, dryRunClient };
  return { ...catalogueCalls(clients), ...networkCalls(clients), ...launchCalls(clients), ...instanceCalls(clients) };
}

function catalogueCalls({ sdk, client, dryRunClient }: Ec2Clients) {
  return {
    describeInstanceTypes: async (input, options) => {
      if (input.DryRun === true) {
        const command = new sdk.DescribeInstanceTypesCommand(input);
        const send = () => dryRunClient.send(command, abortOf(options));
        return (await sdkCall("ec2:DescribeInstanceTypes", send)).InstanceTypes ?? [];
      }
      const config = { client, pageSize: pageSizes.instanceTypes };
      const pages = sdk.paginateDescribeInstanceTypes(config, input, abortOf(options));
      return allPages("ec2:DescribeInstanceTypes", pages, ({ InstanceTypes }) => InstanceTypes);
    },
    describeInstanceTypeOfferings: (input, options) => {
      const config = { client, pageSize: pageSizes.typeOfferings };
      const pages = sdk.paginateDescribeInstanceTypeOfferings(config, input, abortOf(options));
      return allPages("ec2:DescribeInstanceTypeOfferings", pages, (page) => page.InstanceTypeOfferings);
    },
    describeSpotPriceHistory: (input, options) => {
      const config = { client, pageSize: pageSizes.spotPrices };
      const pages = sdk.paginateDescribeSpotPriceHistory(config, input, abortOf(options));
      return allPages("ec2:DescribeSpotPriceHistory", pages, ({ SpotPriceHistory }) => SpotPriceHistory);
    },
    describeImages: (input, options) => {
      const pages = sdk.paginateDescribeImages({ client, pageSize: pageSizes.images }, input, abortOf(options));
      return allPages("ec2:DescribeImages", pages, ({ Images }) => Images);
    },
  } satisfies Partial<Ec2Api>;
}

function networkCalls({ sdk, client }: Ec2Clients) {
  return {
    describeSubnets: (input, options) => {
      const pages = sdk.paginateDescribeSubnets({ client, pageSize: pageSizes.subnets }, input, abortOf(options));
      return allPages("ec2:DescribeSubnets", pages, ({ Subnets }) => Subnets);
    },
    describeSecurityGroups: (input, options) => {
      const config = { client, pageSize: pageSizes.securityGroups };
      const pages = sdk.paginateDescribeSecurityGroups(config, input, abortOf(options));
      return allPages("ec2:DescribeSecurityGroups", pages, ({ SecurityGroups }) => SecurityGroups);
    },
    describeCapacityReservations: (input, options) => {
      // EC2 refuses a page size together with ids.
      const byId = (input.CapacityReservationIds ?? []).length > 0;
      const config = byId ? { client } : { client, pageSize: pageSizes.reservations };
      const pages = sdk.paginateDescribeCapacityReservations(config, input, abortOf(options));
      return allPages("ec2:DescribeCapacityReservations", pages, ({ CapacityReservations }) => CapacityReservations);
    },
    describePlacementGroups: async (input, options) => {
      const command = new sdk.DescribePlacementGroupsCommand(input);
      const answer = await sdkCall("ec2:DescribePlacementGroups", () => client.send(command, abortOf(options)));
      return answer.PlacementGroups ?? [];
    },
  } satisfies Partial<Ec2Api>;
}

function launchCalls({ sdk, client, dryRunClient }: Ec2Clients) {
  return {
    describeLaunchTemplates: (input, options) => {
      const config = { client, pageSize: pageSizes.launchTemplates };
      const pages = sdk.paginateDescribeLaunchTemplates(config, input, abortOf(options));
      return allPages("ec2:DescribeLaunchTemplates", pages, ({ LaunchTemplates }) => LaunchTemplates);
    },
    createLaunchTemplate: (input, options) => {
      const command = new sdk.CreateLaunchTemplateCommand(input);
      return sdkCall("ec2:CreateLaunchTemplate", () => client.send(command, abortOf(options)));
    },
    deleteLaunchTemplate: async (input, options) => {
      const command = new sdk.DeleteLaunchTemplateCommand(input);
      await sdkCall("ec2:DeleteLaunchTemplate", () => client.send(command, abortOf(options)));
    },
    createFleet: (input, options) => {
      const command = new sdk.CreateFleetCommand(input);
      const chosen = input.DryRun === true ? dryRunClient : client;
      return sdkCall("ec2:CreateFleet", () => chosen.send(command, abortOf(options)));
    },
    runInstances: async (input, options) => {
      const command = new sdk.RunInstancesCommand(input);
      await sdkCall("ec2:RunInstances", () => dryRunClient.send(command, abortOf(options)));
    },
  } satisfies Partial<Ec2Api>;
}

function instanceCalls({ sdk, client }: Ec2Clients) {
  return {
    describeInstances: (input, options) => {
      const byId = (input.InstanceIds ?? []).length > 0;
      const config = byId ? { client } : { client, pageSize: pageSizes.instances };
      const pages = sdk.paginateDescribeInstances(config, input, abortOf(options));
      return allPages("ec2:DescribeInstances", pages, ({ Reservations = [] }) =>
        Reservations.flatMap(({ Instances = [] }) => Instances),
      );
    },
    describeInstanceStatus: (input, options) => {
      const config = { client, pageSize: pageSizes.instances };
      const pages = sdk.paginateDescribeInstanceStatus(config, input, abortOf(options));
      return allPages("ec2:DescribeInstanceStatus", pages, ({ InstanceStatuses }) => InstanceStatuses);
    },
    terminateInstances: async (input, options) => {
      const command = new sdk.TerminateInstancesCommand(input);
      const answer = await sdkCall("ec2:TerminateInstances", () => client.send(command, abortOf(options)));
      return answer.TerminatingInstances ?? [];
    },
    createTags: async (input, options) => {
      const command = new sdk.CreateTagsCommand(input);
      await sdkCall("ec2:CreateTags", () => client.send(command, abortOf(options)));
    },
  } satisfies Partial<Ec2Api>;
}
