import type { ScenarioKind } from "../../core/scenario/kinds.ts";
import {
  claim,
  expression,
  type Form,
  keep,
  labelMap,
  list,
  mark,
  name,
  namespace,
  priorityClass,
  record,
  selector,
  taint,
} from "./form.ts";
import {
  aksNodeClass,
  capacityBuffer,
  ec2NodeClass,
  kwokNodeClass,
  nodeClaim,
  nodeOverlay,
  nodePool,
} from "./own-forms.ts";
import { briefConditions, claimSpec, metadataOf, nodeSelector, podSpec, podStatus, podTemplate } from "./pod-forms.ts";

function object(rest: Readonly<Record<string, Form>>, ownName: Form = name): Form {
  return record({ apiVersion: keep, kind: keep, metadata: metadataOf(ownName), ...rest });
}

const workload = object({
  spec: record({
    replicas: keep,
    ordinals: keep,
    selector,
    template: podTemplate,
    volumeClaimTemplates: list(record({ metadata: metadataOf(name), spec: claimSpec })),
  }),
});

/** A Service has no part in a plan of its own, but says which pods belong together. (02:X-51) */
export type SnapshotKind = Exclude<ScenarioKind, "Job" | "CronJob"> | "Service";

/**
 * What the engine reads of each kind. Jobs and CronJobs are not among them: what they want to run now are pods already,
 * and what they will want to run later is no part of a cluster as it is.
 */
export const forms: Readonly<Record<SnapshotKind, Form>> = {
  Pod: object({ spec: podSpec, status: podStatus }),
  PodTemplate: object({ template: podTemplate }),
  Node: object({
    spec: record({ providerID: name, taints: list(taint), unschedulable: keep }),
    status: record({ capacity: keep, allocatable: keep, phase: keep, conditions: briefConditions }),
  }),
  Namespace: object({ status: record({ phase: keep }) }, namespace),
  PersistentVolume: object({
    spec: record({
      csi: record({ driver: keep }),
      awsElasticBlockStore: mark,
      local: mark,
      hostPath: mark,
      nodeAffinity: record({ required: nodeSelector }),
      storageClassName: name,
    }),
  }),
  PersistentVolumeClaim: object({ spec: claimSpec, status: record({ phase: keep }) }, claim),
  Deployment: workload,
  ReplicaSet: workload,
  StatefulSet: workload,
  DaemonSet: object({ spec: record({ selector, template: podTemplate }) }),
  Service: object({ spec: record({ selector: labelMap }) }),
  PodDisruptionBudget: object({
    spec: record({ selector, maxUnavailable: keep, minAvailable: keep, unhealthyPodEvictionPolicy: keep }),
    status: record({ disruptionsAllowed: keep, currentHealthy: keep, desiredHealthy: keep, expectedPods: keep }),
  }),
  PriorityClass: object({ value: keep, globalDefault: keep, preemptionPolicy: keep }, priorityClass),
  StorageClass: object({
    provisioner: keep,
    volumeBindingMode: keep,
    allowedTopologies: list(record({ matchLabelExpressions: list(expression) })),
  }),
  CSINode: object({ spec: record({ drivers: list(record({ name: keep, allocatable: keep })) }) }),
  NodePool: object(nodePool),
  NodeClaim: object(nodeClaim),
  NodeOverlay: object(nodeOverlay),
  CapacityBuffer: object(capacityBuffer),
  KWOKNodeClass: object(kwokNodeClass),
  EC2NodeClass: object(ec2NodeClass),
  AKSNodeClass: object(aksNodeClass),
};
