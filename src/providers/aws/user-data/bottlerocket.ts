import { parse, stringify, type TomlTable, type TomlValue } from "smol-toml";
import { isRecord } from "../../../api/object.ts";
import { errorMessage } from "../../../util/error-text.ts";
import { unknownKubernetesSettings, wrongKubernetesSetting } from "./bottlerocket-settings.ts";
import { softGracePeriods } from "./kubelet-flags.ts";
import type { ParsedUserDataRequest, UserDataResult } from "./user-data-request.ts";

/** Bottlerocket: the user's TOML with the settings of Kubernetes written over it. (04 §1.9) */
export function bottlerocketUserData(request: ParsedUserDataRequest): UserDataResult {
  const reading = readSettings(request.custom ?? "");
  if (reading.kind === "error") return { kind: "error", code: "invalid-toml", message: reading.message };
  const { document, settings, kubernetes } = reading;
  const unknown = unknownKubernetesSettings(kubernetes);
  const known = Object.fromEntries(Object.entries(kubernetes).filter(([key]) => !unknown.includes(key)));
  const commands = bootstrapCommands(request, tableAt(settings, "bootstrap-commands"));
  const text = stringify(
    {
      ...document,
      settings: {
        ...withoutWaitingForScalingGroup(settings),
        kubernetes: { ...known, ...ownSettings(request, tableAt(kubernetes, "node-labels")) },
        ...(Object.keys(commands).length > 0 && { "bootstrap-commands": commands }),
      },
    },
    { numbersAsFloat: true },
  );
  const warnings = unknown.map((key) => `settings.kubernetes.${key} in userData is not known and is left out`);
  return { kind: "ok", text, warnings };
}

type SettingsReading =
  | { readonly kind: "ok"; readonly document: TomlTable; readonly settings: TomlTable; readonly kubernetes: TomlTable }
  | { readonly kind: "error"; readonly message: string };

/** Integers are read as BigInt, so that 1.0 stays a float and 1 an integer when they are written again. */
function readSettings(text: string): SettingsReading {
  let document: TomlTable;
  try {
    document = parse(text, { integersAsBigInt: true });
  } catch (error) {
    return { kind: "error", message: errorMessage(error).split("\n")[0] ?? "" };
  }
  const { settings = {} } = document;
  if (!isTable(settings)) return { kind: "error", message: "settings is not a table" };
  const { kubernetes = {} } = settings;
  if (!isTable(kubernetes)) return { kind: "error", message: "settings.kubernetes is not a table" };
  const wrong = wrongKubernetesSetting(kubernetes);
  return wrong === undefined ? { kind: "ok", document, settings, kubernetes } : { kind: "error", message: wrong };
}

/** Nodes of Karpenter are in no Auto Scaling group: one that waits for its group would never start its kubelet. */
function withoutWaitingForScalingGroup(settings: TomlTable): TomlTable {
  const autoscaling = tableAt(settings, "autoscaling");
  if (autoscaling["should-wait"] === undefined) return settings;
  return { ...settings, autoscaling: { ...autoscaling, "should-wait": false } };
}

/** What Karpenter decides. Labels are merged over the user's, taints replace them. */
function ownSettings(request: ParsedUserDataRequest, userLabels: TomlTable): TomlTable {
  const { cluster, managed, labels } = request;
  const nodeTaints = taintsByKey(request.taints);
  return definedOnly({
    "api-server": cluster.endpoint,
    "cluster-certificate": cluster.caBundle,
    "cluster-name": cluster.name,
    "cluster-dns-ip": managed.clusterDNS?.[0],
    "max-pods": integer(managed.maxPods),
    "system-reserved": managed.systemReserved,
    "kube-reserved": managed.kubeReserved,
    "eviction-hard": managed.evictionHard,
    "eviction-soft": managed.evictionSoft,
    "eviction-soft-grace-period": softGracePeriods(managed),
    "eviction-max-pod-grace-period": integer(managed.evictionMaxPodGracePeriod),
    "image-gc-high-threshold-percent": managed.imageGCHighThresholdPercent?.toString(),
    "image-gc-low-threshold-percent": managed.imageGCLowThresholdPercent?.toString(),
    "cpu-cfs-quota-enforced": managed.cpuCFSQuota,
    "node-labels": { ...userLabels, ...labels },
    "node-taints": nodeTaints,
  });
}

function taintsByKey(taints: ParsedUserDataRequest["taints"]): Readonly<Record<string, readonly string[]>> {
  const byKey: Record<string, string[]> = {};
  for (const { key, value = "", effect } of taints) {
    byKey[key] = [...(byKey[key] ?? []), `${value}:${effect}`];
  }
  return byKey;
}

const mountCommand = "000-mount-instance-storage";

/** Local disks become one array, with the folders of pods and images on it. */
function bootstrapCommands({ instanceStorePolicy, bindsDefaultMounts }: ParsedUserDataRequest, users: TomlTable) {
  if (instanceStorePolicy !== "RAID0") return users;
  const storage = ["apiclient", "ephemeral-storage"];
  const folders = ["--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"];
  return {
    ...users,
    [mountCommand]: {
      commands: [
        [...storage, "init"],
        [...storage, "bind", ...(bindsDefaultMounts ? [] : folders)],
      ],
      essential: true,
      mode: "always",
    },
  };
}

/** Sorted, so that the same settings always give the same text. */
function definedOnly(table: Readonly<Record<string, unknown>>): TomlTable {
  const entries = Object.entries(table).flatMap(([key, value]): [string, TomlValue][] => {
    if (value === undefined) return [];
    if (!isRecord(value)) return [[key, value as TomlValue]];
    const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.length === 0 ? [] : [[key, Object.fromEntries(sorted) as TomlTable]];
  });
  return Object.fromEntries(entries);
}

function integer(value: number | string | undefined): bigint | undefined {
  return typeof value === "number" ? BigInt(value) : undefined;
}

function tableAt(table: TomlTable, key: string): TomlTable {
  const value = table[key];
  return value !== undefined && isTable(value) ? value : {};
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
}
