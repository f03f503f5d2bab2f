import { annotations } from "../../api/labels.ts";
import { isRecord } from "../../api/object.ts";
import {
  keep,
  keepAll,
  type Projector,
  projectFieldRequirement,
  projectFields,
  projectIf,
  projectItems,
  projectLabelKey,
  projectLabelSelector,
  projectLabels,
  projectName,
  projectNamespace,
  projectPriorityClass,
  projectRequirement,
  projectTaint,
  projectTopologyKey,
  projectVolumeClaimName,
  replacedWhenHashed,
} from "./projector.ts";

/** Annotations that affect scheduling or disruption; all others are left out. */
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

const projectAnnotations: Projector = (value) => {
  if (!isRecord(value)) return undefined;
  const kept = Object.entries(value).filter(([one]) => keptAnnotations.has(one));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

/** Metadata of an object whose own name is written by `ownName`. */
export function metadataProjector(ownName: Projector): Projector {
  return projectFields({
    name: ownName,
    generateName: projectName,
    namespace: projectNamespace,
    ...keepAll("uid", "generation", "creationTimestamp", "deletionTimestamp"),
    labels: projectLabels,
    annotations: projectAnnotations,
    finalizers: keep,
    ownerReferences: projectItems(
      projectFields({ apiVersion: keep, kind: keep, name: projectName, uid: keep, controller: keep }),
    ),
  });
}

/** The message of a condition may contain names; a schema may require it, so it is emptied instead of dropped. */
const projectCondition = projectFields({
  ...keepAll("type", "status", "reason"),
  message: replacedWhenHashed(keep, () => ""),
  ...keepAll("observedGeneration", "lastTransitionTime"),
});
export const projectConditions = projectItems(projectCondition);

/** Conditions of built-in kinds, whose message is not used. */
export const projectBriefConditions = projectItems(
  projectFields({ type: keep, status: keep, reason: keep, lastTransitionTime: keep }),
);

const nodeTerm = projectFields({
  matchExpressions: projectItems(projectRequirement),
  matchFields: projectItems(projectFieldRequirement),
});
export const projectNodeSelector = projectFields({ nodeSelectorTerms: projectItems(nodeTerm) });

const podTerm = projectFields({
  topologyKey: projectTopologyKey,
  labelSelector: projectLabelSelector,
  namespaces: projectItems(projectNamespace),
  namespaceSelector: projectLabelSelector,
  matchLabelKeys: projectItems(projectLabelKey),
  mismatchLabelKeys: projectItems(projectLabelKey),
});
const podAffinity = projectFields({
  requiredDuringSchedulingIgnoredDuringExecution: projectItems(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: projectItems(
    projectFields({ weight: keep, podAffinityTerm: podTerm }),
  ),
});
const affinity = projectFields({
  nodeAffinity: projectFields({
    requiredDuringSchedulingIgnoredDuringExecution: projectNodeSelector,
    preferredDuringSchedulingIgnoredDuringExecution: projectItems(
      projectFields({ weight: keep, preference: nodeTerm }),
    ),
  }),
  podAffinity,
  podAntiAffinity: podAffinity,
});

const spread = projectFields({
  topologyKey: projectTopologyKey,
  ...keepAll("maxSkew", "whenUnsatisfiable"),
  labelSelector: projectLabelSelector,
  minDomains: keep,
  matchLabelKeys: projectItems(projectLabelKey),
  ...keepAll("nodeAffinityPolicy", "nodeTaintsPolicy"),
});

const resources = projectFields({
  ...keepAll("requests", "limits"),
  claims: projectItems(projectFields({ name: projectName })),
});

const container = projectFields({
  name: projectName,
  resources,
  restartPolicy: keep,
  ports: projectItems(projectFields({ containerPort: keep, hostPort: keep, hostIP: keep, protocol: keep })),
});

export const projectVolumeClaimSpec = projectFields({
  storageClassName: projectName,
  volumeName: projectName,
  ...keepAll("accessModes", "resources"),
});

/** Only volumes of claims restrict where a pod can run. */
const volume = projectIf(
  (one) => one["persistentVolumeClaim"] !== undefined || one["ephemeral"] !== undefined,
  projectFields({
    name: projectName,
    persistentVolumeClaim: projectFields({ claimName: projectVolumeClaimName }),
    ephemeral: projectFields({ volumeClaimTemplate: projectFields({ spec: projectVolumeClaimSpec }) }),
  }),
);

export const projectPodSpec = projectFields({
  nodeName: projectName,
  schedulerName: keep,
  nodeSelector: projectLabels,
  affinity,
  tolerations: projectItems(projectTaint),
  topologySpreadConstraints: projectItems(spread),
  containers: projectItems(container),
  initContainers: projectItems(container),
  resources,
  runtimeClassName: projectName,
  overhead: keep,
  volumes: projectItems(volume),
  resourceClaims: projectItems(projectFields({ name: projectName })),
  schedulingGates: projectItems(projectFields({ name: projectName })),
  ...keepAll("hostNetwork", "priority"),
  priorityClassName: projectPriorityClass,
  ...keepAll("preemptionPolicy", "terminationGracePeriodSeconds"),
});

const podConditions = new Set<unknown>(["PodScheduled", "Ready", "DisruptionTarget"]);
const containerStatuses = projectItems(projectFields({ name: projectName, resources, allocatedResources: keep }));

export const projectPodStatus = projectFields({
  ...keepAll("phase", "startTime"),
  nominatedNodeName: projectName,
  conditions: projectItems(
    projectIf(
      ({ type }) => podConditions.has(type),
      projectFields({ type: keep, status: keep, reason: keep, lastTransitionTime: keep }),
    ),
  ),
  containerStatuses,
  initContainerStatuses: containerStatuses,
});

export const projectPodTemplate = projectFields({
  metadata: projectFields({ labels: projectLabels, annotations: projectAnnotations }),
  spec: projectPodSpec,
});
