import { describe, expect, it } from "vitest";
import { defaultGates, defaultSettings } from "../controllers/settings.ts";
import { defaultAwsSettings } from "../providers/aws/aws-settings.ts";
import { type OperatorOptions, type OptionSources, readOptions } from "./options.ts";

async function options(sources: Partial<OptionSources> = {}): Promise<OperatorOptions> {
  const reading = await readOptions({ flags: {}, env: {}, readFile: async () => undefined, ...sources });
  if (reading.kind === "refused") throw new Error(reading.problems.join("; "));
  return reading.options;
}

async function problems(sources: Partial<OptionSources>): Promise<readonly string[]> {
  const reading = await readOptions({ flags: {}, env: {}, readFile: async () => undefined, ...sources });
  return reading.kind === "refused" ? reading.problems : [];
}

const usual: OperatorOptions = {
  settings: defaultSettings,
  listen: "",
  metricsPort: 8080,
  healthPort: 8081,
  kubeRate: { perSecond: 200, burst: 300 },
  isProfiled: false,
  isWarmedUp: false,
  lease: { name: "karpenter-leader-election", namespace: "" },
  logLevel: "info",
  logPaths: ["stdout"],
  provider: undefined,
  solveBudgetMs: 5_000,
  instanceTypesFile: undefined,
  aws: defaultAwsSettings,
};

const set: OperatorOptions = {
  settings: {
    ...defaultSettings,
    batchIdleMs: 2_000,
    batchMaxMs: 30_000,
    preferencePolicy: "Ignore",
    minValuesPolicy: "BestEffort",
    ignoreDraRequests: false,
    packing: "plain",
    cpuRequestsMilli: 4_000,
    gates: { ...defaultGates, NodeRepair: true, ReservedCapacity: false },
    isClusterStateObservable: false,
  },
  listen: "127.0.0.1",
  metricsPort: 9000,
  healthPort: 9001,
  kubeRate: { perSecond: 50, burst: 60 },
  isProfiled: true,
  isWarmedUp: true,
  lease: undefined,
  logLevel: "debug",
  logPaths: ["stdout", "/tmp/log"],
  provider: "kwok",
  solveBudgetMs: 500,
  instanceTypesFile: "types.json",
  aws: {
    clusterName: "prod",
    clusterEndpoint: "https://eks.example",
    clusterCaBundle: "Y2E=",
    isIsolatedVpc: true,
    hasEksControlPlane: true,
    vmMemoryOverheadPercent: 0.1,
    interruptionQueue: "prod-queue",
    reservedEnis: 1,
    isDryRunDisabled: true,
    hasZonalShift: true,
    amiRefreshMs: 120_000,
    subnetRefreshMs: 90_000,
    gates: { NodeClassCEL: true },
  },
};

const flags = {
  "karpenter-service": "karpenter",
  "metrics-port": "9000",
  "health-probe-port": "9001",
  "kube-client-qps": "50",
  "kube-client-burst": "60",
  "enable-profiling": true,
  "disable-controller-warmup": "false",
  "disable-leader-election": "true",
  "disable-cluster-state-observability": "true",
  "memory-limit": "1000",
  "cpu-requests": "4000",
  "log-level": "debug",
  "log-output-paths": "stdout,/tmp/log",
  "log-error-output-paths": "stderr",
  "batch-max-duration": "30s",
  "batch-idle-duration": "2s",
  "preference-policy": "Ignore",
  "min-values-policy": "BestEffort",
  "ignore-dra-requests": "false",
  "feature-gates": "NodeRepair=true,ReservedCapacity=false",
  provider: "kwok",
  listen: "127.0.0.1",
  "solve-budget": "500ms",
  packing: "plain",
  "instance-types-file-path": "types.json",
  "cluster-name": "prod",
  "cluster-endpoint": "https://eks.example",
  "cluster-ca-bundle": "Y2E=",
  "isolated-vpc": "true",
  "eks-control-plane": "true",
  "vm-memory-overhead-percent": "0.1",
  "interruption-queue": "prod-queue",
  "reserved-enis": "1",
  "disable-dry-run": "true",
  "enable-zonal-shift": "true",
  "ami-refresh-interval": "2m",
  "subnet-refresh-interval": "90s",
  "aws-feature-gates": "NodeClassCEL=true,Other=true",
} as const;

const env = Object.fromEntries(
  Object.entries(flags).map(([flag, value]) => [flag.toUpperCase().replaceAll("-", "_"), String(value)]),
);
const renamed = { ...env, CLOUD_PROVIDER: "kwok", LISTEN_ADDRESS: "127.0.0.1" };

describe("options", () => {
  it("03 §6.4 have the defaults of the table", async () => {
    expect(await options()).toEqual(usual);
  });

  it("03 §6.4 are read from flags", async () => {
    expect(await options({ flags })).toEqual(set);
  });

  it("03 §6.4 are read from the environment", async () => {
    expect(await options({ env: renamed })).toEqual(set);
  });

  it("03 §6.4 a flag beats the environment, one by one", async () => {
    const read = await options({ flags: { "metrics-port": "1", "batch-max-duration": "5s" }, env: renamed });
    expect(read).toEqual({ ...set, metricsPort: 1, settings: { ...set.settings, batchMaxMs: 5_000 } });
  });

  it("03 §6.4 a variable that cannot be parsed falls back to the default", async () => {
    const odd = {
      METRICS_PORT: "http",
      KUBE_CLIENT_QPS: "1.5",
      ENABLE_PROFILING: "yes",
      BATCH_MAX_DURATION: "10",
      CPU_REQUESTS: "one",
    };
    expect(await options({ env: odd })).toEqual(usual);
  });

  it("an empty variable counts as unset", async () => {
    expect(await options({ env: Object.fromEntries(Object.keys(renamed).map((name) => [name, ""])) })).toEqual(usual);
  });

  it("03 §6.4 the lease can be named and placed", async () => {
    const { lease } = await options({
      env: { LEADER_ELECTION_NAME: "mine", LEADER_ELECTION_NAMESPACE: "kube-system" },
    });
    expect(lease).toEqual({ name: "mine", namespace: "kube-system" });
  });

  it.each(["0", "-5"])("03 §6.4 cpu requests of %s are a thousand", async (text) => {
    expect((await options({ flags: { "cpu-requests": text } })).settings.cpuRequestsMilli).toBe(1_000);
  });

  it.each(["1", "yes", "True", ""])("03 §6.4 a boolean flag is true or false, not %j", async (text) => {
    expect(await problems({ flags: { "enable-profiling": text } })).toEqual([
      `--enable-profiling is ${JSON.stringify(text)}: expected true or false`,
    ]);
  });

  it("03 §6.4 booleans of the environment are read as Go reads them", async () => {
    expect((await options({ env: { ENABLE_PROFILING: "1" } })).isProfiled).toBe(true);
    expect((await options({ env: { DISABLE_CONTROLLER_WARMUP: "F" } })).isWarmedUp).toBe(true);
  });

  it("reports all problems together", async () => {
    const told = await problems({
      flags: { "metrics-port": "70000", "log-level": "warn", provider: "gcp" },
      env: { FEATURE_GATES: "NodeRepair", MIN_VALUES_POLICY: "Lax" },
    });
    expect(told).toEqual([
      '--metrics-port is "70000": expected a whole number from 0 to 65535',
      '--log-level is "warn": expected one of debug, info, error',
      'MIN_VALUES_POLICY is "Lax": expected one of Strict, BestEffort',
      'FEATURE_GATES is "NodeRepair": expected comma-separated Name=true|false',
      '--provider is "gcp": expected one of kwok, aws, azure',
    ]);
  });

  it("03 §6.4 an unknown log level is fatal from the environment too; an empty one is info", async () => {
    expect(await problems({ env: { LOG_LEVEL: "trace" } })).toHaveLength(1);
    expect((await options({ flags: { "log-level": "" } })).logLevel).toBe("info");
  });

  it("04 §5.1 a variable of AWS that cannot be parsed falls back to the default", async () => {
    const odd = {
      VM_MEMORY_OVERHEAD_PERCENT: "much",
      RESERVED_ENIS: "one",
      AMI_REFRESH_INTERVAL: "1",
      ISOLATED_VPC: "no",
    };
    expect((await options({ env: odd })).aws).toEqual(defaultAwsSettings);
  });

  it("04 §9.5 gates of AWS from a flag beat those of the environment; a malformed one is fatal", async () => {
    const env = { AWS_FEATURE_GATES: "NodeClassCEL=true" };
    expect((await options({ env, flags: { "aws-feature-gates": "NodeClassCEL=false" } })).aws.gates.NodeClassCEL).toBe(
      false,
    );
    expect(await problems({ env: { AWS_FEATURE_GATES: "NodeClassCEL" } })).toHaveLength(1);
  });
});

describe("feature gates", () => {
  const gates = async (text: string) => (await options({ flags: { "feature-gates": text } })).settings.gates;

  it("03 §6.4 change what they name and leave the rest", async () => {
    expect(await gates("NodeOverlay=true")).toEqual({ ...defaultGates, NodeOverlay: true });
    expect(await gates(" NodeOverlay = true , CapacityBuffer=t,")).toEqual({
      ...defaultGates,
      NodeOverlay: true,
      CapacityBuffer: true,
    });
    expect(await gates("")).toEqual(defaultGates);
  });

  it("03 §6.4 unknown names are ignored", async () => {
    expect(await gates("Drift=true,toString=false,SpotToSpotConsolidation=true")).toEqual({
      ...defaultGates,
      SpotToSpotConsolidation: true,
    });
  });

  it.each(["NodeRepair", "NodeRepair=", "NodeRepair=maybe", "NodeRepair:true"])("03 §6.4 %j is fatal", async (text) => {
    expect(await problems({ flags: { "feature-gates": text } })).toHaveLength(1);
  });
});

describe("the scheduler's configuration", () => {
  const zone = `{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}`;
  const yaml = (constraints: string): string => `podTopologySpread: {defaultConstraints: [${constraints}]}`;
  const constraint = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" };
  const read = async (text: string, file?: string) =>
    (await options({ flags: { "scheduler-config": text }, readFile: async () => file })).settings.defaultConstraints;

  it("02:X-50 is given as YAML, as JSON, or as the file it is in", async () => {
    expect(await read(yaml(zone))).toEqual([constraint]);
    expect(await read(JSON.stringify({ podTopologySpread: { defaultConstraints: [constraint] } }))).toEqual([
      constraint,
    ]);
    expect(await read("/etc/karpenter/scheduler.yaml", yaml(zone))).toEqual([constraint]);
  });

  it("02:X-52 an empty value means no constraints", async () => {
    expect(await read("")).toEqual([]);
    expect(await read("{}")).toEqual([]);
  });

  it.each([
    ["podTopologySpread: {defaultConstraint: []}", "unknown field"],
    [yaml(zone.replace("maxSkew: 1", "maxSkew: 0")), "greater than zero"],
    [yaml(`${zone}, ${zone}`), "twice"],
    [yaml(zone.replace("}", ", labelSelector: {}}")), "labelSelector"],
    [yaml(zone.replace("ScheduleAnyway", "Never")), "whenUnsatisfiable"],
    [yaml(zone.replace("topology.kubernetes.io/zone", "a b")), "qualified name"],
    ["[", "invalid YAML"],
    ["/etc/nothing.yaml", "there is no file"],
  ])("02:X-50 %s is fatal", async (text, expected) => {
    const [first = ""] = await problems({ flags: { "scheduler-config": text } });
    expect(first).toMatch(/^--scheduler-config: /);
    expect(first).toContain(expected);
  });
});
