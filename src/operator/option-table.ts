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

/** One thing that can be set: by flag, else by environment, else the default. (03 §6.4) */
export interface OptionRow<T = unknown> {
  readonly flag: string;
  readonly env: string;
  readonly default: T;
  readonly parser: OptionParser<T>;
  readonly description: string;
}

/** The variable is called as the flag is, unless it is named. */
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
    description: "accepted for old charts; nothing uses it",
  }),
  metricsPort: optionRow("metrics-port", 8080, { parser: portParser, description: "port of metrics and profiles" }),
  healthPort: optionRow("health-probe-port", 8081, { parser: portParser, description: "port of health and readiness" }),
  kubeQps: optionRow("kube-client-qps", 200, {
    parser: wholeNumberParser({ min: 1 }),
    description: "requests a second to the API server",
  }),
  kubeBurst: optionRow("kube-client-burst", 300, {
    parser: wholeNumberParser({ min: 1 }),
    description: "requests at once to the API server",
  }),
  isProfiled: optionRow("enable-profiling", false, {
    parser: booleanParser,
    description: "serve profiles beside the metrics",
  }),
  isWarmupDisabled: optionRow("disable-controller-warmup", true, {
    parser: booleanParser,
    description: "watch the cluster only once this process leads",
  }),
  isLeaderElectionDisabled: optionRow("disable-leader-election", false, {
    parser: booleanParser,
    description: "begin without a lease",
  }),
  isObservabilityDisabled: optionRow("disable-cluster-state-observability", false, {
    parser: booleanParser,
    description: "leave out the metrics and events that cost one for each object",
  }),
  leaseName: optionRow("leader-election-name", "karpenter-leader-election", {
    parser: textParser,
    description: "lease to hold",
  }),
  leaseNamespace: optionRow("leader-election-namespace", "", {
    parser: textParser,
    description: "where the lease is; the pod's namespace unless said",
  }),
  memoryLimit: optionRow("memory-limit", -1, {
    parser: wholeNumberParser({ min: -1 }),
    description: "bytes; accepted for old charts: the heap follows the container's own limit",
  }),
  cpuRequestsMilli: optionRow("cpu-requests", 1_000, {
    parser: wholeNumberParser({ min: Number.MIN_SAFE_INTEGER }),
    description: "millicores this process asked for: more work at a time with more of them",
  }),
  logLevel: optionRow<LogLevel | "">("log-level", "info", {
    parser: choiceParser(["", ...logLevels]),
    description: `how much is logged: ${logLevels.join(", ")}`,
  }),
  logPaths: optionRow<readonly string[]>("log-output-paths", ["stdout"], {
    parser: listParser,
    description: "where to: stdout, stderr or files, with commas between",
  }),
  logErrorPaths: optionRow<readonly string[]>("log-error-output-paths", ["stderr"], {
    parser: listParser,
    description: "where the log's own troubles go",
  }),
  batchMaxMs: optionRow("batch-max-duration", batchMaxMs, {
    parser: durationParser,
    description: "how long arriving pods are gathered at most",
  }),
  batchIdleMs: optionRow("batch-idle-duration", batchIdleMs, {
    parser: durationParser,
    description: "how long none may arrive before a round begins",
  }),
  preferencePolicy: optionRow<Settings["preferencePolicy"]>("preference-policy", "Respect", {
    parser: choiceParser(["Respect", "Ignore"]),
    description: "whether preferences of pods count",
  }),
  minValuesPolicy: optionRow<Settings["minValuesPolicy"]>("min-values-policy", "Strict", {
    parser: choiceParser(["Strict", "BestEffort"]),
    description: "whether minValues must be met",
  }),
  ignoresDra: optionRow("ignore-dra-requests", true, {
    parser: booleanParser,
    description: "schedule without looking at devices",
  }),
  gates: optionRow("feature-gates", defaultGates, {
    parser: featureGatesParser,
    description: `what is switched on, as Name=true|false with commas between; unless said ${gateText}`,
  }),
  schedulerConfig: optionRow("scheduler-config", "", {
    parser: textParser,
    description: "default topology spread constraints, as YAML or JSON, or the file they are in",
  }),
  provider: optionRow<OperatorProvider | undefined>("provider", undefined, {
    env: "CLOUD_PROVIDER",
    parser: choiceParser(operatorProviders),
    description: "whose machines; by the node classes the cluster knows unless said",
  }),
  listen: optionRow("listen", "", {
    env: "LISTEN_ADDRESS",
    parser: { ...textParser, placeholder: "<address>" },
    description: "address of metrics and health; all of the machine's unless said",
  }),
  solveBudgetMs: optionRow("solve-budget", 5_000, {
    parser: durationParser,
    description: "how long a round may look for places before it acts on what it has",
  }),
  packing: optionRow<Settings["packing"]>("packing", "polished", {
    parser: choiceParser(["polished", "plain"]),
    description: "in one round, or gone over once more for its price",
  }),
  instanceTypesFile: optionRow("instance-types-file-path", "", {
    parser: { ...textParser, placeholder: "<file>" },
    description: "with kwok: a catalogue of instance types in place of the usual one",
  }),
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof optionTable;
export type OptionValues = { readonly [Name in OptionName]: (typeof optionTable)[Name]["default"] };
