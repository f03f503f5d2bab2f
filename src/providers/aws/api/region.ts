import { AwsError } from "./aws-error.ts";

export interface RegionSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: (
    url: string,
    init: {
      readonly method?: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly signal: AbortSignal | null;
    },
  ) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>;
  readonly signal?: AbortSignal | undefined;
}

const metadataEndpoint = "http://169.254.169.254";
const operation = "imds:GetRegion";

/** The region: as the environment says, else as the instance's metadata service says. (04 §5.2) */
export async function findAwsRegion(sources: RegionSources): Promise<string> {
  const { env } = sources;
  const named = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"];
  if (named) return named;
  if (env["AWS_EC2_METADATA_DISABLED"] !== "true") return regionFromMetadata(sources);
  throw new AwsError(operation, "RegionUnknown", "no AWS region: set AWS_REGION (the metadata service is disabled)");
}

/** A session token comes first: the service may refuse requests without one. */
async function regionFromMetadata({ env, fetch, signal }: RegionSources): Promise<string> {
  const base = env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] || metadataEndpoint;
  const ask = async (path: string, init: { readonly method?: string; readonly headers: Record<string, string> }) => {
    const response = await fetch(new URL(path, base).href, { ...init, signal: signal ?? null });
    if (!response.ok) throw new AwsError(operation, "MetadataRefused", `${path} answered ${response.status}`);
    return (await response.text()).trim();
  };
  try {
    const token = await ask("/latest/api/token", {
      method: "PUT",
      headers: { "x-aws-ec2-metadata-token-ttl-seconds": "60" },
    });
    return await ask("/latest/meta-data/placement/region", { headers: { "x-aws-ec2-metadata-token": token } });
  } catch (cause) {
    const message = "no AWS region: set AWS_REGION (the instance's metadata service did not answer)";
    throw new AwsError(operation, "RegionUnknown", message, { cause });
  }
}
