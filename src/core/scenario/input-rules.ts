import type { FieldRules } from "../../api/kubernetes/read-fields.ts";

/** Of one workload: more would be a mistake, and would fill the memory. */
const podsOfWorkload = { least: 0, most: 100_000 };
const notNegative = { least: 0 };

const object = { required: ["metadata"] };
const objectWithSpec = { required: ["metadata", "spec"] };
const named = { required: ["name"] };
const expression = { required: ["key", "operator"] };
const condition = { required: ["type", "status"] };
const replicated = { required: ["template"], bounds: { replicas: podsOfWorkload } };
const autoscaled = {
  required: ["scaleTargetRef", "maxReplicas"],
  bounds: { minReplicas: podsOfWorkload, maxReplicas: podsOfWorkload },
};

/** What input must have beside the right types: what scheduling reads without a default, and counts it can work with. */
export const inputRules: FieldRules = {
  "core.v1.LimitRange": objectWithSpec,
  "core.v1.Namespace": object,
  "node.v1.RuntimeClass": object,
  "core.v1.Node": object,
  "core.v1.PersistentVolume": objectWithSpec,
  "core.v1.PersistentVolumeClaim": objectWithSpec,
  "core.v1.Pod": objectWithSpec,
  "core.v1.ReplicationController": objectWithSpec,
  "core.v1.ReplicationControllerSpec": replicated,
  "autoscaling.v1.HorizontalPodAutoscaler": objectWithSpec,
  "autoscaling.v1.HorizontalPodAutoscalerSpec": autoscaled,
  "autoscaling.v1.CrossVersionObjectReference": { required: ["kind", "name"] },
  "autoscaling.v2.HorizontalPodAutoscaler": objectWithSpec,
  "autoscaling.v2.HorizontalPodAutoscalerSpec": autoscaled,
  "autoscaling.v2.CrossVersionObjectReference": { required: ["kind", "name"] },
  ScaledObject: objectWithSpec,
  TemplatedKind: objectWithSpec,
  NestedKind: objectWithSpec,
  NestedPart: {
    bounds: {
      replicas: podsOfWorkload,
      minReplicas: podsOfWorkload,
      maxReplicas: notNegative,
      numOfHosts: podsOfWorkload,
      size: podsOfWorkload,
      instances: podsOfWorkload,
      parallelism: podsOfWorkload,
      completions: notNegative,
    },
  },
  TemplatedKindSpec: { bounds: { replicas: podsOfWorkload } },
  "core.v1.PodTemplate": { required: ["metadata", "template"] },
  "apps.v1.DaemonSet": objectWithSpec,
  "apps.v1.Deployment": objectWithSpec,
  "apps.v1.ReplicaSet": objectWithSpec,
  "apps.v1.StatefulSet": objectWithSpec,
  "batch.v1.CronJob": objectWithSpec,
  "batch.v1.Job": objectWithSpec,
  "policy.v1.PodDisruptionBudget": objectWithSpec,
  "scheduling.v1.PriorityClass": { required: ["metadata", "value"] },
  "storage.v1.CSINode": objectWithSpec,
  "storage.v1.StorageClass": object,
  NodePool: objectWithSpec,
  NodeClaim: object,
  NodeOverlay: object,
  CapacityBuffer: object,
  KWOKNodeClass: object,
  EC2NodeClass: object,
  AKSNodeClass: object,

  "meta.v1.LabelSelectorRequirement": expression,
  "meta.v1.OwnerReference": { required: ["apiVersion", "kind", "name", "uid"] },
  "core.v1.ContainerStatus": { ...named, bounds: { allocatedResources: notNegative } },
  "core.v1.CSIPersistentVolumeSource": { required: ["driver"] },
  "core.v1.NodeCondition": condition,
  "core.v1.NodeSelector": { required: ["nodeSelectorTerms"] },
  "core.v1.NodeSelectorRequirement": expression,
  "core.v1.NodeStatus": { bounds: { capacity: notNegative, allocatable: notNegative } },
  "core.v1.PersistentVolumeClaimVolumeSource": { required: ["claimName"] },
  "core.v1.PodAffinityTerm": { required: ["topologyKey"] },
  "core.v1.PodCondition": condition,
  "core.v1.PodResourceClaim": named,
  "core.v1.PodSchedulingGate": named,
  "core.v1.PodSpec": {
    required: ["containers"],
    notEmpty: ["containers"],
    bounds: { overhead: notNegative, terminationGracePeriodSeconds: notNegative },
  },
  "core.v1.PodTemplateSpec": { required: ["spec"] },
  "core.v1.PreferredSchedulingTerm": { required: ["weight", "preference"] },
  "core.v1.ResourceClaim": named,
  "core.v1.ResourceRequirements": { bounds: { requests: notNegative, limits: notNegative } },
  "core.v1.Taint": { required: ["key", "effect"] },
  "core.v1.TopologySelectorLabelRequirement": { required: ["key", "values"] },
  "core.v1.TopologySpreadConstraint": { required: ["topologyKey", "maxSkew", "whenUnsatisfiable"] },
  "core.v1.Volume": named,
  "core.v1.WeightedPodAffinityTerm": { required: ["weight", "podAffinityTerm"] },
  "apps.v1.DaemonSetSpec": { required: ["template"] },
  "apps.v1.DeploymentSpec": replicated,
  "apps.v1.ReplicaSetSpec": replicated,
  "apps.v1.StatefulSetOrdinals": { bounds: { start: notNegative } },
  "apps.v1.StatefulSetSpec": replicated,
  "batch.v1.CronJobSpec": { required: ["jobTemplate"] },
  "batch.v1.JobCondition": condition,
  "batch.v1.JobSpec": { required: ["template"], bounds: { parallelism: podsOfWorkload, completions: notNegative } },
  "batch.v1.JobTemplateSpec": { required: ["spec"] },
  "storage.v1.CSINodeDriver": named,
};
