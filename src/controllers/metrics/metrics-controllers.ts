import { labels } from "../../api/labels.ts";
import { nodeClassLabelKey } from "../../api/node-class-ref.ts";
import type { Controller } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { conditionMetricsController, type WatchedKind } from "./condition-metrics.ts";
import { gonePoolMetricsController } from "./gone-pool-metrics.ts";
import { nodeMetricsController } from "./node-metrics.ts";
import { nodePoolMetricsController } from "./node-pool-metrics.ts";
import { podMetricsController } from "./pod-metrics.ts";

/** Controllers that report the state of the cluster, in metrics and as Events. (03 §6.1, §6.2) */
export function metricsControllers(dependencies: ControllerDependencies): readonly Controller[] {
  if (!dependencies.settings.isClusterStateObservable) return [];
  return [
    podMetricsController(dependencies),
    nodeMetricsController(dependencies),
    nodePoolMetricsController(dependencies),
    gonePoolMetricsController(dependencies),
    ...watchedKinds(dependencies).map((kind) => conditionMetricsController(dependencies, kind)),
  ];
}

function watchedKinds({ cloud, settings }: ControllerDependencies): readonly WatchedKind[] {
  const classLabels = cloud.nodeClasses.map(nodeClassLabelKey);
  const { NodeClaim, NodePool, CapacityBuffer } = karpenterTypes;
  return [
    { type: NodeClaim, labels: [...classLabels, labels.nodePool], hasDeprecated: true },
    { type: NodePool, labels: [], hasDeprecated: true },
    { type: builtInTypes.Node, labels: [...classLabels, labels.nodePool, labels.initialized], hasDeprecated: false },
    ...cloud.nodeClasses.map((type) => ({ type, labels: [], hasDeprecated: false })),
    ...(settings.gates.CapacityBuffer ? [{ type: CapacityBuffer, labels: [], hasDeprecated: true }] : []),
  ];
}
