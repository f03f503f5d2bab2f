export const conditionStatuses = ["True", "False", "Unknown"] as const;
export type ConditionStatus = (typeof conditionStatuses)[number];

/** One entry of `status.conditions`. Old NodeClaims may lack reason and message. (01 §0.4) */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** RFC 3339, whole seconds, as the API server stores it. */
  readonly lastTransitionTime: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

/** What a controller observed, without time and generation. */
export interface ConditionObservation {
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
}

/** Anything that carries conditions. */
export interface Conditioned {
  readonly metadata: {
    readonly generation?: number | undefined;
    readonly creationTimestamp?: string | undefined;
    readonly deletionTimestamp?: string | undefined;
  };
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** The conditions of one kind: `root` sums up `dependents`; independent conditions exist only while set. (01 §2.1) */
export interface ConditionSet<D extends string = string, I extends string = string> {
  readonly root: ReadyCondition | undefined;
  readonly dependents: readonly D[];
  readonly independents: readonly I[];
}

export const readyCondition = "Ready";
export type ReadyCondition = typeof readyCondition;

/** Reasons written by the condition functions themselves. */
export const conditionReasons = {
  awaiting: "AwaitingReconciliation",
  reconciling: "ReconcilingDependents",
  unhealthy: "UnhealthyDependents",
} as const;
