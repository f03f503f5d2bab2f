import type { EksApi, PricingApi, SqsApi, SsmApi } from "./aws-api.ts";
import { AwsError } from "./aws-error.ts";
import { abortOf, allPages, sdkCall } from "./sdk-call.ts";
import { type SdkClientOptions, sdkClientConfig } from "./sdk-client-options.ts";

const pricingPageSize = 100;

/** How messages are received. (04 §4.1) */
const receiving = {
  MaxNumberOfMessages: 10,
  VisibilityTimeout: 20,
  WaitTimeSeconds: 20,
  MessageSystemAttributeNames: ["SentTimestamp"],
  MessageAttributeNames: ["All"],
} as const;

/** SSM through the SDK. */
export async function sdkSsm(clientOptions: SdkClientOptions): Promise<SsmApi> {
  const sdk = await import("@aws-sdk/client-ssm");
  const client = new sdk.SSMClient(sdkClientConfig(clientOptions));
  return {
    getParameter: async (Name, options) => {
      const command = new sdk.GetParameterCommand({ Name });
      const answer = await sdkCall("ssm:GetParameter", () => client.send(command, abortOf(options)));
      return answer.Parameter?.Value ?? "";
    },
  };
}

/** EKS through the SDK. */
export async function sdkEks(clientOptions: SdkClientOptions): Promise<EksApi> {
  const sdk = await import("@aws-sdk/client-eks");
  const client = new sdk.EKSClient(sdkClientConfig(clientOptions));
  return {
    describeCluster: async (name, options) => {
      const command = new sdk.DescribeClusterCommand({ name });
      const { cluster } = await sdkCall("eks:DescribeCluster", () => client.send(command, abortOf(options)));
      if (cluster !== undefined) return cluster;
      throw new AwsError("eks:DescribeCluster", "ResourceNotFoundException", `no cluster ${name} in the answer`);
    },
  };
}

/** The price list through the SDK, from the endpoint that serves the region. */
export async function sdkPricing(clientOptions: SdkClientOptions): Promise<PricingApi> {
  const sdk = await import("@aws-sdk/client-pricing");
  const client = new sdk.PricingClient(
    sdkClientConfig({ ...clientOptions, region: pricingRegionOf(clientOptions.region) }),
  );
  return {
    getProducts: (input, options) => {
      const pages = sdk.paginateGetProducts({ client, pageSize: pricingPageSize }, input, abortOf(options));
      return allPages("pricing:GetProducts", pages, ({ PriceList }) => PriceList?.map(String));
    },
  };
}

/** The price list is served from few regions. (04 §2.6) */
export function pricingRegionOf(region: string): string {
  if (region.startsWith("ap-")) return "ap-south-1";
  if (region.startsWith("cn-")) return "cn-northwest-1";
  if (region.startsWith("eu-")) return "eu-central-1";
  return "us-east-1";
}

/** SQS through the SDK. */
export async function sdkSqs(clientOptions: SdkClientOptions): Promise<SqsApi> {
  const sdk = await import("@aws-sdk/client-sqs");
  const client = new sdk.SQSClient(sdkClientConfig(clientOptions));
  return {
    getQueueUrl: async (QueueName, options) => {
      const command = new sdk.GetQueueUrlCommand({ QueueName });
      const { QueueUrl } = await sdkCall("sqs:GetQueueUrl", () => client.send(command, abortOf(options)));
      if (QueueUrl !== undefined) return QueueUrl;
      throw new AwsError("sqs:GetQueueUrl", "QueueDoesNotExist", `no URL of queue ${QueueName} in the answer`);
    },
    receiveMessages: async (QueueUrl, options) => {
      const { MessageSystemAttributeNames, MessageAttributeNames, ...limits } = receiving;
      const command = new sdk.ReceiveMessageCommand({
        QueueUrl,
        ...limits,
        MessageSystemAttributeNames: [...MessageSystemAttributeNames],
        MessageAttributeNames: [...MessageAttributeNames],
      });
      const answer = await sdkCall("sqs:ReceiveMessage", () => client.send(command, abortOf(options)));
      return answer.Messages ?? [];
    },
    deleteMessage: async (QueueUrl, ReceiptHandle, options) => {
      const command = new sdk.DeleteMessageCommand({ QueueUrl, ReceiptHandle });
      await sdkCall("sqs:DeleteMessage", () => client.send(command, abortOf(options)));
    },
  };
}
