import { labels } from "../../api/labels.ts";
import { nodeClassLabel } from "../../core/scenario/complete-machines.ts";
import type { Loop } from "../../kube/loop.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import type { Parts } from "../parts.ts";
import { conditionStatus, type WatchedKind } from "./condition-status.ts";
import { nodeMetrics } from "./node.ts";
import { nodePoolMetrics } from "./node-pool.ts";
import { podMetrics } from "./pod.ts";

/** What the cluster looks like, for dashboards and in Events. (03 §6.1, §6.2) */
export function metricsLoops(parts: Parts): readonly Loop[] {
  if (!parts.settings.isClusterStateObservable) return [];
  return [
    podMetrics(parts),
    nodeMetrics(parts),
    nodePoolMetrics(parts),
    ...watchedKinds(parts).map((kind) => conditionStatus(parts, kind)),
  ];
}

function watchedKinds({ cloud, settings }: Parts): readonly WatchedKind[] {
  const classLabels = cloud.nodeClasses.map(nodeClassLabel);
  const { NodeClaim, NodePool, CapacityBuffer } = custom;
  return [
    { type: NodeClaim, labels: [...classLabels, labels.nodePool], hasDeprecated: true },
    { type: NodePool, labels: [], hasDeprecated: true },
    { type: builtIn.Node, labels: [...classLabels, labels.nodePool, labels.initialized], hasDeprecated: false },
    ...cloud.nodeClasses.map((type) => ({ type, labels: [], hasDeprecated: false })),
    ...(settings.gates.CapacityBuffer ? [{ type: CapacityBuffer, labels: [], hasDeprecated: true }] : []),
  ];
}
