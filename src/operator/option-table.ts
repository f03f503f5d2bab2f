import { defaultGates, defaultSettings, type Settings } from "../controllers/settings.ts";
import { type LogLevel, logLevels } from "../util/logger.ts";
import { choice, duration, featureGates, list, type Parser, port, text, truth, wholeNumber } from "./option-parsers.ts";

/** One thing that can be set: by flag, else by environment, else the default. (03 §6.4) */
export interface OptionRow<T = unknown> {
  readonly flag: string;
  readonly env: string;
  readonly default: T;
  readonly parser: Parser<T>;
  readonly description: string;
}

/** The variable is called as the flag is, unless it is named. */
function row<T>(
  flag: string,
  fallback: T,
  { env = flag.toUpperCase().replaceAll("-", "_"), ...rest }: RowRest<T>,
): OptionRow<T> {
  return { flag, env, default: fallback, ...rest };
}

interface RowRest<T> extends Pick<OptionRow<T>, "parser" | "description"> {
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
  service: row("karpenter-service", "", { parser: text, description: "accepted for old charts; nothing uses it" }),
  metricsPort: row("metrics-port", 8080, { parser: port, description: "port of metrics and profiles" }),
  healthPort: row("health-probe-port", 8081, { parser: port, description: "port of health and readiness" }),
  kubeQps: row("kube-client-qps", 200, {
    parser: wholeNumber({ least: 1 }),
    description: "requests a second to the API server",
  }),
  kubeBurst: row("kube-client-burst", 300, {
    parser: wholeNumber({ least: 1 }),
    description: "requests at once to the API server",
  }),
  isProfiled: row("enable-profiling", false, { parser: truth, description: "serve profiles beside the metrics" }),
  isCold: row("disable-controller-warmup", true, {
    parser: truth,
    description: "watch the cluster only once this process leads",
  }),
  isAlone: row("disable-leader-election", false, { parser: truth, description: "begin without a lease" }),
  isDiscreet: row("disable-cluster-state-observability", false, {
    parser: truth,
    description: "leave out the metrics and events that cost one for each object",
  }),
  leaseName: row("leader-election-name", "karpenter-leader-election", { parser: text, description: "lease to hold" }),
  leaseNamespace: row("leader-election-namespace", "", {
    parser: text,
    description: "where the lease is; the pod's namespace unless said",
  }),
  memoryLimit: row("memory-limit", -1, {
    parser: wholeNumber({ least: -1 }),
    description: "bytes; accepted for old charts: the heap follows the container's own limit",
  }),
  cpuRequestsMilli: row("cpu-requests", 1_000, {
    parser: wholeNumber({ least: Number.MIN_SAFE_INTEGER }),
    description: "millicores this process asked for: more work at a time with more of them",
  }),
  logLevel: row<LogLevel | "">("log-level", "info", {
    parser: choice(["", ...logLevels]),
    description: `how much is logged: ${logLevels.join(", ")}`,
  }),
  logPaths: row<readonly string[]>("log-output-paths", ["stdout"], {
    parser: list,
    description: "where to: stdout, stderr or files, with commas between",
  }),
  logErrorPaths: row<readonly string[]>("log-error-output-paths", ["stderr"], {
    parser: list,
    description: "where the log's own troubles go",
  }),
  batchMaxMs: row("batch-max-duration", batchMaxMs, {
    parser: duration,
    description: "how long arriving pods are gathered at most",
  }),
  batchIdleMs: row("batch-idle-duration", batchIdleMs, {
    parser: duration,
    description: "how long none may arrive before a round begins",
  }),
  preferencePolicy: row<Settings["preferencePolicy"]>("preference-policy", "Respect", {
    parser: choice(["Respect", "Ignore"]),
    description: "whether preferences of pods count",
  }),
  minValuesPolicy: row<Settings["minValuesPolicy"]>("min-values-policy", "Strict", {
    parser: choice(["Strict", "BestEffort"]),
    description: "whether minValues must be met",
  }),
  ignoresDra: row("ignore-dra-requests", true, { parser: truth, description: "schedule without looking at devices" }),
  gates: row("feature-gates", defaultGates, {
    parser: featureGates,
    description: `what is switched on, as Name=true|false with commas between; unless said ${gateText}`,
  }),
  schedulerConfig: row("scheduler-config", "", {
    parser: text,
    description: "default topology spread constraints, as YAML or JSON, or the file they are in",
  }),
  provider: row<OperatorProvider | undefined>("provider", undefined, {
    env: "CLOUD_PROVIDER",
    parser: choice(operatorProviders),
    description: "whose machines; by the node classes the cluster knows unless said",
  }),
  listen: row("listen", "", {
    env: "LISTEN_ADDRESS",
    parser: { ...text, placeholder: "<address>" },
    description: "address of metrics and health; all of the machine's unless said",
  }),
  solveBudgetMs: row("solve-budget", 5_000, {
    parser: duration,
    description: "how long a round may look for places before it acts on what it has",
  }),
  packing: row<Settings["packing"]>("packing", "polished", {
    parser: choice(["polished", "plain"]),
    description: "in one round, or gone over once more for its price",
  }),
  instanceTypesFile: row("instance-types-file-path", "", {
    parser: { ...text, placeholder: "<file>" },
    description: "with kwok: a catalogue of instance types in place of the usual one",
  }),
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionName = keyof typeof optionTable;
export type OptionValues = { readonly [Name in OptionName]: (typeof optionTable)[Name]["default"] };
