import type { DisruptionCommand } from "../disruption/command.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { ExistingNodePlacement, PlannedNode } from "../scheduling/decision.ts";

/** Nodes that go, nodes that come, and where pods are afterwards. */
export interface ClusterChange {
  /** By name. Their pods that are neither on a new node nor placed go with them. */
  readonly removedNodes: readonly string[];
  readonly newNodes: readonly PlannedNode[];
  readonly placements: readonly ExistingNodePlacement[];
}

/** A cluster in which changes are carried out one after the other, without anything happening anywhere else. */
export interface ClusterProjection {
  snapshot(): DisruptionSnapshot;
  /** New nodes are launched at their cheapest and are initialized at once. Returns their names; undefined where there is nothing to launch. */
  carryOut(change: ClusterChange): readonly (string | undefined)[];
}

export function clusterChangeOf({ candidates, replacements, placements }: DisruptionCommand): ClusterChange {
  return { removedNodes: candidates.map(({ name }) => name), newNodes: replacements, placements };
}
