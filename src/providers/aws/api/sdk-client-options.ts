/** How the clients of all services are made. (04 §5.2, §5.8) */
export interface SdkClientOptions {
  readonly region: string;
  /** Of Karpenter: it is part of the user agent. */
  readonly version: string;
}

const requestTimeoutMs = 240_000;
const connectionTimeoutMs = 10_000;

/** Endpoints and credentials are found by the SDK itself: environment, files, web identity, pod identity, instance. */
export function sdkClientConfig({ region, version }: SdkClientOptions) {
  return {
    region,
    customUserAgent: `karpenter.sh-${version}`,
    requestHandler: { requestTimeout: requestTimeoutMs, connectionTimeout: connectionTimeoutMs },
  };
}
