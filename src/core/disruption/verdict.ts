import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { DisruptionDecision } from "./methods.ts";

/** What a method found out about one node: why it stays, or what would happen to it. */
export type NodeVerdict = VerdictCause & {
  readonly node: string;
  /** Its pool, if it names one. */
  readonly nodePool?: string | undefined;
};

/** A closed set of codes, each with its figures; every text is a rendering of one of these. */
export type VerdictCause = CandidacyCause | FilterCause | DecisionCause;

/** The node is no candidate for any method of the class. (03 §4.2) */
export type CandidacyCause =
  | {
      readonly code:
        | "in-command"
        | "unmanaged"
        | "no-node"
        | "not-initialized"
        | "deleting"
        | "nominated"
        | "node-protected"
        | "no-pool-label";
    }
  | { readonly code: "pool-not-found"; readonly pool: string }
  | { readonly code: "pod-protected"; readonly pod: string; readonly untilMs?: number | undefined }
  | { readonly code: "pdb"; readonly pod: string; readonly budgets: readonly string[] };

/** The method is not for this node. (03:D-19) */
export type FilterCause =
  | { readonly code: "static-pool" | "dynamic-pool" | "buffer-pods" | "not-empty" | "empty" | "not-drifted" }
  | { readonly code: "consolidation-disabled" | "policy-when-empty"; readonly pool: string }
  | { readonly code: "not-consolidatable"; readonly untilMs?: number | undefined }
  | { readonly code: "unknown-instance-type"; readonly instanceType: string }
  | { readonly code: "missing-label"; readonly label: string };

/** What the method decided. */
export type DecisionCause =
  | {
      readonly code: "budget";
      readonly pool: string;
      readonly reason: DisruptionReason;
      readonly allowed: number;
      readonly disrupting: number;
    }
  | { readonly code: "held-back"; readonly pool: string; readonly untilMs: number }
  | { readonly code: "scaling-down"; readonly pool: string; readonly nodes: number; readonly replicas: number }
  | { readonly code: "node-limit"; readonly pool: string; readonly limit: number }
  | { readonly code: "no-room"; readonly resource: string; readonly needed: number; readonly free: number }
  | { readonly code: "pods-unschedulable"; readonly savings: number; readonly pods: readonly PodError[] }
  | { readonly code: "needs-more-nodes"; readonly savings: number; readonly newNodes: readonly NeededNode[] }
  | { readonly code: "no-cheaper-type"; readonly price: number; readonly cheapest: number | undefined }
  | { readonly code: "same-type"; readonly instanceTypes: readonly string[] }
  | { readonly code: "min-values"; readonly labels: readonly string[]; readonly message: string }
  | { readonly code: "spot-to-spot-disabled" }
  | { readonly code: "spot-flexibility"; readonly needed: number; readonly found: number }
  | { readonly code: "score"; readonly scores: readonly BalancedScore[] }
  | { readonly code: "saving-too-small"; readonly pool: string; readonly savings: number; readonly minimum: number }
  | { readonly code: "min-saving-invalid"; readonly pool: string; readonly value: string }
  | {
      readonly code: "undoes-recent-move";
      /** Those of the nodes that would go which a recent move brought about. */
      readonly nodes: readonly string[];
      readonly movedAtMs: number;
      readonly untilMs: number;
    }
  | { readonly code: "candidate-deleting" }
  | { readonly code: "destination" }
  | { readonly code: "too-few-nodes" }
  | { readonly code: "not-in-command"; readonly tried: readonly TriedSet[] }
  | { readonly code: "not-reached"; readonly because: "search-budget" | "command-found" }
  | { readonly code: "possible" | "chosen"; readonly decision: DisruptionDecision; readonly savings: number };

/** A pod that would have no place. */
export interface PodError {
  readonly pod: string;
  readonly message: string;
}

/** A node that would have to be created. */
interface NeededNode {
  readonly price: number;
  readonly pods: readonly string[];
}

/** Nodes that were tried together, and why nothing came of it. */
export interface TriedSet {
  readonly nodes: number;
  readonly cause: DecisionCause;
}

/** A move of a Balanced pool, as a share of the pool. (03:B-1) */
export interface BalancedScore {
  readonly pool: string;
  /** Of what the pool costs. */
  readonly savingsShare: number;
  /** Of what disrupting the whole pool would cost. */
  readonly disruptionShare: number;
  readonly score: number;
  readonly threshold: number;
  readonly isApproved: boolean;
}
