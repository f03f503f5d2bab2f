import { awsLabels, labels } from "../../../api/labels.ts";
import { type PolicyDocument, type PolicyStatement, policyDocument } from "./policy-document.ts";

/** Where the policies apply. In CloudFormation partition, region and account are its own variables. */
export interface PolicyScope {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly cluster: string;
  /** The name of the interruption queue. */
  readonly queue: string;
  /** The name of the role of nodes. */
  readonly nodeRole: string;
}

/** The policies by what they are for, as upstream groups them. */
export interface ControllerPolicies {
  readonly NodeLifecycle: PolicyDocument;
  readonly IAMIntegration: PolicyDocument;
  readonly EKSIntegration: PolicyDocument;
  readonly Interruption: PolicyDocument;
  readonly ZonalShift: PolicyDocument;
  readonly ResourceDiscovery: PolicyDocument;
}

const clusterTag = "eks:eks-cluster-name";

/** All that the controller needs, and no more: what it creates and deletes carries the cluster's tags. (04 §5.6) */
export function controllerPolicies(scope: PolicyScope): ControllerPolicies {
  return {
    NodeLifecycle: nodeLifecycle(scope),
    IAMIntegration: iamIntegration(scope),
    EKSIntegration: policyDocument(
      allow("AllowAPIServerEndpointDiscovery", ["eks:DescribeCluster"], [clusterArn(scope)]),
    ),
    Interruption: policyDocument(
      allow(
        "AllowInterruptionQueueActions",
        ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
        [queueArn(scope)],
      ),
    ),
    ZonalShift: policyDocument({
      ...allow("AllowZonalShiftStatusReadOnly", ["arc-zonal-shift:GetManagedResource"], ["*"]),
      Condition: { StringEquals: { "arc-zonal-shift:ResourceIdentifier": clusterArn(scope) } },
    }),
    ResourceDiscovery: resourceDiscovery(scope),
  };
}

export function queueArn({ partition, region, account, queue }: PolicyScope): string {
  return `arn:${partition}:sqs:${region}:${account}:${queue}`;
}

function clusterArn({ partition, region, account, cluster }: PolicyScope): string {
  return `arn:${partition}:eks:${region}:${account}:cluster/${cluster}`;
}

function allow(Sid: string, Action: readonly string[], Resource: readonly string[]): PolicyStatement {
  return { Sid, Effect: "Allow", Action, Resource };
}

/** What is launched, and what is created by it. */
const launched = ["fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request"];

function nodeLifecycle(scope: PolicyScope): PolicyDocument {
  const { partition, region, cluster } = scope;
  const ec2 = (kind: string, account = "*"): string => `arn:${partition}:ec2:${region}:${account}:${kind}/*`;
  const owned = `kubernetes.io/cluster/${cluster}`;
  const anyPool = (of: "ResourceTag" | "RequestTag") => ({ [`aws:${of}/${labels.nodePool}`]: "*" });
  const ofCluster = { [`aws:ResourceTag/${owned}`]: "owned" };
  const forCluster = { [`aws:RequestTag/${owned}`]: "owned", [`aws:RequestTag/${clusterTag}`]: cluster };
  const launches = ["ec2:RunInstances", "ec2:CreateFleet"];
  return policyDocument(
    allow("AllowScopedEC2InstanceAccessActions", launches, [
      ec2("image", ""),
      ec2("snapshot", ""),
      ...["security-group", "subnet", "capacity-reservation", "placement-group"].map((kind) => ec2(kind)),
    ]),
    {
      ...allow("AllowScopedEC2LaunchTemplateAccessActions", launches, [ec2("launch-template")]),
      Condition: { StringEquals: ofCluster, StringLike: anyPool("ResourceTag") },
    },
    {
      ...allow(
        "AllowScopedEC2InstanceActionsWithTags",
        [...launches, "ec2:CreateLaunchTemplate"],
        launched.map((kind) => ec2(kind)),
      ),
      Condition: { StringEquals: forCluster, StringLike: anyPool("RequestTag") },
    },
    {
      ...allow(
        "AllowScopedResourceCreationTagging",
        ["ec2:CreateTags"],
        launched.map((kind) => ec2(kind)),
      ),
      Condition: {
        StringEquals: { ...forCluster, "ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"] },
        StringLike: anyPool("RequestTag"),
      },
    },
    {
      ...allow("AllowScopedResourceTagging", ["ec2:CreateTags"], [ec2("instance")]),
      Condition: {
        StringEquals: ofCluster,
        StringLike: anyPool("ResourceTag"),
        StringEqualsIfExists: { [`aws:RequestTag/${clusterTag}`]: cluster },
        "ForAllValues:StringEquals": { "aws:TagKeys": [clusterTag, "karpenter.sh/nodeclaim", "Name"] },
      },
    },
    {
      ...allow(
        "AllowScopedDeletion",
        ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
        [ec2("instance"), ec2("launch-template")],
      ),
      Condition: { StringEquals: ofCluster, StringLike: anyPool("ResourceTag") },
    },
  );
}

function iamIntegration({ partition, region, account, cluster, nodeRole }: PolicyScope): PolicyDocument {
  const profiles = [`arn:${partition}:iam::${account}:instance-profile/*`];
  const owned = `kubernetes.io/cluster/${cluster}`;
  const ofCluster = {
    [`aws:ResourceTag/${owned}`]: "owned",
    [`aws:ResourceTag/${labels.region}`]: region,
  };
  const forCluster = {
    [`aws:RequestTag/${owned}`]: "owned",
    [`aws:RequestTag/${clusterTag}`]: cluster,
    [`aws:RequestTag/${labels.region}`]: region,
  };
  const ofClass = { [`aws:ResourceTag/${awsLabels.nodeClass}`]: "*" };
  const forClass = { [`aws:RequestTag/${awsLabels.nodeClass}`]: "*" };
  return policyDocument(
    {
      ...allow("AllowPassingInstanceRole", ["iam:PassRole"], [`arn:${partition}:iam::${account}:role/${nodeRole}`]),
      Condition: { StringEquals: { "iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"] } },
    },
    {
      ...allow("AllowScopedInstanceProfileCreationActions", ["iam:CreateInstanceProfile"], profiles),
      Condition: { StringEquals: forCluster, StringLike: forClass },
    },
    {
      ...allow("AllowScopedInstanceProfileTagActions", ["iam:TagInstanceProfile"], profiles),
      Condition: { StringEquals: { ...ofCluster, ...forCluster }, StringLike: { ...ofClass, ...forClass } },
    },
    {
      ...allow(
        "AllowScopedInstanceProfileActions",
        ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
        profiles,
      ),
      Condition: { StringEquals: ofCluster, StringLike: ofClass },
    },
  );
}

const regionalReads = [
  "CapacityReservations",
  "Images",
  "Instances",
  "InstanceStatus",
  "InstanceTypeOfferings",
  "InstanceTypes",
  "LaunchTemplates",
  "PlacementGroups",
  "SecurityGroups",
  "SpotPriceHistory",
  "Subnets",
];

function resourceDiscovery({ partition, region, account }: PolicyScope): PolicyDocument {
  return policyDocument(
    {
      ...allow(
        "AllowRegionalReadActions",
        regionalReads.map((what) => `ec2:Describe${what}`),
        ["*"],
      ),
      Condition: { StringEquals: { "aws:RequestedRegion": region } },
    },
    allow("AllowSSMReadActions", ["ssm:GetParameter"], [`arn:${partition}:ssm:${region}::parameter/aws/service/*`]),
    allow("AllowPricingReadActions", ["pricing:GetProducts"], ["*"]),
    allow("AllowUnscopedInstanceProfileListAction", ["iam:ListInstanceProfiles"], ["*"]),
    allow(
      "AllowInstanceProfileReadActions",
      ["iam:GetInstanceProfile"],
      [`arn:${partition}:iam::${account}:instance-profile/*`],
    ),
  );
}
