import type { TopologyCause } from "../scheduling/refusal.ts";
import type { Edit } from "./edit.ts";

/** Why a pod is where it is, or why it is nowhere and what would help. Plain data: every text is a rendering of it. */
export interface Explanation {
  /** namespace/name. */
  readonly pod: string;
  readonly outcome: PodOutcome;
  /** One sentence. */
  readonly cause: string;
  /** Nearest first; for a pod with a place on a new node, pools tried before that refuse it. */
  readonly pools: readonly PoolFinding[];
  /** Nearest first; for a pod with a place on a new node, those that refuse it. */
  readonly nodes: readonly NodeFinding[];
  /** What came closest to taking the pod. */
  readonly nearest?: NearestMiss;
  /** Changes that were applied and planned again, smallest first; the pod has a place with each of them. */
  readonly suggestions: readonly Suggestion[];
}

export type PodOutcome =
  | { readonly kind: "on-node"; readonly node: string }
  | ({ readonly kind: "on-new-node" } & NewNodeOutcome)
  | { readonly kind: "unplaced"; readonly message: string }
  /** It did not pass validation, and so was not looked at. (02 §1.5) */
  | { readonly kind: "ignored"; readonly message: string };

/** A node that would be bought. */
export interface NewNodeOutcome {
  readonly pool: string;
  /** Cheapest first. */
  readonly instanceTypes: readonly string[];
  /** Dollars an hour. */
  readonly price: number;
  readonly zones: readonly string[];
  /** Other pods on it. */
  readonly pods: readonly string[];
}

export interface PoolFinding {
  readonly pool: string;
  /**
   * Everything that stands between the pod and a new node, in the order of the checks; empty: it would take the pod.
   */
  readonly reasons: readonly RefusalReason[];
}

export interface NodeFinding {
  readonly node: string;
  /** Checks that failed, each on its own. (02 §5.4) */
  readonly checks: readonly FailedCheck[];
}

export const existingNodeChecks = ["E-1", "E-2", "E-3", "E-4", "E-5", "E-6"] as const;
export type ExistingNodeCheck = (typeof existingNodeChecks)[number];

export interface FailedCheck {
  readonly check: ExistingNodeCheck;
  readonly reason: RefusalReason;
}

export interface NearestMiss {
  readonly kind: "pool" | "node";
  readonly name: string;
  readonly reasons: readonly RefusalReason[];
}

/** A change, tried. */
export interface Suggestion {
  /** An order, without a full stop. */
  readonly text: string;
  readonly edits: readonly Edit[];
  /** How much is changed: what the order of suggestions goes by. */
  readonly weight: number;
  /** Where the pod goes then. */
  readonly place: { readonly node: string } | { readonly pool: string; readonly instanceType?: string };
  /** Pods that had no place either, and get one. */
  readonly alsoPlaced: number;
  /** Pods that lose their place to it. */
  readonly displaced: readonly string[];
}

/**
 * One constraint that refused, with its figures as text. Closed; codes are those of refusals. (docs/designs/engine.md)
 */
export type RefusalReason =
  | { readonly code: "taint"; readonly taint: string }
  | LabelReason
  | { readonly code: "volume-limit"; readonly driver: string; readonly limit: number; readonly wanted: number }
  | { readonly code: "host-port"; readonly port: number; readonly protocol: string; readonly owner?: string }
  | ResourceReason
  | ({ readonly code: "topology" } & Pick<TopologyCause, "kind" | "key" | "counts">)
  /** No type is left, for which of these reasons. (02:F-3) */
  | { readonly code: "instance-types"; readonly matches: boolean; readonly fits: boolean; readonly offered: boolean }
  | { readonly code: "min-values"; readonly key: string; readonly achieved: number; readonly wanted?: number }
  | LimitReason
  | { readonly code: "reserved-capacity" }
  | { readonly code: "dynamic-resources" }
  | { readonly code: "no-templates"; readonly becauseOfMinValues: boolean }
  | { readonly code: "no-pools" }
  | { readonly code: "volume-unknown"; readonly text: string }
  | { readonly code: "invalid-pod"; readonly text: string };

/** A label the pod, or its volume, wants otherwise. */
export interface LabelReason {
  readonly code: "requirements" | "volume-requirements";
  readonly key: string;
  readonly wants: string;
  /** Absent: the label is not known there at all. */
  readonly has?: string;
  /** A known key that looks much like it. */
  readonly similarKey?: string;
}

/** Too little of a resource. */
export interface ResourceReason {
  readonly code: "resources";
  readonly resource: string;
  readonly asked: string;
  readonly available: string;
  /** What of it daemons take first, where types are compared. */
  readonly daemons?: string;
  /** The type that comes nearest, on a node to be bought. */
  readonly instanceType?: string;
}

export interface LimitReason {
  readonly code: "limits" | "node-limit";
  readonly resource: string;
  readonly limit: string;
  readonly used: string;
  /** What the smallest type that suits otherwise has of it. */
  readonly needed?: string;
  readonly instanceType?: string;
}
