import { isRecord, type KubeObject, namespaceOf } from "../../api/object.ts";
import { scenarioKind } from "./scenario-kind.ts";

/** Which number of pods to plan for workloads that are scaled automatically. */
export type ReplicaChoice = "current" | "min" | "max";

/** Between how many pods an autoscaler keeps a workload. */
export interface ReplicaRange {
  /** Kind and name of the autoscaler. */
  readonly autoscaler: string;
  readonly least: number;
  readonly most: number;
}

/** An autoscaler, and the workload it scales as kind/namespace/name. */
export interface Autoscaler {
  readonly target: string;
  readonly range: ReplicaRange;
}

/** How many pods KEDA allows where nothing is written. */
const kedaMost = 100;

/** HorizontalPodAutoscalers and KEDA's ScaledObjects; undefined for other objects. */
export function autoscalerOf(object: KubeObject): Autoscaler | undefined {
  const { metadata, spec } = object;
  const kind = scenarioKind(object);
  if ((kind !== "HorizontalPodAutoscaler" && kind !== "ScaledObject") || !isRecord(spec)) return undefined;
  const ref = spec["scaleTargetRef"];
  if (!isRecord(ref)) return undefined;
  const isKeda = kind === "ScaledObject";
  const least = countAt(spec, isKeda ? "minReplicaCount" : "minReplicas") ?? (isKeda ? 0 : 1);
  const most = countAt(spec, isKeda ? "maxReplicaCount" : "maxReplicas") ?? (isKeda ? kedaMost : least);
  const name = metadata.name ?? "";
  return {
    target: `${ref["kind"] ?? "Deployment"}/${namespaceOf(metadata)}/${ref["name"]}`,
    range: { autoscaler: `${kind} ${name}`, least, most: Math.max(least, most) },
  };
}

/**
 * How many pods to plan for. `current` is what the workload starts with: its own number, moved into the range as the
 * autoscaler would. A workload that is scaled to zero is left alone by it.
 */
export function plannedReplicas(written: number, { least, most }: ReplicaRange, choice: ReplicaChoice): number {
  if (written === 0 && least > 0) return 0;
  if (choice === "min") return least;
  return choice === "max" ? most : Math.min(Math.max(written, least), most);
}

function countAt(spec: Readonly<Record<string, unknown>>, field: string): number | undefined {
  const value = spec[field];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}
