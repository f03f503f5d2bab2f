import type { AwsApi } from "./aws-api.ts";
import { type SdkClientOptions, sdkClientConfig } from "./sdk-client-options.ts";
import { sdkEc2 } from "./sdk-ec2.ts";
import { sdkIam } from "./sdk-iam.ts";
import { sdkEks, sdkPricing, sdkSqs, sdkSsm } from "./sdk-services.ts";
import { type SignedFetch, signedZonalShift } from "./sdk-zonal-shift.ts";

export interface SdkAwsOptions extends SdkClientOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: SignedFetch;
  readonly now: () => number;
}

/** AWS through the SDK, which is loaded here and nowhere else. */
export async function openAwsApi(options: SdkAwsOptions): Promise<AwsApi> {
  const { region, env, fetch, now } = options;
  const [ec2, iam, ssm, eks, pricing, sqs] = await Promise.all([
    sdkEc2(options),
    sdkIam(options),
    sdkSsm(options),
    sdkEks(options),
    sdkPricing(options),
    sdkSqs(options),
  ]);
  const { EKSClient } = await import("@aws-sdk/client-eks");
  const { credentials } = new EKSClient(sdkClientConfig(options)).config;
  const zonalShift = signedZonalShift({
    region,
    endpoint: env["AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT"] ?? env["AWS_ENDPOINT_URL"],
    credentials,
    fetch,
    now,
  });
  return { region, ec2, iam, ssm, eks, pricing, sqs, zonalShift };
}
