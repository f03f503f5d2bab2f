import { interruptionRules } from "../interruption/interruption-rules.ts";
import { type AccountResources, accountResources } from "./account-resources.ts";
import type { PolicyScope } from "./controller-policies.ts";

/** The names CloudFormation has for where a stack is. */
const stackScope = {
  partition: "$" + "{AWS::Partition}",
  region: "$" + "{AWS::Region}",
  account: "$" + "{AWS::AccountId}",
} as const;

type Template = Readonly<Record<string, unknown>>;

/** A CloudFormation template of everything an account needs before Karpenter comes, for any region and account. */
export function cloudFormationTemplate(scope: Pick<PolicyScope, "cluster" | "queue" | "nodeRole">): Template {
  const resources = accountResources({ ...stackScope, ...scope });
  return withSubstitutions({
    AWSTemplateFormatVersion: "2010-09-09",
    Description: `What Karpenter needs to run nodes for the cluster ${scope.cluster}`,
    Resources: {
      KarpenterNodeRole: nodeRoleResource(resources),
      ...policyResources(resources, scope),
      ...queueResources(resources),
      ...ruleResources(resources),
    },
  }) as Template;
}

function nodeRoleResource({ nodeRole: { name, trustPolicy, managedPolicyArns } }: AccountResources): Template {
  return {
    Type: "AWS::IAM::Role",
    Properties: {
      RoleName: name,
      Path: "/",
      AssumeRolePolicyDocument: trustPolicy,
      ManagedPolicyArns: managedPolicyArns,
    },
  };
}

function policyResources(
  { controllerPolicies }: AccountResources,
  { cluster }: Pick<PolicyScope, "cluster">,
): Template {
  return Object.fromEntries(
    Object.entries(controllerPolicies).map(([group, PolicyDocument]) => [
      `KarpenterController${group}Policy`,
      {
        Type: "AWS::IAM::ManagedPolicy",
        Properties: { ManagedPolicyName: `KarpenterController${group}Policy-${cluster}`, PolicyDocument },
      },
    ]),
  );
}

function queueResources({ queue: { name, messageRetentionSeconds, policy } }: AccountResources): Template {
  return {
    KarpenterInterruptionQueue: {
      Type: "AWS::SQS::Queue",
      Properties: {
        QueueName: name,
        MessageRetentionPeriod: messageRetentionSeconds,
        SqsManagedSseEnabled: true,
      },
    },
    KarpenterInterruptionQueuePolicy: {
      Type: "AWS::SQS::QueuePolicy",
      Properties: { Queues: [{ Ref: "KarpenterInterruptionQueue" }], PolicyDocument: policy },
    },
  };
}

function ruleResources({ rules }: AccountResources): Template {
  return Object.fromEntries(
    rules.map(({ eventPattern }, index) => [
      `${interruptionRules[index]?.name}Rule`,
      {
        Type: "AWS::Events::Rule",
        Properties: {
          EventPattern: eventPattern,
          Targets: [
            {
              Id: "KarpenterInterruptionQueueTarget",
              Arn: { "Fn::GetAtt": ["KarpenterInterruptionQueue", "Arn"] },
            },
          ],
        },
      },
    ]),
  );
}

/** Texts that name a variable of the stack have to be marked. */
function withSubstitutions(value: unknown): unknown {
  if (typeof value === "string") return value.includes("${AWS::") ? { "Fn::Sub": value } : value;
  if (Array.isArray(value)) return value.map(withSubstitutions);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withSubstitutions(inner)]));
}
