import { formatDurationMs } from "../../util/duration.ts";

/** The settings of the AWS provider. (04 §5.1) */
export interface AwsSettings {
  readonly clusterName: string;
  /** Undefined: EKS is asked for it. */
  readonly clusterEndpoint: string | undefined;
  /** Base64. Undefined: that of our own connection to the API server. */
  readonly clusterCaBundle: string | undefined;
  /** There is no way to services without an endpoint in the VPC: prices and IAM. */
  readonly isIsolatedVpc: boolean;
  /** Whether EKS, not the API server, is asked for the version of Kubernetes. */
  readonly hasEksControlPlane: boolean;
  readonly vmMemoryOverheadPercent: number;
  /** The name of the queue. Undefined: interruptions are not read from a queue. */
  readonly interruptionQueue: string | undefined;
  readonly reservedEnis: number;
  readonly isDryRunDisabled: boolean;
  readonly hasZonalShift: boolean;
  readonly amiRefreshMs: number;
  readonly subnetRefreshMs: number;
  /** Features that can be switched. */
  readonly gates: { readonly NodeClassCEL: boolean };
}

export const defaultAwsSettings: AwsSettings = {
  clusterName: "",
  clusterEndpoint: undefined,
  clusterCaBundle: undefined,
  isIsolatedVpc: false,
  hasEksControlPlane: false,
  vmMemoryOverheadPercent: 0.075,
  interruptionQueue: undefined,
  reservedEnis: 0,
  isDryRunDisabled: false,
  hasZonalShift: false,
  amiRefreshMs: 60_000,
  subnetRefreshMs: 60_000,
  gates: { NodeClassCEL: false },
};

const leastRefreshMs = 60_000;

/** What keeps the AWS provider from starting with these settings, a sentence each. */
export function awsSettingsProblems(settings: AwsSettings): readonly string[] {
  const { clusterName, clusterEndpoint, vmMemoryOverheadPercent, reservedEnis } = settings;
  return [
    ...(clusterName === "" ? ["--cluster-name (CLUSTER_NAME) is missing: give the name of the EKS cluster"] : []),
    ...(clusterEndpoint !== undefined && !isAbsoluteUrl(clusterEndpoint)
      ? [`--cluster-endpoint is ${JSON.stringify(clusterEndpoint)}: expected a URL such as https://host`]
      : []),
    ...(vmMemoryOverheadPercent < 0
      ? [`--vm-memory-overhead-percent is ${vmMemoryOverheadPercent}: expected a number from 0, such as 0.075`]
      : []),
    ...(reservedEnis < 0 ? [`--reserved-enis is ${reservedEnis}: expected a whole number from 0`] : []),
    ...refreshProblems("ami-refresh-interval", settings.amiRefreshMs),
    ...refreshProblems("subnet-refresh-interval", settings.subnetRefreshMs),
  ];
}

function refreshProblems(flag: string, ms: number): readonly string[] {
  return ms < leastRefreshMs ? [`--${flag} is ${formatDurationMs(ms)}: expected 1m or more`] : [];
}

function isAbsoluteUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) && URL.canParse(text);
}
