import { defaultGates, defaultSettings, type Settings } from "../controllers/settings.ts";
import { type LogLevel, logLevels } from "../util/logger.ts";
import {
  booleanParser,
  choiceParser,
  durationParser,
  featureGatesParser,
  listParser,
  type OptionParser,
  portParser,
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
function optionRow<T>(
  flag: string,
  fallback: T,
  { env = flag.toUpperCase().replaceAll("-", "_"), ...rest }: OptionRowDetails<T>,
): OptionRow<T> {
  return { flag, env, default: fallback, ...rest };
}

interface OptionRowDetails<T> extends Pick<OptionRow<T>, "parser" | "description"> {
  readonly env?: string;
}

export const operatorProviders = ["kwok", "aws", "azure"] as const;
export type OperatorProvider = (typeof operatorProviders)[number];

const gateText = Object.entries(defaultGates)
  .map(([name, isOn]) => `${name}=${isOn}`)
  .join(", ");

const { batchMaxMs, batchIdleMs } = defaultSettings;

/** Upstream's options, then ours. */
export const optionTable = {
  service: optionRow("karpenter-service", "", {
    parser: textParser,
    description: "accepted for older charts; has no effect",
  }),
  metricsPort: optionRow("metrics-port", 8080, { parser: portParser, description: "port of metrics and profiles" }),
  healthPort: optionRow("health-probe-port", 8081, { parser: portParser, description: "port of health and readiness" }),
  kubeQps: optionRow("kube-client-qps", 200, {
    parser: wholeNumberParser({ min: 1 }),
    description: "requests per second to the API server",
  }),
  kubeBurst: optionRow("kube-client-burst", 300, {
    parser: wholeNumberParser({ min: 1 }),
    description: "burst of requests to the API server",
  }),
  isProfiled: optionRow("enable-profiling", false, {
    parser: booleanParser,
    description: "serve profiles on the metrics port",
  }),
  isWarmupDisabled: optionRow("disable-controller-warmup", true, {
    parser: booleanParser,
    description: "do not watch the cluster before becoming leader",
  }),
  isLeaderElectionDisabled: optionRow("disable-leader-election", false, {
    parser: booleanParser,
    description: "run without leader election",
  }),
  isObservabilityDisabled: optionRow("disable-cluster-state-observability", false, {
    parser: booleanParser,
    description: "do not emit per-object metrics and events",
  }),
  leaseName: optionRow("leader-election-name", "karpenter-leader-election", {
    parser: textParser,
    description: "name of the lease",
  }),
  leaseNamespace: optionRow("leader-election-namespace", "", {
    parser: textParser,
    description: "namespace of the lease (default: the pod's namespace)",
  }),
  memoryLimit: optionRow("memory-limit", -1, {
    parser: wholeNumberParser({ min: -1 }),
    description: "bytes; accepted for older charts: the heap follows the container's limit",
  }),
  cpuRequestsMilli: optionRow("cpu-requests", 1_000, {
    parser: wholeNumberParser({ min: Number.MIN_SAFE_INTEGER }),
    description: "cpu request of this process in millicores; sets how much work is done concurrently",
  }),
  logLevel: optionRow<LogLevel | "">("log-level", "info", {
    parser: choiceParser(["", ...logLevels]),
    description: `log level: ${logLevels.join(", ")}`,
  }),
  logPaths: optionRow<readonly string[]>("log-output-paths", ["stdout"], {
    parser: listParser,
    description: "where to log: stdout, stderr or files, separated by commas",
  }),
  logErrorPaths: optionRow<readonly string[]>("log-error-output-paths", ["stderr"], {
    parser: listParser,
    description: "where to report errors of the logger itself",
  }),
  batchMaxMs: optionRow("batch-max-duration", batchMaxMs, {
    parser: durationParser,
    description: "maximum time to collect pending pods into one batch",
  }),
  batchIdleMs: optionRow("batch-idle-duration", batchIdleMs, {
    parser: durationParser,
    description: "a batch ends when no new pod arrives for this long",
  }),
  preferencePolicy: optionRow<Settings["preferencePolicy"]>("preference-policy", "Respect", {
    parser: choiceParser(["Respect", "Ignore"]),
    description: "whether pod preferences are respected",
  }),
  minValuesPolicy: optionRow<Settings["minValuesPolicy"]>("min-values-policy", "Strict", {
    parser: choiceParser(["Strict", "BestEffort"]),
    description: "whether minValues must be met",
  }),
  ignoresDra: optionRow("ignore-dra-requests", true, {
    parser: booleanParser,
    description: "ignore requests for devices (dynamic resource allocation)",
  }),
  gates: optionRow("feature-gates", defaultGates, {
    parser: featureGatesParser,
    description: `features to switch on or off, as Name=true|false separated by commas (default: ${gateText})`,
  }),
  schedulerConfig: optionRow("scheduler-config", "", {
    parser: textParser,
    description: "default topology spread constraints, as YAML or JSON, or a file with them",
  }),
  provider: optionRow<OperatorProvider | undefined>("provider", undefined, {
    env: "CLOUD_PROVIDER",
    parser: choiceParser(operatorProviders),
    description: "cloud provider (default: inferred from the node classes the cluster serves)",
  }),
  listen: optionRow("listen", "", {
    env: "LISTEN_ADDRESS",
    parser: { ...textParser, placeholder: "<address>" },
    description: "address of metrics and health (default: all interfaces)",
  }),
  solveBudgetMs: optionRow("solve-budget", 5_000, {
    parser: durationParser,
    description: "maximum scheduling time of a round; after it the round acts on what it has decided",
  }),
  packing: optionRow<Settings["packing"]>("packing", "polished", {
    parser: choiceParser(["polished", "plain"]),
    description: "plain: one pass; polished: pods are then moved to lower the price",
  }),
  instanceTypesFile: optionRow("instance-types-file-path", "", {
    parser: { ...textParser, placeholder: "<file>" },
    description: "with kwok: file with the instance types to use instead of the default ones",
  }),
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof optionTable;
export type OptionValues = { readonly [Name in OptionName]: (typeof optionTable)[Name]["default"] };
