import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Steps } from "../../util/steps.ts";
import type { ExistingNodePlacement, PlannedNode } from "../scheduling/decision.ts";
import type { ExistingNode } from "../scheduling/problem.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { PodError } from "./verdict.ts";

/**
 * What would happen to pods if some nodes were gone. Implementations agree with `plainSimulator`, which stays as the
 * one the others are compared with. (03:D-37 to D-43)
 */
export interface DisruptionSimulator {
  /**
   * Only sets of these nodes are likely to be asked about. What simulations of other nodes need is prepared when they are
   * asked for; the answers are the same.
   */
  expect?(candidates: readonly DisruptionCandidate[]): void;
  simulate(candidates: readonly DisruptionCandidate[], options: SimulationOptions): Steps<DisruptionSimulation>;
  /**
   * These nodes go: later simulations find them gone, and the room that their pods need taken. Returns the names of the
   * nodes that take pods, which must stay; undefined if it cannot be told, and then nothing has changed. (03 §10.2-9)
   */
  keep?(candidates: readonly DisruptionCandidate[], options: SimulationOptions): Steps<readonly string[] | undefined>;
  /** What all simulations start from; undefined if each places pods of its own besides those of the nodes that go. */
  base?(options: SimulationOptions): Steps<SimulationBase | undefined>;
}

export interface SimulationOptions {
  /** Pods move because it is cheaper: nodes within consolidateAfter do not receive them. (03:D-41) */
  readonly isConsolidation: boolean;
}

/** What all simulations of a snapshot have in common. */
export interface SimulationBase {
  /** Nodes that may take pods. */
  readonly nodes: readonly ExistingNode[];
  /** Pods that were pending or on nodes that leave, and are placed before any simulation. */
  readonly ownPods: readonly Pod[];
  /** Those of them on existing nodes, by name. */
  readonly placedPods: ReadonlyMap<string, readonly Pod[]>;
  /** Pods that need another place when this node goes: its own, and those that are placed there before any simulation. */
  movablePods(node: string): readonly Pod[];
  /** Nodes that must stay: pods that are placed there before any simulation cannot be placed anew. */
  readonly destinations: ReadonlySet<string>;
  /** Whether nothing but resources, labels and taints decides where the pods of this node can go. */
  isUnconstrained(node: string): boolean;
}

export type DisruptionSimulation =
  | {
      readonly kind: "simulated";
      readonly newNodes: readonly PlannedNode[];
      readonly placements: readonly ExistingNodePlacement[];
      /** Pods that have no place, without those that have none now either. (03:D-43) */
      readonly podErrors: readonly PodError[];
    }
  /** Somebody else deletes one of the candidates. (03:D-37) */
  | { readonly kind: "candidate-deleting" };

/** A stop signal: asked before each simulation, so that a search ends in time and can go on later. */
export interface SearchBudget {
  mayContinue(): boolean;
}
