import { isRecord, type KubeObject } from "../../api/object.ts";
import { type Json, listAt, numberAt, recordAt, textAt } from "./draft.ts";
import type { ConvertedObject, KindConversion } from "./kind.ts";

/** Where the first version keeps what it has no field for, so that writing back what was read loses nothing. */
const kept = {
  metrics: "autoscaling.alpha.kubernetes.io/metrics",
  behavior: "autoscaling.alpha.kubernetes.io/behavior",
} as const;

/** autoscaling/v1, which `kubectl autoscale` writes, knows one measure: the use of CPU in percent. (05 §5) */
export const autoscalerConversion: KindConversion = {
  toStored: (object) => plain(isRecord(object) ? toSecond(object) : object),
  fromStored: (object) => plain(toFirst(object)),
};

function plain(object: unknown): ConvertedObject {
  return { object, warnings: [] };
}

function toSecond(object: Json): Json {
  const { targetCPUUtilizationPercentage: percent, ...spec } = recordAt(object, "spec") ?? {};
  const { currentCPUUtilizationPercentage: _, ...status } = recordAt(object, "status") ?? {};
  const {
    [kept.metrics]: others,
    [kept.behavior]: behavior,
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

function toFirst(object: KubeObject): Json {
  const { metrics: _, behavior, ...spec } = recordAt(object, "spec") ?? {};
  const { currentMetrics: __, conditions: ___, ...status } = recordAt(object, "status") ?? {};
  const metrics = listAt(object.spec, "metrics");
  const cpu = metrics.find(isCpuInPercent);
  const others = metrics.filter((metric) => metric !== cpu);
  const percent = numberAt(cpu, "resource", "target", "averageUtilization");
  const annotations = {
    ...object.metadata.annotations,
    ...(others.length > 0 && { [kept.metrics]: JSON.stringify(others) }),
    ...(isRecord(behavior) && { [kept.behavior]: JSON.stringify(behavior) }),
  };
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations({ ...object.metadata }, annotations),
    spec: { ...spec, ...(percent !== undefined && { targetCPUUtilizationPercentage: percent }) },
    ...(object.status !== undefined && { status }),
  };
}

function withAnnotations({ annotations: _, ...metadata }: Json, annotations: Json): Json {
  return { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) };
}

function cpuMetric(percent: unknown): Json {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } } };
}

function isCpuInPercent(metric: Json): boolean {
  const target = recordAt(metric, "resource", "target");
  return textAt(metric, "resource", "name") === "cpu" && textAt(target, "type") === "Utilization";
}

function parsedList(text: unknown): readonly unknown[] {
  const value = parsed(text);
  return Array.isArray(value) ? value : [];
}

/** Anybody can write an annotation: what cannot be read is as good as none. */
function parsed(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
