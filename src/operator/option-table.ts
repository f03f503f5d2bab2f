import { defaultGates, defaultSettings, type Settings } from "../controllers/settings.ts";
import { disruptionModes } from "../core/disruption/snapshot.ts";
import { defaultAwsSettings } from "../providers/aws/aws-settings.ts";
import { type LogLevel, logLevels } from "../util/logger.ts";
import {
  booleanParser,
  choiceParser,
  decimalParser,
  durationParser,
  gatesParser,
  listParser,
  type OptionParser,
  portParser,
  signedDurationParser,
  textParser,
  wholeNumberParser,
} from "./option-parsers.ts";

/** One option: set by flag, else by environment variable, else its default. (03 §6.4) */
export interface OptionRow<T = unknown> {
  readonly flag: string;
  readonly env: string;
  readonly default: T;
  readonly parser: OptionParser<T>;
  readonly description: string;
}

/** The environment variable is named like the flag, unless given. */
function row<T>(
  flag: string,
  fallback: T,
  parser: OptionParser<T>,
  {
    env = flag.toUpperCase().replaceAll("-", "_"),
    description,
  }: { readonly env?: string; readonly description: string },
): OptionRow<T> {
  return { flag, env, default: fallback, parser, description };
}

export const operatorProviders = ["kwok", "aws", "azure"] as const;
export type OperatorProvider = (typeof operatorProviders)[number];

const gateText = Object.entries(defaultGates)
  .map(([name, isOn]) => `${name}=${isOn}`)
  .join(", ");

const { batchMaxMs, batchIdleMs } = defaultSettings;

const anyWholeNumber = wholeNumberParser({ min: Number.MIN_SAFE_INTEGER });

/** The settings of the AWS provider, which checks their values itself. (04 §5.1) */
const awsOptionTable = {
  clusterName: row("cluster-name", "", textParser, { description: "with aws: name of the EKS cluster" }),
  clusterEndpoint: row(
    "cluster-endpoint",
    "",
    { ...textParser, placeholder: "<url>" },
    { description: "with aws: URL of the API server for new nodes (default: EKS is asked)" },
  ),
  clusterCaBundle: row(
    "cluster-ca-bundle",
    "",
    { ...textParser, placeholder: "<base64>" },
    {
      description: "with aws: certificate authority of the API server for new nodes (default: that of our connection)",
    },
  ),
  isIsolatedVpc: row("isolated-vpc", defaultAwsSettings.isIsolatedVpc, booleanParser, {
    description: "with aws: the VPC has no internet access: prices are not read, instance profiles not cleaned up",
  }),
  hasEksControlPlane: row("eks-control-plane", defaultAwsSettings.hasEksControlPlane, booleanParser, {
    description: "with aws: read the Kubernetes version from EKS",
  }),
  vmMemoryOverheadPercent: row(
    "vm-memory-overhead-percent",
    defaultAwsSettings.vmMemoryOverheadPercent,
    decimalParser,
    { description: "with aws: share of memory the hypervisor takes" },
  ),
  interruptionQueue: row("interruption-queue", "", textParser, {
    description: "with aws: name of the SQS queue with interruptions (default: none)",
  }),
  reservedEnis: row("reserved-enis", defaultAwsSettings.reservedEnis, anyWholeNumber, {
    description: "with aws: network interfaces of a node that carry no pods",
  }),
  isDryRunDisabled: row("disable-dry-run", defaultAwsSettings.isDryRunDisabled, booleanParser, {
    description: "with aws: do not check permissions of node classes with dry runs",
  }),
  hasZonalShift: row("enable-zonal-shift", defaultAwsSettings.hasZonalShift, booleanParser, {
    description: "with aws: launch no nodes in zones that a zonal shift moves the cluster out of",
  }),
  amiRefreshMs: row("ami-refresh-interval", defaultAwsSettings.amiRefreshMs, signedDurationParser, {
    description: "with aws: how long discovered images are cached, 1m or more",
  }),
  subnetRefreshMs: row("subnet-refresh-interval", defaultAwsSettings.subnetRefreshMs, signedDurationParser, {
    description: "with aws: how long discovered subnets are cached, 1m or more",
  }),
  awsGates: row("aws-feature-gates", defaultAwsSettings.gates, gatesParser(defaultAwsSettings.gates), {
    description: "with aws: features to switch on or off (default: NodeClassCEL=false)",
  }),
} as const satisfies Readonly<Record<string, OptionRow>>;

/** Upstream's options, then ours, then those of the AWS provider. */
export const optionTable = {
  service: row("karpenter-service", "", textParser, { description: "accepted for older charts; has no effect" }),
  metricsPort: row("metrics-port", 8080, portParser, { description: "port of metrics and profiles" }),
  healthPort: row("health-probe-port", 8081, portParser, { description: "port of health and readiness" }),
  kubeQps: row("kube-client-qps", 200, wholeNumberParser({ min: 1 }), {
    description: "requests per second to the API server",
  }),
  kubeBurst: row("kube-client-burst", 300, wholeNumberParser({ min: 1 }), {
    description: "burst of requests to the API server",
  }),
  isProfiled: row("enable-profiling", false, booleanParser, { description: "serve profiles on the metrics port" }),
  isWarmupDisabled: row("disable-controller-warmup", true, booleanParser, {
    description: "do not watch the cluster before becoming leader",
  }),
  isLeaderElectionDisabled: row("disable-leader-election", false, booleanParser, {
    description: "run without leader election",
  }),
  isObservabilityDisabled: row("disable-cluster-state-observability", false, booleanParser, {
    description: "do not emit per-object metrics and events",
  }),
  leaseName: row("leader-election-name", "karpenter-leader-election", textParser, { description: "name of the lease" }),
  leaseNamespace: row("leader-election-namespace", "", textParser, {
    description: "namespace of the lease (default: the pod's namespace)",
  }),
  memoryLimit: row("memory-limit", -1, wholeNumberParser({ min: -1 }), {
    description: "bytes; accepted for older charts: the heap follows the container's limit",
  }),
  cpuRequestsMilli: row("cpu-requests", 1_000, wholeNumberParser({ min: Number.MIN_SAFE_INTEGER }), {
    description: "cpu request of this process in millicores; sets how much work is done concurrently",
  }),
  logLevel: row<LogLevel | "">("log-level", "info", choiceParser(["", ...logLevels]), {
    description: `log level: ${logLevels.join(", ")}`,
  }),
  logPaths: row<readonly string[]>("log-output-paths", ["stdout"], listParser, {
    description: "where to log: stdout, stderr or files, separated by commas",
  }),
  logErrorPaths: row<readonly string[]>("log-error-output-paths", ["stderr"], listParser, {
    description: "where to report errors of the logger itself",
  }),
  batchMaxMs: row("batch-max-duration", batchMaxMs, durationParser, {
    description: "maximum time to collect pending pods into one batch",
  }),
  batchIdleMs: row("batch-idle-duration", batchIdleMs, durationParser, {
    description: "a batch ends when no new pod arrives for this long",
  }),
  preferencePolicy: row<Settings["preferencePolicy"]>(
    "preference-policy",
    "Respect",
    choiceParser(["Respect", "Ignore"]),
    { description: "whether pod preferences are respected" },
  ),
  minValuesPolicy: row<Settings["minValuesPolicy"]>(
    "min-values-policy",
    "Strict",
    choiceParser(["Strict", "BestEffort"]),
    { description: "whether minValues must be met" },
  ),
  ignoresDra: row("ignore-dra-requests", true, booleanParser, {
    description: "ignore requests for devices (dynamic resource allocation)",
  }),
  gates: row("feature-gates", defaultGates, gatesParser(defaultGates), {
    description: `features to switch on or off, as Name=true|false separated by commas (default: ${gateText})`,
  }),
  schedulerConfig: row("scheduler-config", "", textParser, {
    description: "default topology spread constraints, as YAML or JSON, or a file with them",
  }),
  provider: row<OperatorProvider | undefined>("provider", undefined, choiceParser(operatorProviders), {
    env: "CLOUD_PROVIDER",
    description: "cloud provider (default: inferred from the node classes the cluster serves)",
  }),
  listen: row(
    "listen",
    "",
    { ...textParser, placeholder: "<address>" },
    { env: "LISTEN_ADDRESS", description: "address of metrics and health (default: all interfaces)" },
  ),
  solveBudgetMs: row("solve-budget", 5_000, durationParser, {
    description: "maximum scheduling time of a round; after it the round acts on what it has decided",
  }),
  packing: row<Settings["packing"]>("packing", "polished", choiceParser(["polished", "plain"]), {
    description: "plain: one pass; polished: pods are then moved to lower the price",
  }),
  nominatePods: row("nominate-pods", true, booleanParser, {
    description: "nominate pods to the nodes planned for them; has an effect on Kubernetes 1.35 and later",
  }),
  disruptionMode: row<Settings["disruptionMode"]>("disruption-mode", "default", choiceParser(disruptionModes), {
    description: "upstream: one disruption command at a time, found as Karpenter finds it",
  }),
  instanceTypesFile: row(
    "instance-types-file-path",
    "",
    { ...textParser, placeholder: "<file>" },
    { description: "with kwok: file with the instance types to use instead of the default ones" },
  ),
  ...awsOptionTable,
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof optionTable;
export type OptionValues = { readonly [Name in OptionName]: (typeof optionTable)[Name]["default"] };
