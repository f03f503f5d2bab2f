import type { TopologySpreadConstraint } from "../api/kubernetes/pod.ts";
import type { DisruptionMode } from "../core/disruption/snapshot.ts";

/** Features that can be switched on and off. (03 §6.4) */
export interface FeatureGates {
  readonly NodeRepair: boolean;
  readonly ReservedCapacity: boolean;
  readonly SpotToSpotConsolidation: boolean;
  /** Several nodes may be replaced by several. Ours. (03:D-46b) */
  readonly MultiReplacement: boolean;
  /** Rounds plan for the pods that ReplicaSets have yet to create. Ours. (02:P-35) */
  readonly ExpectedPods: boolean;
  readonly NodeOverlay: boolean;
  readonly StaticCapacity: boolean;
  readonly CapacityBuffer: boolean;
}

/** The options that controllers read. (03 §6.4) */
export interface Settings {
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
  readonly preferencePolicy: "Respect" | "Ignore";
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly ignoreDraRequests: boolean;
  readonly packing: "plain" | "polished";
  /** Whether to nominate pods to the nodes they are planned on, where the API server supports it. (02:L-40) */
  readonly nominatePods: boolean;
  readonly cpuRequestsMilli: number;
  readonly gates: FeatureGates;
  readonly defaultConstraints: readonly TopologySpreadConstraint[];
  readonly launchTimeoutMs: number;
  readonly registrationTimeoutMs: number;
  /** Whether metrics and events that cost a series or a write per object are kept. */
  readonly isClusterStateObservable: boolean;
  readonly disruptionMode: DisruptionMode;
}

export const defaultGates: FeatureGates = {
  NodeRepair: false,
  ReservedCapacity: true,
  SpotToSpotConsolidation: false,
  MultiReplacement: false,
  ExpectedPods: true,
  NodeOverlay: false,
  StaticCapacity: false,
  CapacityBuffer: false,
};

export const defaultSettings: Settings = {
  batchIdleMs: 1_000,
  batchMaxMs: 10_000,
  preferencePolicy: "Respect",
  minValuesPolicy: "Strict",
  ignoreDraRequests: true,
  packing: "polished",
  nominatePods: true,
  cpuRequestsMilli: 1_000,
  gates: defaultGates,
  defaultConstraints: [],
  launchTimeoutMs: 5 * 60_000,
  registrationTimeoutMs: 15 * 60_000,
  isClusterStateObservable: true,
  disruptionMode: "default",
};

/** How long a nomination protects a node. (02:S-30) */
export function nominationMs({ batchMaxMs }: Pick<Settings, "batchMaxMs">): number {
  return Math.max(2 * batchMaxMs, 10_000);
}

/** How many keys are reconciled at a time; grows with the CPU requested. (03 §8.5) */
export function scaledConcurrency(
  { min, max }: { readonly min: number; readonly max: number },
  { cpuRequestsMilli }: Pick<Settings, "cpuRequestsMilli">,
): number {
  const cores = Math.ceil(Math.max(1, cpuRequestsMilli) / 1_000);
  return Math.min(max, Math.max(min, min + Math.floor(((max - min) / 59) * (cores - 1))));
}
