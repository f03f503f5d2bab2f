import type { DeviceRefusal } from "../devices/device-refusal.ts";
import type { PriceSource } from "../price-source.ts";
import type { UnusablePoolReason } from "../round/usable-pools.ts";
import type { TopologyCause } from "../scheduling/refusal.ts";
import type { DroppedPreference } from "./dropped-preferences.ts";
import type { Edit } from "./edit.ts";
import type { PoolDrift } from "./pool-drift.ts";

/** Why a pod is placed where it is, or refused, and what would help. Every text is a rendering of it. */
export interface Explanation {
  /** namespace/name. */
  readonly pod: string;
  readonly outcome: PodOutcome;
  /** One sentence. */
  readonly cause: string;
  /** Nearest first; for a pod on a new node, the earlier pools that refuse it. */
  readonly pools: readonly PoolFinding[];
  /** Nearest first; for a pod on a new node, the nodes that refuse it. */
  readonly nodes: readonly NodeFinding[];
  /** The pool or node that came nearest to accepting the pod. */
  readonly nearest?: NearestMiss;
  /** Preferences the pod is placed without; of a refused pod, those that were given up in vain. */
  readonly droppedPreferences?: readonly DroppedPreference[];
  /** Changes that were simulated, mildest first; the pod is placed with each of them. */
  readonly suggestions: readonly Suggestion[];
  /** Changes that give up hardware the pod was written for, where nothing milder helps; never any data. */
  readonly lastResorts?: readonly Suggestion[];
}

export type PodOutcome =
  | { readonly kind: "on-node"; readonly node: string }
  | ({ readonly kind: "on-new-node" } & NewNodeOutcome)
  | { readonly kind: "unplaced"; readonly message: string }
  /** It did not pass validation and was left out. (02 §1.5) */
  | { readonly kind: "ignored"; readonly message: string };

/** A node that would be created. */
export interface NewNodeOutcome {
  readonly pool: string;
  /** Cheapest first. */
  readonly instanceTypes: readonly string[];
  /** Dollars an hour. */
  readonly price: number;
  /** Where that price comes from, if it is known. */
  readonly priceSource?: PriceSource;
  readonly zones: readonly string[];
  /** Other pods on it. */
  readonly pods: readonly string[];
}

export interface PoolFinding {
  readonly pool: string;
  /** Everything that refuses a new node, in the order of the checks; empty: the pool would accept the pod. */
  readonly reasons: readonly RefusalReason[];
}

export interface NodeFinding {
  readonly node: string;
  /** Checks that failed, each on its own. (02 §5.4) */
  readonly checks: readonly FailedCheck[];
}

const existingNodeChecks = [
  "taints",
  "volume-limits",
  "host-ports",
  "resources",
  "requirements",
  "topology",
  "devices",
] as const;
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

/** A change that was simulated. */
export interface Suggestion {
  /** An instruction, without a full stop. */
  readonly text: string;
  readonly edits: readonly Edit[];
  /** How much is changed: suggestions are sorted by it. */
  readonly weight: number;
  /** Where the pod is placed then. */
  readonly place: { readonly node: string } | { readonly pool: string; readonly instanceType?: string };
  /** How many other refused pods are placed as well. */
  readonly alsoPlaced: number;
  /** Pods that are not placed any more. */
  readonly displaced: readonly string[];
  /** Running nodes that drift, where pools are edited. */
  readonly drift?: readonly PoolDrift[];
  /** To run one after the other; absent where the object that makes the pod is not known. */
  readonly commands?: readonly string[];
  /** What else happens then; whole sentences without a full stop. */
  readonly remarks?: readonly string[];
}

/** One constraint that refused the pod, with its figures as text; codes are those of refusals. */
export type RefusalReason =
  | { readonly code: "taint"; readonly taint: string }
  | LabelReason
  | { readonly code: "volume-limit"; readonly driver: string; readonly limit: number; readonly wanted: number }
  | { readonly code: "host-port"; readonly port: number; readonly protocol: string; readonly owner?: string }
  | ResourceReason
  | TopologyReason
  /** Whether some type matches, is large enough, and has an offering. (02:F-3) */
  | { readonly code: "instance-types"; readonly matches: boolean; readonly fits: boolean; readonly offered: boolean }
  | { readonly code: "min-values"; readonly key: string; readonly achieved: number; readonly wanted?: number }
  | LimitReason
  | { readonly code: "reserved-capacity" }
  /** Without `devices`, requests for devices are ignored. (02:D-1) */
  | { readonly code: "dynamic-resources"; readonly devices?: DeviceRefusal }
  | { readonly code: "no-templates"; readonly becauseOfMinValues: boolean }
  | { readonly code: "no-pools" }
  | UnusablePoolFinding
  | { readonly code: "volume-unknown"; readonly text: string }
  | { readonly code: "invalid-pod"; readonly text: string };

/** The pool launches no nodes for pods. */
export interface UnusablePoolFinding {
  readonly code: "pool-unusable";
  readonly because: UnusablePoolReason;
  /** Follows its name. */
  readonly text: string;
  /** What a person does about it, without a full stop. */
  readonly nextStep?: string;
}

/** A spread constraint or pod (anti-)affinity that no domain satisfies. */
export interface TopologyReason extends Pick<TopologyCause, "kind" | "key" | "counts"> {
  readonly code: "topology";
  /** Of a spread: set where there are fewer domains than that. */
  readonly minDomains?: number;
  /** Of a spread. */
  readonly maxSkew?: number;
  /** The pods it is about. */
  readonly selector?: string;
  /** It is the anti-affinity of other pods. */
  readonly isOfOthers?: boolean;
}

/** A label on which the pod, or its volume, has a conflicting requirement. */
export interface LabelReason {
  readonly code: "requirements" | "volume-requirements";
  readonly key: string;
  readonly wants: string;
  /** Absent: the label is not defined there. */
  readonly has?: string;
  /** A known key that is spelled similarly. */
  readonly similarKey?: string;
  /** A value it has that is spelled similarly. */
  readonly similarValue?: string;
}

/** Too little of a resource. */
export interface ResourceReason {
  readonly code: "resources";
  readonly resource: string;
  readonly asked: string;
  readonly available: string;
  /** What daemons take of it, where types are compared. */
  readonly daemons?: string;
  /** The field that decides how much of it a node has, where it is not the instance type. */
  readonly setBy?: string;
  /** The nearest instance type, for a new node. */
  readonly instanceType?: string;
}

export interface LimitReason {
  readonly code: "limits" | "node-limit";
  readonly resource: string;
  readonly limit: string;
  readonly used: string;
  /** What the smallest otherwise suitable type has of it. */
  readonly needed?: string;
  readonly instanceType?: string;
}
