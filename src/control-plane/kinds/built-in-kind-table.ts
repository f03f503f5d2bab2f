import { autoscalerConversion } from "./autoscaler-conversion.ts";
import type { KindTraits } from "./behaviours/built-in-behaviour.ts";
import {
  admissionConfigurationTraits,
  configMapTraits,
  disruptionBudgetTraits,
  leaseTraits,
  limitRangeTraits,
  namespaceTraits,
  nodeTraits,
  persistentVolumeClaimTraits,
  persistentVolumeTraits,
  podTemplateTraits,
  priorityClassTraits,
  secretTraits,
  serviceTraits,
  storageClassTraits,
} from "./behaviours/cluster-traits.ts";
import { customResourceDefinitionTraits } from "./behaviours/custom-resource-definition.ts";
import { podTraits } from "./behaviours/pod-traits.ts";
import { accessReviewTraits, selfReviewTraits } from "./behaviours/review-traits.ts";
import {
  autoscalerTraits,
  csiDriverTraits,
  endpointSliceTraits,
  eventTraits,
  ingressTraits,
  networkPolicyTraits,
  roleBindingTraits,
  volumeAttachmentTraits,
} from "./behaviours/stored-only-traits.ts";
import {
  cronJobTraits,
  daemonSetTraits,
  deploymentTraits,
  jobTraits,
  replicaSetTraits,
  replicationControllerTraits,
  statefulSetTraits,
} from "./behaviours/workload-traits.ts";
import { eventsConversion } from "./events-conversion.ts";
import type { ScaleFields, ServedKind, Subresource } from "./served-kind.ts";

/** One line of the table of kinds. (05 §5) */
export interface BuiltInKindRow {
  readonly kind: string;
  readonly plural: string;
  readonly scope: "cluster" | "namespaced";
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly Subresource[];
  readonly selectable?: readonly string[];
  readonly scale?: ScaleFields;
  readonly traits?: KindTraits;
  /** The storage name, where it differs from plural and group. */
  readonly storage?: string;
  readonly verbs?: ServedKind["verbs"];
  readonly conversion?: ServedKind["conversion"];
}

export interface BuiltInKindGroup {
  readonly group: string;
  readonly version: string;
  /** Their prefix in the field table. */
  readonly definitions: string;
  readonly rows: readonly BuiltInKindRow[];
}

const replicas: ScaleFields = {
  specReplicas: "spec.replicas",
  statusReplicas: "status.replicas",
  selector: "spec.selector",
};
const status: readonly Subresource[] = ["status"];
const scaled: readonly Subresource[] = ["scale", "status"];
const all: readonly string[] = ["all"];
const counted: KindTraits = { countsGenerations: true };
const named: KindTraits = { nameStyle: "path" };
const createOnly: ServedKind["verbs"] = ["create"];
const readOnly: ServedKind["verbs"] = ["get", "list"];
const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
const eventFields = [
  ...involved.map((field) => `involvedObject.${field}`),
  "reason",
  "reportingComponent",
  "source",
  "type",
];
const podFields = [
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.serviceAccountName",
  "spec.hostNetwork",
  "status.phase",
  "status.podIP",
  "status.nominatedNodeName",
];

/** The built-in kinds of Kubernetes that we serve. */
export const builtInKindTable: readonly BuiltInKindGroup[] = [
  {
    group: "",
    version: "v1",
    definitions: "core.v1",
    rows: [
      {
        kind: "Namespace",
        plural: "namespaces",
        scope: "cluster",
        shortNames: ["ns"],
        subresources: ["finalize", "status"],
        selectable: ["status.phase"],
        traits: namespaceTraits,
      },
      {
        kind: "Node",
        plural: "nodes",
        scope: "cluster",
        shortNames: ["no"],
        subresources: status,
        selectable: ["spec.unschedulable"],
        traits: nodeTraits,
      },
      {
        kind: "Pod",
        plural: "pods",
        scope: "namespaced",
        shortNames: ["po"],
        categories: all,
        subresources: ["binding", "eviction", "log", "status"],
        selectable: podFields,
        traits: podTraits,
      },
      { kind: "PodTemplate", plural: "podtemplates", scope: "namespaced", traits: podTemplateTraits },
      {
        kind: "Event",
        plural: "events",
        scope: "namespaced",
        shortNames: ["ev"],
        selectable: eventFields,
        traits: eventTraits,
      },
      { kind: "ConfigMap", plural: "configmaps", scope: "namespaced", shortNames: ["cm"], traits: configMapTraits },
      { kind: "Secret", plural: "secrets", scope: "namespaced", selectable: ["type"], traits: secretTraits },
      {
        kind: "Service",
        plural: "services",
        scope: "namespaced",
        shortNames: ["svc"],
        categories: all,
        subresources: status,
        selectable: ["spec.clusterIP", "spec.type"],
        traits: serviceTraits,
      },
      {
        kind: "ServiceAccount",
        plural: "serviceaccounts",
        scope: "namespaced",
        shortNames: ["sa"],
        subresources: ["token"],
      },
      {
        kind: "PersistentVolume",
        plural: "persistentvolumes",
        scope: "cluster",
        shortNames: ["pv"],
        subresources: status,
        traits: persistentVolumeTraits,
      },
      {
        kind: "PersistentVolumeClaim",
        plural: "persistentvolumeclaims",
        scope: "namespaced",
        shortNames: ["pvc"],
        subresources: status,
        traits: persistentVolumeClaimTraits,
      },
      {
        kind: "ReplicationController",
        plural: "replicationcontrollers",
        scope: "namespaced",
        shortNames: ["rc"],
        categories: all,
        subresources: scaled,
        selectable: ["status.replicas"],
        scale: replicas,
        traits: replicationControllerTraits,
      },
      { kind: "Endpoints", plural: "endpoints", scope: "namespaced", shortNames: ["ep"] },
      {
        kind: "ResourceQuota",
        plural: "resourcequotas",
        scope: "namespaced",
        shortNames: ["quota"],
        subresources: status,
        traits: { hasStatus: true },
      },
      {
        kind: "LimitRange",
        plural: "limitranges",
        scope: "namespaced",
        shortNames: ["limits"],
        traits: limitRangeTraits,
      },
    ],
  },
  {
    group: "apps",
    version: "v1",
    definitions: "apps.v1",
    rows: [
      {
        kind: "Deployment",
        plural: "deployments",
        scope: "namespaced",
        shortNames: ["deploy"],
        categories: all,
        subresources: scaled,
        scale: replicas,
        traits: deploymentTraits,
      },
      {
        kind: "ReplicaSet",
        plural: "replicasets",
        scope: "namespaced",
        shortNames: ["rs"],
        categories: all,
        subresources: scaled,
        selectable: ["status.replicas"],
        scale: replicas,
        traits: replicaSetTraits,
      },
      {
        kind: "StatefulSet",
        plural: "statefulsets",
        scope: "namespaced",
        shortNames: ["sts"],
        categories: all,
        subresources: scaled,
        scale: replicas,
        traits: statefulSetTraits,
      },
      {
        kind: "DaemonSet",
        plural: "daemonsets",
        scope: "namespaced",
        shortNames: ["ds"],
        categories: all,
        subresources: status,
        traits: daemonSetTraits,
      },
      { kind: "ControllerRevision", plural: "controllerrevisions", scope: "namespaced" },
    ],
  },
  {
    group: "batch",
    version: "v1",
    definitions: "batch.v1",
    rows: [
      {
        kind: "Job",
        plural: "jobs",
        scope: "namespaced",
        categories: all,
        subresources: status,
        selectable: ["status.successful"],
        traits: jobTraits,
      },
      {
        kind: "CronJob",
        plural: "cronjobs",
        scope: "namespaced",
        shortNames: ["cj"],
        categories: all,
        subresources: status,
        traits: cronJobTraits,
      },
    ],
  },
  {
    group: "policy",
    version: "v1",
    definitions: "policy.v1",
    rows: [
      {
        kind: "PodDisruptionBudget",
        plural: "poddisruptionbudgets",
        scope: "namespaced",
        shortNames: ["pdb"],
        subresources: status,
        traits: disruptionBudgetTraits,
      },
    ],
  },
  {
    group: "coordination.k8s.io",
    version: "v1",
    definitions: "coordination.v1",
    rows: [{ kind: "Lease", plural: "leases", scope: "namespaced", traits: leaseTraits }],
  },
  {
    group: "scheduling.k8s.io",
    version: "v1",
    definitions: "scheduling.v1",
    rows: [
      {
        kind: "PriorityClass",
        plural: "priorityclasses",
        scope: "cluster",
        shortNames: ["pc"],
        traits: priorityClassTraits,
      },
    ],
  },
  {
    group: "storage.k8s.io",
    version: "v1",
    definitions: "storage.v1",
    rows: [
      {
        kind: "StorageClass",
        plural: "storageclasses",
        scope: "cluster",
        shortNames: ["sc"],
        traits: storageClassTraits,
      },
      { kind: "CSINode", plural: "csinodes", scope: "cluster" },
      {
        kind: "VolumeAttachment",
        plural: "volumeattachments",
        scope: "cluster",
        subresources: status,
        traits: volumeAttachmentTraits,
      },
      { kind: "CSIDriver", plural: "csidrivers", scope: "cluster", traits: csiDriverTraits },
      { kind: "CSIStorageCapacity", plural: "csistoragecapacities", scope: "namespaced" },
    ],
  },
  {
    group: "events.k8s.io",
    version: "v1",
    definitions: "events.v1",
    rows: [
      {
        kind: "Event",
        plural: "events",
        scope: "namespaced",
        shortNames: ["ev"],
        selectable: eventFields,
        storage: "events",
        conversion: eventsConversion,
        traits: eventTraits,
      },
    ],
  },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    definitions: "apiextensions.v1",
    rows: [
      {
        kind: "CustomResourceDefinition",
        plural: "customresourcedefinitions",
        scope: "cluster",
        shortNames: ["crd", "crds"],
        categories: ["api-extensions"],
        subresources: status,
        traits: customResourceDefinitionTraits,
      },
    ],
  },
  {
    group: "apiregistration.k8s.io",
    version: "v1",
    definitions: "apiregistration.v1",
    rows: [
      {
        kind: "APIService",
        plural: "apiservices",
        scope: "cluster",
        categories: ["api-extensions"],
        subresources: status,
        verbs: ["get", "list", "watch"],
      },
    ],
  },
  {
    group: "autoscaling",
    version: "v2",
    definitions: "autoscaling.v2",
    rows: [
      {
        kind: "HorizontalPodAutoscaler",
        plural: "horizontalpodautoscalers",
        scope: "namespaced",
        shortNames: ["hpa"],
        categories: all,
        subresources: status,
        traits: autoscalerTraits,
      },
    ],
  },
  {
    group: "autoscaling",
    version: "v1",
    definitions: "autoscaling.v1",
    rows: [
      {
        kind: "HorizontalPodAutoscaler",
        plural: "horizontalpodautoscalers",
        scope: "namespaced",
        shortNames: ["hpa"],
        categories: all,
        subresources: status,
        conversion: autoscalerConversion,
        traits: autoscalerTraits,
      },
    ],
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    definitions: "networking.v1",
    rows: [
      {
        kind: "Ingress",
        plural: "ingresses",
        scope: "namespaced",
        shortNames: ["ing"],
        subresources: status,
        traits: ingressTraits,
      },
      { kind: "IngressClass", plural: "ingressclasses", scope: "cluster", traits: counted },
      {
        kind: "NetworkPolicy",
        plural: "networkpolicies",
        scope: "namespaced",
        shortNames: ["netpol"],
        traits: networkPolicyTraits,
      },
    ],
  },
  {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    definitions: "rbac.v1",
    rows: [
      { kind: "Role", plural: "roles", scope: "namespaced", traits: named },
      { kind: "ClusterRole", plural: "clusterroles", scope: "cluster", traits: named },
      { kind: "RoleBinding", plural: "rolebindings", scope: "namespaced", traits: roleBindingTraits },
      { kind: "ClusterRoleBinding", plural: "clusterrolebindings", scope: "cluster", traits: roleBindingTraits },
    ],
  },
  {
    group: "discovery.k8s.io",
    version: "v1",
    definitions: "discovery.v1",
    rows: [{ kind: "EndpointSlice", plural: "endpointslices", scope: "namespaced", traits: endpointSliceTraits }],
  },
  {
    group: "node.k8s.io",
    version: "v1",
    definitions: "node.v1",
    rows: [{ kind: "RuntimeClass", plural: "runtimeclasses", scope: "cluster" }],
  },
  {
    group: "resource.k8s.io",
    version: "v1",
    definitions: "resource.v1",
    rows: [
      {
        kind: "ResourceClaim",
        plural: "resourceclaims",
        scope: "namespaced",
        subresources: status,
        traits: { hasStatus: true },
      },
      { kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates", scope: "namespaced" },
      {
        kind: "ResourceSlice",
        plural: "resourceslices",
        scope: "cluster",
        selectable: ["spec.nodeName", "spec.driver"],
        traits: counted,
      },
      { kind: "DeviceClass", plural: "deviceclasses", scope: "cluster", traits: counted },
    ],
  },
  {
    group: "admissionregistration.k8s.io",
    version: "v1",
    definitions: "admissionregistration.v1",
    rows: [
      {
        kind: "ValidatingWebhookConfiguration",
        plural: "validatingwebhookconfigurations",
        scope: "cluster",
        categories: ["api-extensions"],
        traits: admissionConfigurationTraits,
      },
      {
        kind: "MutatingWebhookConfiguration",
        plural: "mutatingwebhookconfigurations",
        scope: "cluster",
        categories: ["api-extensions"],
        traits: admissionConfigurationTraits,
      },
      {
        kind: "ValidatingAdmissionPolicy",
        plural: "validatingadmissionpolicies",
        scope: "cluster",
        categories: ["api-extensions"],
        subresources: status,
        traits: { ...admissionConfigurationTraits, hasStatus: true },
      },
      {
        kind: "ValidatingAdmissionPolicyBinding",
        plural: "validatingadmissionpolicybindings",
        scope: "cluster",
        categories: ["api-extensions"],
        traits: admissionConfigurationTraits,
      },
    ],
  },
  {
    group: "authorization.k8s.io",
    version: "v1",
    definitions: "authorization.v1",
    rows: [
      {
        kind: "SelfSubjectAccessReview",
        plural: "selfsubjectaccessreviews",
        scope: "cluster",
        verbs: createOnly,
        traits: accessReviewTraits,
      },
      {
        kind: "SubjectAccessReview",
        plural: "subjectaccessreviews",
        scope: "cluster",
        verbs: createOnly,
        traits: accessReviewTraits,
      },
      {
        kind: "LocalSubjectAccessReview",
        plural: "localsubjectaccessreviews",
        scope: "namespaced",
        verbs: createOnly,
        traits: accessReviewTraits,
      },
      {
        kind: "SelfSubjectRulesReview",
        plural: "selfsubjectrulesreviews",
        scope: "cluster",
        verbs: createOnly,
        traits: accessReviewTraits,
      },
    ],
  },
  {
    group: "authentication.k8s.io",
    version: "v1",
    definitions: "authentication.v1",
    rows: [
      {
        kind: "SelfSubjectReview",
        plural: "selfsubjectreviews",
        scope: "cluster",
        verbs: createOnly,
        traits: selfReviewTraits,
      },
    ],
  },
  {
    group: "metrics.k8s.io",
    version: "v1beta1",
    definitions: "",
    rows: [
      { kind: "NodeMetrics", plural: "nodes", scope: "cluster", verbs: readOnly, storage: "nodes.metrics.k8s.io" },
      { kind: "PodMetrics", plural: "pods", scope: "namespaced", verbs: readOnly, storage: "pods.metrics.k8s.io" },
    ],
  },
];
