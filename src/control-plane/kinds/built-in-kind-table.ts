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
import {
  accessReviewTraits,
  selfAccessReviewTraits,
  selfReviewTraits,
  tokenReviewTraits,
} from "./behaviours/review-traits.ts";
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
import { type ScaleFields, type ServedKind, type Subresource, verbs } from "./served-kind.ts";

export interface BuiltInKindRow
  extends Pick<ServedKind, "kind" | "plural" | "namespaced" | "shortNames" | "categories" | "subresources">,
    RowDetails {
  readonly verbs: ServedKind["verbs"];
}

/** What a line of text cannot say of a kind. */
interface RowDetails extends Pick<ServedKind, "scale" | "conversion"> {
  readonly selectable?: readonly string[];
  readonly traits?: KindTraits;
  /** Where it differs from the plural and group. */
  readonly storage?: string;
}

export interface BuiltInKindGroup {
  readonly group: string;
  readonly version: string;
  readonly rows: readonly BuiltInKindRow[];
}

/** A kind as one line: its name, its plural, `cluster` unless it is namespaced, and lists as `key=value,value`. */
function kindRow(line: string, details: RowDetails = {}): BuiltInKindRow {
  const [kind = "", plural = "", ...words] = line.split(" ");
  const list = (key: string): readonly string[] | undefined =>
    words
      .find((word) => word.startsWith(`${key}=`))
      ?.slice(key.length + 1)
      .split(",");
  return {
    kind,
    plural,
    namespaced: !words.includes("cluster"),
    shortNames: list("short") ?? [],
    categories: list("categories") ?? [],
    subresources: (list("subresources") ?? []) as readonly Subresource[],
    verbs: (list("verbs") ?? verbs) as ServedKind["verbs"],
    selectable: list("selectable") ?? [],
    ...details,
  };
}

const replicas: ScaleFields = {
  specReplicas: "spec.replicas",
  statusReplicas: "status.replicas",
  selector: "spec.selector",
};
const counted: KindTraits = { countsGenerations: true };
const named: KindTraits = { nameStyle: "path" };
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

/** The built-in kinds of Kubernetes that we serve. (05 §5) */
export const builtInKindTable: readonly BuiltInKindGroup[] = [
  {
    group: "",
    version: "v1",
    rows: [
      kindRow("Namespace namespaces cluster short=ns subresources=finalize,status selectable=status.phase", {
        traits: namespaceTraits,
      }),
      kindRow("Node nodes cluster short=no subresources=status selectable=spec.unschedulable", { traits: nodeTraits }),
      kindRow("Pod pods short=po categories=all subresources=binding,eviction,log,status", {
        selectable: podFields,
        traits: podTraits,
      }),
      kindRow("PodTemplate podtemplates", { traits: podTemplateTraits }),
      kindRow("Event events short=ev", { selectable: eventFields, traits: eventTraits }),
      kindRow("ConfigMap configmaps short=cm", { traits: configMapTraits }),
      kindRow("Secret secrets selectable=type", { traits: secretTraits }),
      kindRow("Service services short=svc categories=all subresources=status selectable=spec.clusterIP,spec.type", {
        traits: serviceTraits,
      }),
      kindRow("ServiceAccount serviceaccounts short=sa subresources=token"),
      kindRow("PersistentVolume persistentvolumes cluster short=pv subresources=status", {
        traits: persistentVolumeTraits,
      }),
      kindRow("PersistentVolumeClaim persistentvolumeclaims short=pvc subresources=status", {
        traits: persistentVolumeClaimTraits,
      }),
      kindRow(
        "ReplicationController replicationcontrollers short=rc categories=all subresources=scale,status selectable=status.replicas",
        { scale: replicas, traits: replicationControllerTraits },
      ),
      kindRow("Endpoints endpoints short=ep"),
      kindRow("ResourceQuota resourcequotas short=quota subresources=status", { traits: { hasStatus: true } }),
      kindRow("LimitRange limitranges short=limits", { traits: limitRangeTraits }),
    ],
  },
  {
    group: "apps",
    version: "v1",
    rows: [
      kindRow("Deployment deployments short=deploy categories=all subresources=scale,status", {
        scale: replicas,
        traits: deploymentTraits,
      }),
      kindRow("ReplicaSet replicasets short=rs categories=all subresources=scale,status selectable=status.replicas", {
        scale: replicas,
        traits: replicaSetTraits,
      }),
      kindRow("StatefulSet statefulsets short=sts categories=all subresources=scale,status", {
        scale: replicas,
        traits: statefulSetTraits,
      }),
      kindRow("DaemonSet daemonsets short=ds categories=all subresources=status", { traits: daemonSetTraits }),
      kindRow("ControllerRevision controllerrevisions"),
    ],
  },
  {
    group: "batch",
    version: "v1",
    rows: [
      kindRow("Job jobs categories=all subresources=status selectable=status.successful", { traits: jobTraits }),
      kindRow("CronJob cronjobs short=cj categories=all subresources=status", { traits: cronJobTraits }),
    ],
  },
  {
    group: "policy",
    version: "v1",
    rows: [
      kindRow("PodDisruptionBudget poddisruptionbudgets short=pdb subresources=status", {
        traits: disruptionBudgetTraits,
      }),
    ],
  },
  { group: "coordination.k8s.io", version: "v1", rows: [kindRow("Lease leases", { traits: leaseTraits })] },
  {
    group: "scheduling.k8s.io",
    version: "v1",
    rows: [kindRow("PriorityClass priorityclasses cluster short=pc", { traits: priorityClassTraits })],
  },
  {
    group: "storage.k8s.io",
    version: "v1",
    rows: [
      kindRow("StorageClass storageclasses cluster short=sc", { traits: storageClassTraits }),
      kindRow("CSINode csinodes cluster"),
      kindRow("VolumeAttachment volumeattachments cluster subresources=status", { traits: volumeAttachmentTraits }),
      kindRow("CSIDriver csidrivers cluster", { traits: csiDriverTraits }),
      kindRow("CSIStorageCapacity csistoragecapacities"),
    ],
  },
  {
    group: "events.k8s.io",
    version: "v1",
    rows: [
      kindRow("Event events short=ev", {
        selectable: eventFields,
        conversion: eventsConversion,
        traits: eventTraits,
        storage: "events",
      }),
    ],
  },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    rows: [
      kindRow(
        "CustomResourceDefinition customresourcedefinitions cluster short=crd,crds categories=api-extensions subresources=status",
        { traits: customResourceDefinitionTraits },
      ),
    ],
  },
  {
    group: "apiregistration.k8s.io",
    version: "v1",
    rows: [
      kindRow("APIService apiservices cluster categories=api-extensions subresources=status verbs=get,list,watch"),
    ],
  },
  {
    group: "autoscaling",
    version: "v2",
    rows: [
      kindRow("HorizontalPodAutoscaler horizontalpodautoscalers short=hpa categories=all subresources=status", {
        traits: autoscalerTraits,
      }),
    ],
  },
  {
    group: "autoscaling",
    version: "v1",
    rows: [
      kindRow("HorizontalPodAutoscaler horizontalpodautoscalers short=hpa categories=all subresources=status", {
        conversion: autoscalerConversion,
        traits: autoscalerTraits,
      }),
    ],
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    rows: [
      kindRow("Ingress ingresses short=ing subresources=status", { traits: ingressTraits }),
      kindRow("IngressClass ingressclasses cluster", { traits: counted }),
      kindRow("NetworkPolicy networkpolicies short=netpol", { traits: networkPolicyTraits }),
    ],
  },
  {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    rows: [
      kindRow("Role roles", { traits: named }),
      kindRow("ClusterRole clusterroles cluster", { traits: named }),
      kindRow("RoleBinding rolebindings", { traits: roleBindingTraits }),
      kindRow("ClusterRoleBinding clusterrolebindings cluster", { traits: roleBindingTraits }),
    ],
  },
  {
    group: "discovery.k8s.io",
    version: "v1",
    rows: [kindRow("EndpointSlice endpointslices", { traits: endpointSliceTraits })],
  },
  { group: "node.k8s.io", version: "v1", rows: [kindRow("RuntimeClass runtimeclasses cluster")] },
  {
    group: "resource.k8s.io",
    version: "v1",
    rows: [
      kindRow("ResourceClaim resourceclaims subresources=status", { traits: { hasStatus: true } }),
      kindRow("ResourceClaimTemplate resourceclaimtemplates"),
      kindRow("ResourceSlice resourceslices cluster selectable=spec.nodeName,spec.driver", { traits: counted }),
      kindRow("DeviceClass deviceclasses cluster", { traits: counted }),
    ],
  },
  {
    group: "admissionregistration.k8s.io",
    version: "v1",
    rows: [
      kindRow("ValidatingWebhookConfiguration validatingwebhookconfigurations cluster categories=api-extensions", {
        traits: admissionConfigurationTraits,
      }),
      kindRow("MutatingWebhookConfiguration mutatingwebhookconfigurations cluster categories=api-extensions", {
        traits: admissionConfigurationTraits,
      }),
      kindRow(
        "ValidatingAdmissionPolicy validatingadmissionpolicies cluster categories=api-extensions subresources=status",
        { traits: { ...admissionConfigurationTraits, hasStatus: true } },
      ),
      kindRow("ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings cluster categories=api-extensions", {
        traits: admissionConfigurationTraits,
      }),
    ],
  },
  {
    group: "authorization.k8s.io",
    version: "v1",
    rows: [
      kindRow("SelfSubjectAccessReview selfsubjectaccessreviews cluster verbs=create", {
        traits: selfAccessReviewTraits,
      }),
      kindRow("SubjectAccessReview subjectaccessreviews cluster verbs=create", { traits: accessReviewTraits }),
      kindRow("LocalSubjectAccessReview localsubjectaccessreviews verbs=create", { traits: accessReviewTraits }),
      kindRow("SelfSubjectRulesReview selfsubjectrulesreviews cluster verbs=create", {
        traits: selfAccessReviewTraits,
      }),
    ],
  },
  {
    group: "authentication.k8s.io",
    version: "v1",
    rows: [
      kindRow("SelfSubjectReview selfsubjectreviews cluster verbs=create", { traits: selfReviewTraits }),
      kindRow("TokenReview tokenreviews cluster verbs=create", { traits: tokenReviewTraits }),
    ],
  },
  {
    group: "metrics.k8s.io",
    version: "v1beta1",
    rows: [kindRow("NodeMetrics nodes cluster verbs=get,list"), kindRow("PodMetrics pods verbs=get,list")],
  },
];
