import type { ReplicaChoice } from "../../core/scenario/replica-range.ts";

/** Values of `--provider` and `-o`, in a module of their own so that `--help` does not import the planner. */
export const planProviders = ["kwok", "aws"] as const;
export type PlanProvider = (typeof planProviders)[number];

export const planOutputs = ["table", "wide", "json", "yaml", "nodeclaims"] as const;
export type PlanOutput = (typeof planOutputs)[number];

/** Enough for any input we know; a plan that needs more says so. */
export const maxPlannedRounds = 100;
export const replicaChoices: readonly ReplicaChoice[] = ["current", "min", "max"];
