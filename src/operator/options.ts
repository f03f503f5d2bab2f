import { didYouMean } from "../api/manifest/closest-match.ts";
import { defaultSettings, type Settings } from "../controllers/settings.ts";
import type { AwsSettings } from "../providers/aws/aws-settings.ts";
import type { LogLevel } from "../util/logger.ts";
import {
  type OperatorProvider,
  type OptionName,
  type OptionRow,
  type OptionValues,
  optionTable,
} from "./option-table.ts";
import { schedulerConstraints } from "./scheduler-constraints.ts";

/** The options of the controller. (03 §6.4) */
export interface OperatorOptions {
  readonly settings: Settings;
  /** Empty: all interfaces. */
  readonly listen: string;
  readonly metricsPort: number;
  readonly healthPort: number;
  readonly kubeRate: { readonly perSecond: number; readonly burst: number };
  readonly isProfiled: boolean;
  /** Whether to watch the cluster before leading, so that a failover is quick. */
  readonly isWarmedUp: boolean;
  /** Undefined: no leader election. An empty namespace is that of the pod. */
  readonly lease: { readonly name: string; readonly namespace: string } | undefined;
  readonly logLevel: LogLevel;
  readonly logPaths: readonly string[];
  readonly provider: OperatorProvider | undefined;
  readonly solveBudgetMs: number;
  /** Undefined: the provider's built-in catalogue. */
  readonly instanceTypesFile: string | undefined;
  /** Not checked yet: `awsSettingsProblems` does that when the provider is AWS. */
  readonly aws: AwsSettings;
}

export type OptionsResult =
  | { readonly kind: "read"; readonly options: OperatorOptions }
  /** All problems, a sentence each. */
  | { readonly kind: "refused"; readonly problems: readonly string[] };

export interface OptionSources {
  /** By name of the flag; a flag without a value is `true`. */
  readonly flags: Readonly<Record<string, string | true | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined if there is no such file. */
  readonly readFile: (path: string) => Promise<string | undefined>;
}

/** Reads all options, and reports all problems together. */
export async function readOptions({ flags, env, readFile }: OptionSources): Promise<OptionsResult> {
  const problems: string[] = [];
  const names = Object.keys(optionTable) as readonly OptionName[];
  const values = Object.fromEntries(
    names.map((name) => [name, readOption(optionTable[name], { flags, env }, problems)]),
  ) as unknown as OptionValues;
  const config = await schedulerConstraints(values.schedulerConfig, readFile);
  if (config.kind === "refused") problems.push(...config.problems.map((problem) => `--scheduler-config: ${problem}`));
  if (config.kind === "refused" || problems.length > 0) return { kind: "refused", problems };
  return { kind: "read", options: optionsOf(values, config.constraints) };
}

/** A flag beats the environment. An empty variable counts as unset, as charts leave them. */
function readOption(row: OptionRow, { flags, env }: Pick<OptionSources, "flags" | "env">, problems: string[]): unknown {
  const { expected, choices = [], read, readEnv = read, isStrict } = row.parser;
  const flag = flags[row.flag];
  if (flag !== undefined) {
    const value = read(String(flag));
    if (value === undefined)
      problems.push(
        `--${row.flag} is ${JSON.stringify(flag)}: expected ${expected}${didYouMean(String(flag), choices)}`,
      );
    return value;
  }
  const variable = env[row.env] ?? "";
  if (variable === "") return row.default;
  const value = readEnv(variable);
  if (value === undefined && isStrict) {
    problems.push(`${row.env} is ${JSON.stringify(variable)}: expected ${expected}${didYouMean(variable, choices)}`);
  }
  return value ?? row.default;
}

function optionsOf(values: OptionValues, defaultConstraints: Settings["defaultConstraints"]): OperatorOptions {
  const { batchIdleMs, batchMaxMs, preferencePolicy, minValuesPolicy, packing, gates, cpuRequestsMilli } = values;
  const { nominatePods, disruptionMode } = values;
  const { listen, metricsPort, healthPort, isProfiled, logPaths, provider, solveBudgetMs } = values;
  return {
    ...{ listen, metricsPort, healthPort, isProfiled, logPaths, provider, solveBudgetMs },
    settings: {
      ...defaultSettings,
      ...{ batchIdleMs, batchMaxMs, preferencePolicy, minValuesPolicy, packing, gates, nominatePods },
      disruptionMode,
      ignoreDraRequests: values.ignoresDra,
      cpuRequestsMilli: cpuRequestsMilli > 0 ? cpuRequestsMilli : defaultSettings.cpuRequestsMilli,
      defaultConstraints,
      isClusterStateObservable: !values.isObservabilityDisabled,
    },
    kubeRate: { perSecond: values.kubeQps, burst: values.kubeBurst },
    isWarmedUp: !values.isWarmupDisabled,
    lease: values.isLeaderElectionDisabled ? undefined : { name: values.leaseName, namespace: values.leaseNamespace },
    logLevel: values.logLevel === "" ? "info" : values.logLevel,
    instanceTypesFile: values.instanceTypesFile || undefined,
    aws: awsSettingsOf(values),
  };
}

function awsSettingsOf(values: OptionValues): AwsSettings {
  const { clusterName, isIsolatedVpc, hasEksControlPlane, vmMemoryOverheadPercent, reservedEnis } = values;
  const { isDryRunDisabled, hasZonalShift, amiRefreshMs, subnetRefreshMs } = values;
  return {
    ...{ clusterName, isIsolatedVpc, hasEksControlPlane, vmMemoryOverheadPercent, reservedEnis },
    ...{ isDryRunDisabled, hasZonalShift, amiRefreshMs, subnetRefreshMs },
    clusterEndpoint: values.clusterEndpoint || undefined,
    clusterCaBundle: values.clusterCaBundle || undefined,
    interruptionQueue: values.interruptionQueue || undefined,
    gates: values.awsGates,
  };
}
