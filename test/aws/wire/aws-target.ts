/** A real account to test against. */
export interface AwsTarget {
  readonly region: string;
  /** An EKS cluster the account was prepared for. */
  readonly cluster: string;
  /** Whether tests may create what costs money, and delete it again. */
  readonly mayCreate: boolean;
}

/**
 * The account of the environment, if one is asked for: `AWS_ACCOUNT_TESTS=read` makes calls that change nothing,
 * `AWS_ACCOUNT_TESTS=create` also launches an instance and ends it. Credentials and endpoints are the SDK's own business.
 */
export function awsTarget(env: Readonly<Record<string, string | undefined>>): AwsTarget | undefined {
  const mode = env["AWS_ACCOUNT_TESTS"];
  if (mode === undefined || mode === "") return undefined;
  if (mode !== "read" && mode !== "create") {
    throw new Error(`AWS_ACCOUNT_TESTS=${mode}: it is read (nothing is changed) or create (an instance is launched)`);
  }
  const region = env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
  const cluster = env["CLUSTER_NAME"];
  if (!region || !cluster) {
    throw new Error(
      "AWS_ACCOUNT_TESTS needs AWS_REGION and CLUSTER_NAME: an EKS cluster prepared as docs/guides/aws.md says",
    );
  }
  return { region, cluster, mayCreate: mode === "create" };
}
