import type { TomlTable, TomlValue } from "smol-toml";

type SettingType = "string" | "integer" | "boolean" | "strings" | "table";

/** The settings of Kubernetes that Bottlerocket nodes of every supported version understand. (04 §1.9) */
const kubernetesSettings: Readonly<Record<string, SettingType>> = {
  "allowed-unsafe-sysctls": "strings",
  "api-server": "string",
  "cloud-provider": "string",
  "cluster-certificate": "string",
  "cluster-dns-ip": "string",
  "cluster-domain": "string",
  "cluster-name": "string",
  "container-log-max-files": "integer",
  "container-log-max-size": "string",
  "container-log-max-workers": "integer",
  "container-log-monitor-interval": "string",
  "cpu-cfs-quota-enforced": "boolean",
  "cpu-manager-policy": "string",
  "cpu-manager-policy-options": "strings",
  "cpu-manager-reconcile-period": "string",
  "credential-providers": "table",
  "device-ownership-from-security-context": "boolean",
  "event-burst": "integer",
  "event-qps": "integer",
  "eviction-hard": "table",
  "eviction-max-pod-grace-period": "integer",
  "eviction-soft": "table",
  "eviction-soft-grace-period": "table",
  "hostname-override-source": "string",
  "ids-per-pod": "integer",
  "image-gc-high-threshold-percent": "string",
  "image-gc-low-threshold-percent": "string",
  "kube-api-burst": "integer",
  "kube-api-qps": "integer",
  "kube-reserved": "table",
  "log-level": "integer",
  "max-pods": "integer",
  "node-labels": "table",
  "node-taints": "table",
  "pod-pids-limit": "integer",
  "registry-burst": "integer",
  "registry-qps": "integer",
  "seccomp-default": "boolean",
  "server-tls-bootstrap": "boolean",
  "shutdown-grace-period": "string",
  "shutdown-grace-period-for-critical-pods": "string",
  "single-process-oom-kill": "boolean",
  "static-pods": "table",
  "system-reserved": "table",
  "topology-manager-policy": "string",
  "topology-manager-scope": "string",
};

/** Keys of `settings.kubernetes` that are not known, sorted. */
export function unknownKubernetesSettings(kubernetes: TomlTable): readonly string[] {
  return Object.keys(kubernetes)
    .filter((key) => !Object.hasOwn(kubernetesSettings, key))
    .sort();
}

/** The first known setting of a wrong type, as a message. */
export function wrongKubernetesSetting(kubernetes: TomlTable): string | undefined {
  for (const [key, value] of Object.entries(kubernetes)) {
    const wanted = Object.hasOwn(kubernetesSettings, key) ? kubernetesSettings[key] : undefined;
    if (wanted !== undefined && typeOf(value) !== wanted) return `settings.kubernetes.${key} must be ${names[wanted]}`;
  }
  return undefined;
}

const names: Readonly<Record<SettingType, string>> = {
  string: "a string",
  integer: "an integer",
  boolean: "true or false",
  strings: "a list of strings",
  table: "a table",
};

function typeOf(value: TomlValue): SettingType | undefined {
  if (typeof value === "string" || typeof value === "boolean") return typeof value as SettingType;
  if (typeof value === "bigint") return "integer";
  if (Array.isArray(value)) return value.every((item) => typeof item === "string") ? "strings" : undefined;
  return typeof value === "object" && !(value instanceof Date) ? "table" : undefined;
}
