import type { ObjectMeta } from "../object.ts";

/** A Pod, as far as we read it. Other fields may be there and are left alone. */
export interface Pod {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  readonly status?: PodStatus | undefined;
}

export interface PodSpec {
  readonly nodeName?: string | undefined;
  readonly schedulerName?: string | undefined;
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly affinity?: Affinity | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[] | undefined;
  readonly containers?: readonly Container[] | undefined;
  readonly initContainers?: readonly Container[] | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly runtimeClassName?: string | undefined;
  readonly overhead?: ResourceList | undefined;
  readonly volumes?: readonly Volume[] | undefined;
  readonly resourceClaims?: readonly PodResourceClaim[] | undefined;
  readonly schedulingGates?: readonly { readonly name: string }[] | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly priorityClassName?: string | undefined;
  readonly preemptionPolicy?: string | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly restartPolicy?: string | undefined;
  readonly hostname?: string | undefined;
}

/** A resource claim of a pod: an object by name, or one that is made from a template. */
export interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string | undefined;
  readonly resourceClaimTemplateName?: string | undefined;
}

export interface PodStatus {
  readonly phase?: string | undefined;
  readonly reason?: string | undefined;
  readonly startTime?: string | undefined;
  readonly nominatedNodeName?: string | undefined;
  readonly conditions?: readonly PodCondition[] | undefined;
  readonly containerStatuses?: readonly ContainerStatus[] | undefined;
  readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
  /** The claims that were made from templates. One without a name needed none. */
  readonly resourceClaimStatuses?:
    | readonly { readonly name: string; readonly resourceClaimName?: string | undefined }[]
    | undefined;
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

/** Quantities as written: text, or a bare number in YAML. */
export type ResourceList = Readonly<Record<string, string | number>>;

export interface ResourceRequirements {
  readonly requests?: ResourceList | undefined;
  readonly limits?: ResourceList | undefined;
  readonly claims?: readonly { readonly name: string }[] | undefined;
}

export interface Container {
  readonly name?: string | undefined;
  readonly image?: string | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly ports?: readonly ContainerPort[] | undefined;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string | undefined;
}

export interface ContainerStatus {
  readonly name: string;
  readonly resources?: ResourceRequirements | undefined;
  readonly allocatedResources?: ResourceList | undefined;
  readonly restartCount?: number | undefined;
  readonly state?: { readonly terminated?: ContainerStateTerminated | undefined } | undefined;
}

export interface ContainerStateTerminated {
  readonly exitCode?: number | undefined;
  readonly finishedAt?: string | undefined;
}

export interface ContainerPort {
  readonly name?: string | undefined;
  readonly containerPort?: number | undefined;
  readonly hostPort?: number | undefined;
  readonly hostIP?: string | undefined;
  readonly protocol?: string | undefined;
}

export interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string } | undefined;
  readonly ephemeral?: { readonly volumeClaimTemplate?: { readonly spec?: PersistentVolumeClaimSpec } } | undefined;
}

export interface PersistentVolumeClaimSpec {
  readonly storageClassName?: string | undefined;
  readonly volumeName?: string | undefined;
  readonly accessModes?: readonly string[] | undefined;
  readonly resources?: ResourceRequirements | undefined;
}

export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
  readonly tolerationSeconds?: number | undefined;
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity | undefined;
  readonly podAffinity?: PodAffinity | undefined;
  readonly podAntiAffinity?: PodAffinity | undefined;
}

export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | undefined;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredNodeTerm[] | undefined;
}

export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

export interface PreferredNodeTerm {
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly SelectorRequirement[] | undefined;
  readonly matchFields?: readonly SelectorRequirement[] | undefined;
}

/** An expression of a node or label selector; operators differ between the two. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** A requirement as it is written in a NodePool, a NodeClaim or an overlay. (01 §4.1) */
export interface RequirementItem extends SelectorRequirement {
  readonly minValues?: number | undefined;
}

export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | undefined;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[] | undefined;
}

export interface WeightedPodAffinityTerm {
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly mismatchLabelKeys?: readonly string[] | undefined;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly SelectorRequirement[] | undefined;
}

export interface TopologySpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector | undefined;
  readonly minDomains?: number | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly nodeAffinityPolicy?: string | undefined;
  readonly nodeTaintsPolicy?: string | undefined;
}
