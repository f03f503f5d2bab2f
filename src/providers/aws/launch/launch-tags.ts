import type { Tag } from "@aws-sdk/client-ec2";
import { awsLabels, awsTags, labels } from "../../../api/labels.ts";
import { tagProblems } from "../../../api/validation/ec2-node-class.ts";
import { CloudError } from "../../../cloud/cloud-error.ts";

export type Tags = Readonly<Record<string, string>>;

export interface LaunchTagOwner {
  readonly clusterName: string;
  readonly nodeClassName: string;
  /** Empty for launches without a pool; the key must be there for IAM conditions. */
  readonly nodePoolName: string;
  readonly specTags?: Tags | undefined;
}

/** Tags of everything a launch creates. Karpenter's override the user's; a restricted one makes the class not ready. (04 §1.11) */
export function launchTags({ clusterName, nodeClassName, nodePoolName, specTags }: LaunchTagOwner): Tags {
  const [problem] = tagProblems(specTags);
  if (problem !== undefined) throw new CloudError("node-class-not-ready", problem.message);
  return {
    ...specTags,
    ...ownershipTags(clusterName),
    [labels.nodePool]: nodePoolName,
    [awsLabels.nodeClass]: nodeClassName,
  };
}

/** By which the cluster finds what it created. */
export function ownershipTags(clusterName: string): Tags {
  return { [`${awsTags.clusterPrefix}${clusterName}`]: "owned", [awsTags.clusterName]: clusterName };
}

/** As AWS takes them, by key. */
export function tagList(tags: Tags): Tag[] {
  return Object.entries(tags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([Key, Value]) => ({ Key, Value }));
}
