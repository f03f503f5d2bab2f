import type { ScenarioKind } from "../../core/scenario/scenario-kind.ts";
import {
  aksNodeClassProjectors,
  capacityBufferProjectors,
  ec2NodeClassProjectors,
  kwokNodeClassProjectors,
  nodeClaimProjectors,
  nodeOverlayProjectors,
  nodePoolProjectors,
} from "./karpenter-projectors.ts";
import {
  metadataProjector,
  projectBriefConditions,
  projectNodeSelector,
  projectPodSpec,
  projectPodStatus,
  projectPodTemplate,
  projectVolumeClaimSpec,
} from "./pod-projectors.ts";
import {
  keep,
  keepAll,
  keepPresence,
  type Projector,
  projectFields,
  projectItems,
  projectLabelSelector,
  projectLabels,
  projectName,
  projectNamespace,
  projectPriorityClass,
  projectRequirement,
  projectTaint,
  projectVolumeClaimName,
} from "./projector.ts";

function objectProjector(rest: Readonly<Record<string, Projector>>, ownName: Projector = projectName): Projector {
  return projectFields({ apiVersion: keep, kind: keep, metadata: metadataProjector(ownName), ...rest });
}

const projectWorkload = objectProjector({
  spec: projectFields({
    ...keepAll("replicas", "ordinals"),
    selector: projectLabelSelector,
    template: projectPodTemplate,
    volumeClaimTemplates: projectItems(
      projectFields({ metadata: metadataProjector(projectName), spec: projectVolumeClaimSpec }),
    ),
  }),
});

/** Services are kept for the selectors of default topology spread constraints. (02:X-51) */
export type SnapshotKind = Exclude<ScenarioKind, LeftOutKind> | "Service";

/**
 * Jobs and CronJobs are left out: the pods they run now exist already, and those they will run later are not part of the
 * current cluster. The other kinds are not read from clusters.
 */
const leftOutKinds = ["Job", "CronJob", "ReplicationController", "ScaledObject"] as const;
type LeftOutKind = (typeof leftOutKinds)[number];

export function isLeftOut(kind: ScenarioKind): kind is LeftOutKind {
  return (leftOutKinds as readonly string[]).includes(kind);
}

/** What a snapshot keeps of each kind. */
export const kindProjectors: Readonly<Record<SnapshotKind, Projector>> = {
  Pod: objectProjector({ spec: projectPodSpec, status: projectPodStatus }),
  PodTemplate: objectProjector({ template: projectPodTemplate }),
  Node: objectProjector({
    spec: projectFields({ providerID: projectName, taints: projectItems(projectTaint), unschedulable: keep }),
    status: projectFields({ capacity: keep, allocatable: keep, phase: keep, conditions: projectBriefConditions }),
  }),
  Namespace: objectProjector({ status: projectFields({ phase: keep }) }, projectNamespace),
  PersistentVolume: objectProjector({
    spec: projectFields({
      csi: projectFields({ driver: keep }),
      awsElasticBlockStore: keepPresence,
      local: keepPresence,
      hostPath: keepPresence,
      nodeAffinity: projectFields({ required: projectNodeSelector }),
      storageClassName: projectName,
    }),
  }),
  PersistentVolumeClaim: objectProjector(
    { spec: projectVolumeClaimSpec, status: projectFields({ phase: keep }) },
    projectVolumeClaimName,
  ),
  Deployment: projectWorkload,
  ReplicaSet: projectWorkload,
  StatefulSet: projectWorkload,
  DaemonSet: objectProjector({ spec: projectFields({ selector: projectLabelSelector, template: projectPodTemplate }) }),
  Service: objectProjector({ spec: projectFields({ selector: projectLabels }) }),
  PodDisruptionBudget: objectProjector({
    spec: projectFields({
      selector: projectLabelSelector,
      ...keepAll("maxUnavailable", "minAvailable", "unhealthyPodEvictionPolicy"),
    }),
    status: projectFields({ disruptionsAllowed: keep, currentHealthy: keep, desiredHealthy: keep, expectedPods: keep }),
  }),
  PriorityClass: objectProjector({ value: keep, globalDefault: keep, preemptionPolicy: keep }, projectPriorityClass),
  StorageClass: objectProjector({
    ...keepAll("provisioner", "volumeBindingMode"),
    allowedTopologies: projectItems(projectFields({ matchLabelExpressions: projectItems(projectRequirement) })),
  }),
  HorizontalPodAutoscaler: objectProjector({
    spec: projectFields({
      scaleTargetRef: projectFields({ apiVersion: keep, kind: keep, name: projectName }),
      ...keepAll("minReplicas", "maxReplicas"),
    }),
  }),
  LimitRange: objectProjector({ spec: keep }),
  RuntimeClass: objectProjector({
    overhead: keep,
    scheduling: projectFields({ nodeSelector: projectLabels, tolerations: projectItems(projectTaint) }),
  }),
  CSINode: objectProjector({
    spec: projectFields({ drivers: projectItems(projectFields({ name: keep, allocatable: keep })) }),
  }),
  NodePool: objectProjector(nodePoolProjectors),
  NodeClaim: objectProjector(nodeClaimProjectors),
  NodeOverlay: objectProjector(nodeOverlayProjectors),
  CapacityBuffer: objectProjector(capacityBufferProjectors),
  KWOKNodeClass: objectProjector(kwokNodeClassProjectors),
  EC2NodeClass: objectProjector(ec2NodeClassProjectors),
  AKSNodeClass: objectProjector(aksNodeClassProjectors),
};
