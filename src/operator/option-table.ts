import { defaultGates, defaultSettings, type Settings } from "../controllers/settings.ts";
import { disruptionModes } from "../core/disruption/snapshot.ts";
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

/** Upstream's options, then ours. */
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
  gates: row("feature-gates", defaultGates, featureGatesParser, {
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
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof optionTable;
export type OptionValues = { readonly [Name in OptionName]: (typeof optionTable)[Name]["default"] };
