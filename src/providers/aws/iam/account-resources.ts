import { interruptionRules } from "../interruption/interruption-rules.ts";
import { type ControllerPolicies, controllerPolicies, type PolicyScope, queueArn } from "./controller-policies.ts";
import { type PolicyDocument, policyDocument } from "./policy-document.ts";

/** Events are worth something for minutes only. (04 §4.5) */
const retentionSeconds = 300;

const managedPolicies = [
  "AmazonEKS_CNI_Policy",
  "AmazonEKSWorkerNodePolicy",
  "AmazonEC2ContainerRegistryPullOnly",
  "AmazonSSMManagedInstanceCore",
];

/** What an account needs before Karpenter comes. (04 §4.5, §5.6) */
export interface AccountResources {
  readonly controllerPolicies: ControllerPolicies;
  readonly nodeRole: {
    readonly name: string;
    readonly trustPolicy: PolicyDocument;
    readonly managedPolicyArns: readonly string[];
  };
  readonly queue: {
    readonly name: string;
    readonly messageRetentionSeconds: number;
    readonly policy: PolicyDocument;
  };
  readonly rules: readonly {
    readonly name: string;
    readonly eventPattern: { readonly source: readonly string[]; readonly "detail-type": readonly string[] };
  }[];
}

export function accountResources(scope: PolicyScope): AccountResources {
  const { partition, cluster, queue, nodeRole } = scope;
  return {
    controllerPolicies: controllerPolicies(scope),
    nodeRole: {
      name: nodeRole,
      trustPolicy: policyDocument({
        Sid: "AllowNodes",
        Effect: "Allow",
        Principal: { Service: "ec2.amazonaws.com" },
        Action: "sts:AssumeRole",
      }),
      managedPolicyArns: managedPolicies.map((name) => `arn:${partition}:iam::aws:policy/${name}`),
    },
    queue: { name: queue, messageRetentionSeconds: retentionSeconds, policy: queuePolicy(queueArn(scope)) },
    rules: interruptionRules.map(({ name, source, detailType }) => ({
      name: `${cluster}-${name}`,
      eventPattern: { source: [source], "detail-type": [detailType] },
    })),
  };
}

function queuePolicy(arn: string): PolicyDocument {
  return policyDocument(
    {
      Sid: "AllowEvents",
      Effect: "Allow",
      Principal: { Service: ["events.amazonaws.com", "sqs.amazonaws.com"] },
      Action: "sqs:SendMessage",
      Resource: arn,
    },
    {
      Sid: "DenyHTTP",
      Effect: "Deny",
      Principal: "*",
      Action: "sqs:*",
      Resource: arn,
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    },
  );
}
