import {
  CreateTagsCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";
import { CreateClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  IAMClient,
} from "@aws-sdk/client-iam";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { interruptionRules } from "../../../src/providers/aws/interruption/interruption-rules.ts";

export const accountId = "123456789012";

/** Instance profiles someone made for classes of older versions, which name one instead of a role. */
const ownProfiles = ["KarpenterNodeInstanceProfile"];

export interface MotoAccountOptions {
  readonly url: string;
  readonly region: string;
  readonly cluster: string;
  readonly kubernetesVersion: string;
}

/** What someone prepares in an account before Karpenter comes: cluster, tagged network, node role, queue and rules. */
export async function prepareAccount(options: MotoAccountOptions): Promise<void> {
  const { url, region, cluster, kubernetesVersion: version } = options;
  const config = { region, endpoint: url, credentials: { accessKeyId: "test", secretAccessKey: "test" } };
  const [ec2, eks, iam, sqs] = [
    new EC2Client(config),
    new EKSClient(config),
    new IAMClient(config),
    new SQSClient(config),
  ];
  const roleArn = `arn:aws:iam::${accountId}:role/KarpenterNodeRole-${cluster}`;
  await iam.send(new CreateRoleCommand({ RoleName: `KarpenterNodeRole-${cluster}`, AssumeRolePolicyDocument: "{}" }));
  for (const InstanceProfileName of ownProfiles) {
    await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName }));
    const RoleName = `KarpenterNodeRole-${cluster}`;
    await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName, RoleName }));
  }
  await eks.send(new CreateClusterCommand({ name: cluster, roleArn, version, resourcesVpcConfig: {} }));
  const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({}));
  const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({}));
  const ids = [...Subnets.map(({ SubnetId }) => SubnetId), ...SecurityGroups.map(({ GroupId }) => GroupId)];
  const Resources = ids.filter((id) => id !== undefined);
  await ec2.send(new CreateTagsCommand({ Resources, Tags: [{ Key: "karpenter.sh/discovery", Value: cluster }] }));
  await sqs.send(new CreateQueueCommand({ QueueName: cluster, Attributes: { MessageRetentionPeriod: "300" } }));
  for (const { name, source, detailType } of interruptionRules) {
    const EventPattern = JSON.stringify({ source: [source], "detail-type": [detailType] });
    await events(url, region, "PutRule", { Name: `${cluster}-${name}`, EventPattern });
    const Arn = `arn:aws:sqs:${region}:${accountId}:${cluster}`;
    await events(url, region, "PutTargets", { Rule: `${cluster}-${name}`, Targets: [{ Id: "queue", Arn }] });
  }
  for (const client of [ec2, eks, iam, sqs]) client.destroy();
}

/** Sends an event to the account's event bus, whose rules bring it to the queue. */
export async function putEvent(
  { url, region }: Pick<MotoAccountOptions, "url" | "region">,
  { source, detailType, detail }: { readonly source: string; readonly detailType: string; readonly detail: object },
): Promise<void> {
  const Entries = [{ Source: source, DetailType: detailType, Detail: JSON.stringify(detail) }];
  await events(url, region, "PutEvents", { Entries });
}

/** A call to EventBridge, for which we have no SDK client. */
async function events(url: string, region: string, action: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.1",
      "x-amz-target": `AWSEvents.${action}`,
      authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/events/aws4_request, SignedHeaders=host, Signature=0`,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${action}: ${response.status} ${await response.text()}`);
}
