import { annotations } from "../../api/labels.ts";
import { isRecord } from "../../api/object.ts";
import {
  claim,
  expression,
  type Form,
  fieldExpression,
  instead,
  keep,
  key,
  labelMap,
  list,
  name,
  namespace,
  only,
  priorityClass,
  record,
  selector,
  taint,
  topologyKey,
} from "./form.ts";

/** What scheduling and disruption read of objects that have pods or a pod's shape, and nothing else. */

/** Annotations that decide something; all others are left out. */
const keptAnnotations: ReadonlySet<string> = new Set([
  annotations.doNotDisrupt,
  annotations.nodePoolHash,
  annotations.nodePoolHashVersion,
  annotations.ec2NodeClassHash,
  annotations.ec2NodeClassHashVersion,
  annotations.terminationTimestamp,
  annotations.minValuesRelaxed,
  annotations.requestedDraDrivers,
  annotations.priceOverlayApplied,
  annotations.capacityOverlayApplied,
  annotations.podDeletionCost,
  "pv.kubernetes.io/bind-completed",
  "storageclass.kubernetes.io/is-default-class",
]);

const annotationMap: Form = (value) => {
  if (!isRecord(value)) return undefined;
  const kept = Object.entries(value).filter(([one]) => keptAnnotations.has(one));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

/** Of an object whose own name has this form. */
export function metadataOf(ownName: Form): Form {
  return record({
    name: ownName,
    generateName: name,
    namespace,
    uid: keep,
    generation: keep,
    creationTimestamp: keep,
    deletionTimestamp: keep,
    labels: labelMap,
    annotations: annotationMap,
    finalizers: keep,
    ownerReferences: list(record({ apiVersion: keep, kind: keep, name, uid: keep, controller: keep })),
  });
}

/** What a controller found out; its message is for people, and a schema may insist on one. */
export const condition = record({
  type: keep,
  status: keep,
  reason: keep,
  message: instead(keep, () => ""),
  observedGeneration: keep,
  lastTransitionTime: keep,
});
export const conditions = list(condition);

/** Of foreign kinds nobody reads the message. */
export const briefConditions = list(record({ type: keep, status: keep, reason: keep, lastTransitionTime: keep }));

const nodeTerm = record({ matchExpressions: list(expression), matchFields: list(fieldExpression) });
export const nodeSelector = record({ nodeSelectorTerms: list(nodeTerm) });

const podTerm = record({
  topologyKey,
  labelSelector: selector,
  namespaces: list(namespace),
  namespaceSelector: selector,
  matchLabelKeys: list(key),
  mismatchLabelKeys: list(key),
});
const podAffinity = record({
  requiredDuringSchedulingIgnoredDuringExecution: list(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: list(record({ weight: keep, podAffinityTerm: podTerm })),
});
const affinity = record({
  nodeAffinity: record({
    requiredDuringSchedulingIgnoredDuringExecution: nodeSelector,
    preferredDuringSchedulingIgnoredDuringExecution: list(record({ weight: keep, preference: nodeTerm })),
  }),
  podAffinity,
  podAntiAffinity: podAffinity,
});

const spread = record({
  topologyKey,
  maxSkew: keep,
  whenUnsatisfiable: keep,
  labelSelector: selector,
  minDomains: keep,
  matchLabelKeys: list(key),
  nodeAffinityPolicy: keep,
  nodeTaintsPolicy: keep,
});

const resources = record({ requests: keep, limits: keep, claims: list(record({ name })) });

const container = record({
  name,
  resources,
  restartPolicy: keep,
  ports: list(record({ containerPort: keep, hostPort: keep, hostIP: keep, protocol: keep })),
});

export const claimSpec = record({ storageClassName: name, volumeName: name, accessModes: keep, resources: keep });

/** Secrets, config maps and the like are mounted anywhere; a claim's volume is somewhere. */
const volume = only(
  (one) => one["persistentVolumeClaim"] !== undefined || one["ephemeral"] !== undefined,
  record({
    name,
    persistentVolumeClaim: record({ claimName: claim }),
    ephemeral: record({ volumeClaimTemplate: record({ spec: claimSpec }) }),
  }),
);

export const podSpec = record({
  nodeName: name,
  schedulerName: keep,
  nodeSelector: labelMap,
  affinity,
  tolerations: list(taint),
  topologySpreadConstraints: list(spread),
  containers: list(container),
  initContainers: list(container),
  resources,
  overhead: keep,
  volumes: list(volume),
  resourceClaims: list(record({ name })),
  schedulingGates: list(record({ name })),
  hostNetwork: keep,
  priority: keep,
  priorityClassName: priorityClass,
  preemptionPolicy: keep,
  terminationGracePeriodSeconds: keep,
});

const podConditions = new Set<unknown>(["PodScheduled", "Ready", "DisruptionTarget"]);
const containerStatuses = list(record({ name, resources, allocatedResources: keep }));

export const podStatus = record({
  phase: keep,
  startTime: keep,
  nominatedNodeName: name,
  conditions: list(
    only(
      ({ type }) => podConditions.has(type),
      record({ type: keep, status: keep, reason: keep, lastTransitionTime: keep }),
    ),
  ),
  containerStatuses,
  initContainerStatuses: containerStatuses,
});

export const podTemplate = record({
  metadata: record({ labels: labelMap, annotations: annotationMap }),
  spec: podSpec,
});
