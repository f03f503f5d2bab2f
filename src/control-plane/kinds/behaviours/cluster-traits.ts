import { copyJson, setOwnKey } from "../../../api/json.ts";
import { defaultStorageClassOf } from "../../../api/kubernetes/default-storage-class.ts";
import { isRecord } from "../../../api/object.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import {
  forbiddenField,
  invalidValue,
  requiredValue,
  type StatusCause,
  tooLong,
  unsupportedValue,
} from "../../api/api-errors.ts";
import { listAt, recordAt, textAt } from "../../object-fields.ts";
import { ensureRecord, type JsonObject, type ObjectDraft, setDefaults } from "../object-draft.ts";
import type { AdmissionContext } from "../served-kind.ts";
import type { KindTraits } from "./built-in-behaviour.ts";
import { templateDefaults } from "./pod-defaults.ts";
import { podSpecCauses } from "./pod-spec-causes.ts";
import { immutableCauses, unchangeableCauses } from "./workload-traits.ts";

export const namespaceTraits: KindTraits = {
  hasStatus: true,
  nameStyle: "label",
  defaults: (draft) => {
    const { name = "" } = draft.metadata;
    draft.metadata.labels = { ...draft.metadata.labels, "kubernetes.io/metadata.name": name };
  },
  prepareCreate: (draft) => {
    draft.spec = { finalizers: ["kubernetes"] };
    draft.status = { phase: "Active" };
  },
  prepareUpdate: (draft, old) => {
    // Only a terminating namespace may lose its finalizer. (05:CP-L8)
    if (old.metadata.deletionTimestamp === undefined) draft.spec = copyJson(old.spec) as JsonObject;
  },
};

const nodeInfo = [
  "machineID",
  "systemUUID",
  "bootID",
  "kernelVersion",
  "osImage",
  "containerRuntimeVersion",
  "kubeletVersion",
  "kubeProxyVersion",
  "operatingSystem",
  "architecture",
];

export const nodeTraits: KindTraits = {
  hasStatus: true,
  keepsStatusOnCreate: true,
  emptyStatus: {
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: Object.fromEntries(nodeInfo.map((field) => [field, ""])),
  },
  defaults: (draft) => {
    ensureRecord(draft, "spec");
    allocatableFromCapacity(draft);
  },
  completeStatus: allocatableFromCapacity,
  check: (draft, old) => {
    const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    const causes = listAt(draft.spec, "taints").flatMap((taint, index): StatusCause[] => {
      const effect = textAt(taint, "effect");
      const path = ["spec", "taints", index];
      if (textAt(taint, "key") === "") return [requiredValue([...path, "key"])];
      return effects.includes(effect) ? [] : [unsupportedValue([...path, "effect"], effect, effects)];
    });
    const before = textAt(old?.spec, "providerID");
    if (before !== "" && textAt(draft.spec, "providerID") !== before) {
      causes.push(forbiddenField(["spec", "providerID"], "node updates may not change providerID"));
    }
    return causes;
  },
};

/** Allocatable defaults to capacity, as in the API server. */
function allocatableFromCapacity(draft: ObjectDraft): void {
  const status = ensureRecord(draft, "status");
  if (status["capacity"] !== undefined && status["allocatable"] === undefined) {
    status["allocatable"] = { ...recordAt(status, "capacity") };
  }
}

export const podTemplateTraits: KindTraits = {
  countsGenerations: true,
  defaults: (draft) => {
    ensureRecord(draft, "template");
    templateDefaults(draft);
  },
  check: (draft) => podSpecCauses(recordAt(draft, "template", "spec") ?? {}, ["template", "spec"]),
};

export const secretTraits: KindTraits = {
  defaults: (draft) => {
    const plain = recordAt(draft, "stringData");
    if (plain !== undefined) {
      const data = ensureRecord(draft, "data");
      for (const [key, text] of Object.entries(plain))
        setOwnKey(data, key, Buffer.from(String(text)).toString("base64"));
      delete draft["stringData"];
    }
    setDefaults(draft, { type: "Opaque" });
  },
  check: (draft, old) => [
    ...(base64Bytes(draft["data"]) > maxDataBytes ? [tooLong("data", maxDataBytes)] : []),
    ...immutableCauses(draft, old, ["type"]),
    ...immutableDataCauses(draft, old),
  ],
};

/** What a ConfigMap or Secret may hold, as in Kubernetes. */
const maxDataBytes = 1024 * 1024;

export const configMapTraits: KindTraits = {
  check: (draft, old) => {
    const plain = Object.values(recordAt(draft, "data") ?? {}).map((text) => Buffer.byteLength(String(text)));
    const bytes = plain.reduce((sum, size) => sum + size, base64Bytes(draft["binaryData"]));
    return [...(bytes > maxDataBytes ? [tooLong("[]", maxDataBytes)] : []), ...immutableDataCauses(draft, old)];
  },
};

/** The bytes that base64 texts stand for. */
function base64Bytes(texts: unknown): number {
  if (!isRecord(texts)) return 0;
  return Object.values(texts).reduce<number>((sum, text) => sum + Buffer.byteLength(String(text), "base64"), 0);
}

function immutableDataCauses(draft: ObjectDraft, old: unknown): readonly StatusCause[] {
  if (!isRecord(old) || old["immutable"] !== true) return [];
  const same = ["data", "binaryData"].every((field) => JSON.stringify(old[field]) === JSON.stringify(draft[field]));
  return same && draft["immutable"] === true
    ? []
    : [forbiddenField(["data"], "field is immutable when `immutable` is set")];
}

export const serviceTraits: KindTraits = {
  hasStatus: true,
  nameStyle: "label",
  defaults: (draft) => {
    const spec = ensureRecord(draft, "spec");
    setDefaults(spec, { type: "ClusterIP", sessionAffinity: "None" });
    for (const port of listAt(spec, "ports")) {
      setDefaults(port, { protocol: "TCP", targetPort: port["port"] });
      if (port["targetPort"] === 0) port["targetPort"] = port["port"];
    }
    if (spec["type"] !== "ExternalName") {
      setDefaults(spec, { internalTrafficPolicy: "Cluster", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
    }
    const isExternal = spec["type"] === "LoadBalancer" || spec["type"] === "NodePort";
    if (isExternal) setDefaults(spec, { externalTrafficPolicy: "Cluster" });
    if (spec["type"] === "LoadBalancer") setDefaults(spec, { allocateLoadBalancerNodePorts: true });
  },
  prepareCreate: (draft, context) => {
    const spec = ensureRecord(draft, "spec");
    draft.status = { loadBalancer: {} };
    if (spec["type"] === "ExternalName") return;
    if (textAt(spec, "clusterIP") === "") spec["clusterIP"] = freeAddress(context);
    spec["clusterIPs"] = [spec["clusterIP"]];
    if (spec["type"] === "ClusterIP") return;
    for (const port of listAt(spec, "ports")) port["nodePort"] ??= 30_000 + context.random.int(2768);
  },
  check: (draft, old) => {
    const spec = draft.spec ?? {};
    const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    const causes: StatusCause[] = [];
    if (!types.includes(textAt(spec, "type"))) causes.push(unsupportedValue(["spec", "type"], spec["type"], types));
    const isHeadless = textAt(spec, "clusterIP") === "None";
    if (listAt(spec, "ports").length === 0 && !isHeadless && spec["type"] !== "ExternalName") {
      causes.push(requiredValue(["spec", "ports"]));
    }
    const wasClusterIp = textAt(old?.spec, "clusterIP") !== "" && textAt(spec, "clusterIP") !== "";
    return wasClusterIp ? [...causes, ...immutableCauses(draft, old, ["spec", "clusterIP"])] : causes;
  },
};

/** A free address in 10.96.0.0/12. */
function freeAddress(context: AdmissionContext): string {
  const taken = new Set(context.list("services").map((service) => textAt(service.spec, "clusterIP")));
  for (;;) {
    const offset = 256 + context.random.int(2 ** 20 - 512);
    const address = `10.${96 + (offset >> 16)}.${(offset >> 8) & 255}.${offset & 255}`;
    if (!taken.has(address)) return address;
  }
}

export const persistentVolumeClaimTraits: KindTraits = {
  hasStatus: true,
  admitCreate: (draft, context) => {
    const spec = ensureRecord(draft, "spec");
    if (spec["storageClassName"] !== undefined) return;
    const chosen = defaultStorageClassOf(context.list("storageclasses.storage.k8s.io"));
    if (chosen?.metadata.name !== undefined) spec["storageClassName"] = chosen.metadata.name;
  },
  defaults: (draft) => setDefaults(ensureRecord(draft, "spec"), { volumeMode: "Filesystem" }),
  prepareCreate: (draft) => {
    draft.status = { phase: "Pending" };
  },
  check: (draft, old) => {
    const causes: StatusCause[] = [];
    if (!Array.isArray(draft.spec?.["accessModes"])) {
      causes.push(requiredValue(["spec", "accessModes"], "at least 1 access mode is required"));
    }
    if (recordAt(draft.spec, "resources", "requests")?.["storage"] === undefined) {
      causes.push({ ...requiredValue([]), field: "spec.resources[storage]" });
    }
    const late = textAt(old?.spec, "storageClassName") === "" ? ["storageClassName"] : [];
    return [
      ...causes,
      ...unchangeableCauses(draft, old, {
        // Binding sets the volume name; it may be set once.
        fields: [
          "resources",
          "volumeAttributesClassName",
          ...(textAt(old?.spec, "volumeName") === "" ? ["volumeName"] : []),
          ...late,
        ],
        because:
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
      }),
    ];
  },
};

export const persistentVolumeTraits: KindTraits = {
  hasStatus: true,
  defaults: (draft) =>
    setDefaults(ensureRecord(draft, "spec"), { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" }),
  prepareCreate: (draft, { now }) => {
    draft.status = { phase: "Pending", lastPhaseTransitionTime: rfc3339(now) };
  },
  check: (draft) => (recordAt(draft.spec, "capacity") === undefined ? [requiredValue(["spec", "capacity"])] : []),
};

export const storageClassTraits: KindTraits = {
  defaults: (draft) => setDefaults(draft, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  check: (draft, old) => [
    ...(textAt(draft, "provisioner") === "" ? [requiredValue(["provisioner"])] : []),
    ...["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"].flatMap((field) =>
      immutableCauses(draft, old, [field]),
    ),
  ],
};

export const priorityClassTraits: KindTraits = {
  countsGenerations: true,
  defaults: (draft) => {
    setDefaults(draft, { preemptionPolicy: "PreemptLowerPriority" });
    if (draft["value"] === undefined) draft["value"] = 0;
  },
  check: (draft, old) => immutableCauses(draft, old, ["value"]),
};

export const disruptionBudgetTraits: KindTraits = {
  countsGenerations: true,
  hasStatus: true,
  needsVersionToUpdate: true,
  emptyStatus: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  check: (draft) => {
    const { minAvailable, maxUnavailable } = (draft.spec ?? {}) as JsonObject;
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      return [invalidValue(["spec"], draft.spec, "minAvailable and maxUnavailable cannot be both set")];
    }
    return [
      ...countOrPercent(minAvailable, ["spec", "minAvailable"]),
      ...countOrPercent(maxUnavailable, ["spec", "maxUnavailable"]),
    ];
  },
};

function countOrPercent(value: unknown, path: readonly string[]): readonly StatusCause[] {
  if (value === undefined) return [];
  if (typeof value === "number")
    return value >= 0 ? [] : [invalidValue(path, value, "must be greater than or equal to 0")];
  if (typeof value !== "string" || !/^\d+%$/.test(value)) {
    return [invalidValue(path, value, "a valid percent string must be a numeric string followed by an ending '%'")];
  }
  return Number.parseInt(value, 10) > 100 ? [invalidValue(path, value, "must not be greater than 100%")] : [];
}

export const leaseTraits: KindTraits = { needsVersionToUpdate: true };

export const limitRangeTraits: KindTraits = {
  defaults: (draft) => {
    for (const limit of listAt(draft.spec, "limits")) {
      if (limit["type"] !== "Container") continue;
      // A default limit is the maximum, a default request the default limit, else the minimum.
      for (const [field, source] of [
        ["default", "max"],
        ["defaultRequest", "default"],
        ["defaultRequest", "min"],
      ] as const) {
        for (const [name, amount] of Object.entries(recordAt(limit, source) ?? {})) {
          const list = ensureRecord(limit, field);
          if (!Object.hasOwn(list, name)) list[name] = amount;
        }
      }
    }
  },
};

export const admissionConfigurationTraits: KindTraits = {
  countsGenerations: true,
  warnings: () => ["admission webhooks and policies are stored by this server, but never called"],
};
