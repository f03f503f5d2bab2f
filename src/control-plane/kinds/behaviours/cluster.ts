import { isRecord } from "../../../api/object.ts";
import { type Cause, forbiddenField, invalidValue, required, unsupportedValue } from "../../api/failures.ts";
import { rfc3339 } from "../../api/times.ts";
import { child, copyJson, type Draft, defaultTo, type Json, listAt, recordAt, setKey, textAt } from "../draft.ts";
import type { World } from "../kind.ts";
import type { Traits } from "./built-in.ts";
import { podSpecCauses } from "./pod-checks.ts";
import { templateDefaults } from "./pod-template.ts";
import { immutable, onlyMayChange } from "./workloads.ts";

export const namespaceTraits: Traits = {
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
    // A namespace that goes is let go by taking its finalizer off; before that nobody touches it. (05:CP-L8)
    if (old.metadata.deletionTimestamp === undefined) draft.spec = copyJson(old.spec) as Json;
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

export const nodeTraits: Traits = {
  hasStatus: true,
  keepsStatusOnCreate: true,
  emptyStatus: {
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: Object.fromEntries(nodeInfo.map((field) => [field, ""])),
  },
  defaults: (draft) => {
    child(draft, "spec");
    allocatableFromCapacity(draft);
  },
  completeStatus: allocatableFromCapacity,
  check: (draft, old) => {
    const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    const causes = listAt(draft.spec, "taints").flatMap((taint, index): Cause[] => {
      const effect = textAt(taint, "effect");
      const path = ["spec", "taints", index];
      if (textAt(taint, "key") === "") return [required([...path, "key"])];
      return effects.includes(effect) ? [] : [unsupportedValue([...path, "effect"], effect, effects)];
    });
    const before = textAt(old?.spec, "providerID");
    if (before !== "" && textAt(draft.spec, "providerID") !== before) {
      causes.push(forbiddenField(["spec", "providerID"], "node updates may not change providerID"));
    }
    return causes;
  },
};

/** As the API server's own defaulting: what is not said to be reserved may be used. */
function allocatableFromCapacity(draft: Draft): void {
  const status = child(draft, "status");
  if (status["capacity"] !== undefined && status["allocatable"] === undefined) {
    status["allocatable"] = { ...recordAt(status, "capacity") };
  }
}

export const podTemplateTraits: Traits = {
  countsGenerations: true,
  defaults: (draft) => {
    child(draft, "template");
    templateDefaults(draft);
  },
  check: (draft) => podSpecCauses(recordAt(draft, "template", "spec") ?? {}, ["template", "spec"]),
};

export const secretTraits: Traits = {
  defaults: (draft) => {
    const plain = recordAt(draft, "stringData");
    if (plain !== undefined) {
      const data = child(draft, "data");
      for (const [key, text] of Object.entries(plain)) setKey(data, key, Buffer.from(String(text)).toString("base64"));
      delete draft["stringData"];
    }
    defaultTo(draft, { type: "Opaque" });
  },
  check: (draft, old) => [...immutable(draft, old, { path: ["type"] }), ...whenImmutable(draft, old)],
};

export const configMapTraits: Traits = { check: (draft, old) => whenImmutable(draft, old) };

function whenImmutable(draft: Draft, old: unknown): readonly Cause[] {
  if (!isRecord(old) || old["immutable"] !== true) return [];
  const same = ["data", "binaryData"].every((field) => JSON.stringify(old[field]) === JSON.stringify(draft[field]));
  return same && draft["immutable"] === true
    ? []
    : [forbiddenField(["data"], "field is immutable when `immutable` is set")];
}

export const serviceTraits: Traits = {
  hasStatus: true,
  nameStyle: "label",
  defaults: (draft) => {
    const spec = child(draft, "spec");
    defaultTo(spec, { type: "ClusterIP", sessionAffinity: "None" });
    for (const port of listAt(spec, "ports")) {
      defaultTo(port, { protocol: "TCP", targetPort: port["port"] });
      if (port["targetPort"] === 0) port["targetPort"] = port["port"];
    }
    if (spec["type"] !== "ExternalName") {
      defaultTo(spec, { internalTrafficPolicy: "Cluster", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
    }
    const isExternal = spec["type"] === "LoadBalancer" || spec["type"] === "NodePort";
    if (isExternal) defaultTo(spec, { externalTrafficPolicy: "Cluster" });
    if (spec["type"] === "LoadBalancer") defaultTo(spec, { allocateLoadBalancerNodePorts: true });
  },
  prepareCreate: (draft, world) => {
    const spec = child(draft, "spec");
    draft.status = { loadBalancer: {} };
    if (spec["type"] === "ExternalName") return;
    if (textAt(spec, "clusterIP") === "") spec["clusterIP"] = freeAddress(world);
    spec["clusterIPs"] = [spec["clusterIP"]];
    if (spec["type"] === "ClusterIP") return;
    for (const port of listAt(spec, "ports")) port["nodePort"] ??= 30_000 + world.random.int(2768);
  },
  check: (draft, old) => {
    const spec = draft.spec ?? {};
    const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    const causes: Cause[] = [];
    if (!types.includes(textAt(spec, "type"))) causes.push(unsupportedValue(["spec", "type"], spec["type"], types));
    const isHeadless = textAt(spec, "clusterIP") === "None";
    if (listAt(spec, "ports").length === 0 && !isHeadless && spec["type"] !== "ExternalName") {
      causes.push(required(["spec", "ports"]));
    }
    const wasClusterIp = textAt(old?.spec, "clusterIP") !== "" && textAt(spec, "clusterIP") !== "";
    return wasClusterIp ? [...causes, ...immutable(draft, old, { path: ["spec", "clusterIP"] })] : causes;
  },
};

/** Somewhere in 10.96.0.0/12 that no Service has. */
function freeAddress(world: World): string {
  const taken = new Set(world.list("services").map((service) => textAt(service.spec, "clusterIP")));
  for (;;) {
    const offset = 256 + world.random.int(2 ** 20 - 512);
    const address = `10.${96 + (offset >> 16)}.${(offset >> 8) & 255}.${offset & 255}`;
    if (!taken.has(address)) return address;
  }
}

const defaultClass = "storageclass.kubernetes.io/is-default-class";

export const persistentVolumeClaimTraits: Traits = {
  hasStatus: true,
  admitCreate: (draft, world) => {
    const spec = child(draft, "spec");
    if (spec["storageClassName"] !== undefined) return;
    const classes = world
      .list("storageclasses.storage.k8s.io")
      .filter(({ metadata }) => metadata.annotations?.[defaultClass] === "true");
    // The youngest of several defaults, as Kubernetes picks.
    const [chosen] = [...classes].sort((a, b) =>
      (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? ""),
    );
    if (chosen?.metadata.name !== undefined) spec["storageClassName"] = chosen.metadata.name;
  },
  defaults: (draft) => defaultTo(child(draft, "spec"), { volumeMode: "Filesystem" }),
  prepareCreate: (draft) => {
    draft.status = { phase: "Pending" };
  },
  check: (draft, old) => {
    const causes: Cause[] = [];
    if (!Array.isArray(draft.spec?.["accessModes"])) {
      causes.push(required(["spec", "accessModes"], "at least 1 access mode is required"));
    }
    if (recordAt(draft.spec, "resources", "requests")?.["storage"] === undefined) {
      causes.push({ ...required([]), field: "spec.resources[storage]" });
    }
    const late = textAt(old?.spec, "storageClassName") === "" ? ["storageClassName"] : [];
    return [
      ...causes,
      ...onlyMayChange(draft, old, {
        // A volume is bound by setting its name, once.
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

export const persistentVolumeTraits: Traits = {
  hasStatus: true,
  defaults: (draft) =>
    defaultTo(child(draft, "spec"), { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" }),
  prepareCreate: (draft, { now }) => {
    draft.status = { phase: "Pending", lastPhaseTransitionTime: rfc3339(now) };
  },
  check: (draft) => (recordAt(draft.spec, "capacity") === undefined ? [required(["spec", "capacity"])] : []),
};

export const storageClassTraits: Traits = {
  defaults: (draft) => defaultTo(draft, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  check: (draft, old) => [
    ...(textAt(draft, "provisioner") === "" ? [required(["provisioner"])] : []),
    ...["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"].flatMap((field) =>
      immutable(draft, old, { path: [field] }),
    ),
  ],
};

export const priorityClassTraits: Traits = {
  countsGenerations: true,
  defaults: (draft) => {
    defaultTo(draft, { preemptionPolicy: "PreemptLowerPriority" });
    if (draft["value"] === undefined) draft["value"] = 0;
  },
  check: (draft, old) => immutable(draft, old, { path: ["value"] }),
};

export const disruptionBudgetTraits: Traits = {
  countsGenerations: true,
  hasStatus: true,
  needsVersionToUpdate: true,
  emptyStatus: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  check: (draft) => {
    const { minAvailable, maxUnavailable } = (draft.spec ?? {}) as Json;
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      return [invalidValue(["spec"], draft.spec, "minAvailable and maxUnavailable cannot be both set")];
    }
    return [
      ...countOrPercent(minAvailable, ["spec", "minAvailable"]),
      ...countOrPercent(maxUnavailable, ["spec", "maxUnavailable"]),
    ];
  },
};

function countOrPercent(value: unknown, path: readonly string[]): readonly Cause[] {
  if (value === undefined) return [];
  if (typeof value === "number")
    return value >= 0 ? [] : [invalidValue(path, value, "must be greater than or equal to 0")];
  if (typeof value !== "string" || !/^\d+%$/.test(value)) {
    return [invalidValue(path, value, "a valid percent string must be a numeric string followed by an ending '%'")];
  }
  return Number.parseInt(value, 10) > 100 ? [invalidValue(path, value, "must not be greater than 100%")] : [];
}

export const leaseTraits: Traits = { needsVersionToUpdate: true };

export const limitRangeTraits: Traits = {
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
          const list = child(limit, field);
          if (!Object.hasOwn(list, name)) list[name] = amount;
        }
      }
    }
  },
};

export const notCalled: Traits = {
  countsGenerations: true,
  warnings: () => ["admission webhooks and policies are stored by this server, but never called"],
};
