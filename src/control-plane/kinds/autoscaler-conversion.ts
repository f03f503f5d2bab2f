import { isRecord, type KubeObject } from "../../api/object.ts";
import { listAt, numberAt, recordAt, textAt } from "../object-fields.ts";
import type { JsonObject } from "./object-draft.ts";
import type { KindConversion, KindConversionResult } from "./served-kind.ts";

/** Annotations in which autoscaling/v1 keeps what it has no field for, so that a read and write back loses nothing. */
const keptAnnotations = {
  metrics: "autoscaling.alpha.kubernetes.io/metrics",
  behavior: "autoscaling.alpha.kubernetes.io/behavior",
} as const;

/** autoscaling/v1, which `kubectl autoscale` writes, has one metric: CPU utilization in percent. (05 §5) */
export const autoscalerConversion: KindConversion = {
  toStored: (object) => withoutWarnings(isRecord(object) ? toV2(object) : object),
  fromStored: (object) => withoutWarnings(toV1Autoscaler(object)),
};

function withoutWarnings(object: unknown): KindConversionResult {
  return { object, warnings: [] };
}

function toV2(object: JsonObject): JsonObject {
  const { targetCPUUtilizationPercentage: percent, ...spec } = recordAt(object, "spec") ?? {};
  const { currentCPUUtilizationPercentage: _, ...status } = recordAt(object, "status") ?? {};
  const {
    [keptAnnotations.metrics]: others,
    [keptAnnotations.behavior]: behavior,
    ...annotations
  } = recordAt(object, "metadata", "annotations") ?? {};
  const metrics = [...parsedList(others), ...(percent === undefined || percent === null ? [] : [cpuMetric(percent)])];
  const rules = parsed(behavior);
  return {
    ...object,
    apiVersion: "autoscaling/v2",
    ...(isRecord(object["metadata"]) && { metadata: withAnnotations(object["metadata"], annotations) }),
    spec: { ...spec, ...(metrics.length > 0 && { metrics }), ...(isRecord(rules) && { behavior: rules }) },
    ...(isRecord(object["status"]) && { status }),
  };
}

function toV1Autoscaler(object: KubeObject): JsonObject {
  const { metrics: _, behavior, ...spec } = recordAt(object, "spec") ?? {};
  const { currentMetrics: __, conditions: ___, ...status } = recordAt(object, "status") ?? {};
  const metrics = listAt(object.spec, "metrics");
  const cpu = metrics.find(isCpuInPercent);
  const others = metrics.filter((metric) => metric !== cpu);
  const percent = numberAt(cpu, "resource", "target", "averageUtilization");
  const annotations = {
    ...object.metadata.annotations,
    ...(others.length > 0 && { [keptAnnotations.metrics]: JSON.stringify(others) }),
    ...(isRecord(behavior) && { [keptAnnotations.behavior]: JSON.stringify(behavior) }),
  };
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations({ ...object.metadata }, annotations),
    spec: { ...spec, ...(percent !== undefined && { targetCPUUtilizationPercentage: percent }) },
    ...(object.status !== undefined && { status }),
  };
}

function withAnnotations({ annotations: _, ...metadata }: JsonObject, annotations: JsonObject): JsonObject {
  return { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) };
}

function cpuMetric(percent: unknown): JsonObject {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } } };
}

function isCpuInPercent(metric: JsonObject): boolean {
  const target = recordAt(metric, "resource", "target");
  return textAt(metric, "resource", "name") === "cpu" && textAt(target, "type") === "Utilization";
}

function parsedList(text: unknown): readonly unknown[] {
  const value = parsed(text);
  return Array.isArray(value) ? value : [];
}

/** Users can write this annotation too: one that cannot be parsed is ignored. */
function parsed(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
