import type { ReplicaRange } from "./replica-range.ts";

/** What was read otherwise than written, or not at all, and should be known to who reads the result. */
export type InputNote =
  /** The number of pods of a workload is between two numbers. */
  | {
      readonly code: "replica-range";
      readonly workload: string;
      readonly planned: number;
      readonly range: ReplicaRange;
    }
  | { readonly code: "autoscaler-without-target"; readonly autoscaler: string; readonly target: string }
  /** The kind makes pods, but not in a way we know. */
  | {
      readonly code: "pods-not-planned";
      readonly workload: string;
      readonly because: "no-replicas" | "hidden-template";
    }
  | { readonly code: "workload-ref-missing"; readonly workload: string; readonly target: string }
  /** A workload runs its own pods beside those of the Rollout that refers to it. */
  | {
      readonly code: "workload-runs-twice";
      readonly workload: string;
      readonly target: string;
      readonly count: number;
    }
  /** Claims planned with a class that is not in the input; without a name it is the default one. */
  | { readonly code: "class-assumed"; readonly storageClass: string | undefined; readonly claims: readonly string[] }
  | { readonly code: "volume-assumed"; readonly volume: string; readonly claims: readonly string[] }
  /** Claims that are bound before their pods are scheduled, nobody knows in which zone. */
  | { readonly code: "zone-unknown"; readonly claims: readonly string[] }
  | { readonly code: "runtime-class-missing"; readonly runtimeClass: string };
