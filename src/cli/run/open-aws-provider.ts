import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { ServerVersion } from "../../kube/server-version.ts";
import type { OperatorOptions } from "../../operator/options.ts";
import { measuredAws } from "../../providers/aws/api/measured-aws.ts";
import { findAwsRegion } from "../../providers/aws/api/region.ts";
import { openAwsApi } from "../../providers/aws/api/sdk-aws-api.ts";
import type { AwsMetrics } from "../../providers/aws/aws-metrics.ts";
import { awsSettingsProblems } from "../../providers/aws/aws-settings.ts";
import { startAwsProvider } from "../../providers/aws/start-aws-provider.ts";
import type { Clock } from "../../util/clock.ts";
import type { Logger } from "../../util/logger.ts";
import type { Random } from "../../util/random.ts";
import { collectGarbage } from "./collect-garbage.ts";
import type { UsageProblems } from "./usage-problems.ts";

/** What the AWS provider needs of the process it runs in. */
export interface AwsHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: AwsMetrics;
  /** Of Karpenter. */
  readonly version: string;
  /** Of the API server. */
  readonly serverVersion: () => Promise<ServerVersion>;
  /** The certificate authority of our own connection, as PEM. */
  readonly connectionCa: string | undefined;
}

export interface OpenAwsProviderOptions extends AwsHost {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly options: Pick<OperatorOptions, "aws" | "settings">;
}

const startUpMs = 30_000;

/** The AWS provider, once region, account and cluster have answered. (04 §5.2) */
export async function openAwsProvider(
  request: OpenAwsProviderOptions,
): Promise<{ readonly provider: CloudProvider } | UsageProblems> {
  const { env, clock, metrics, version, signal, options, log } = request;
  const problems = awsSettingsProblems(options.aws);
  if (problems.length > 0) return { problems };
  // The SDK would announce on stderr that next year's releases need a newer Node; ours is pinned.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  const region = await findAwsRegion({ env, fetch, signal });
  const api = await openAwsApi({ region, version, env, fetch, now: () => clock.now() });
  const provider = await startAwsProvider({
    ...request,
    aws: measuredAws(api, { metrics, clock }),
    settings: options.aws,
    usesReservations: options.settings.gates.ReservedCapacity,
    usesOverlays: options.settings.gates.NodeOverlay,
    serverVersion: async () => {
      const { major, minor } = await request.serverVersion();
      return `${major}.${minor}`;
    },
  });
  // By then types and prices have been read: ten times what is kept of them.
  const timer = clock.setTimer(startUpMs, collectGarbage);
  signal.addEventListener("abort", () => timer.cancel(), { once: true });
  log.info("reached AWS", { region, cluster: options.aws.clusterName });
  return { provider };
}
