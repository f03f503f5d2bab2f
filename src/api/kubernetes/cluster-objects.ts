import type { Taint } from "../labels.ts";
import type { ObjectMeta } from "../object.ts";
import type { LabelSelector, NodeSelector, PersistentVolumeClaimSpec, PodSpec, ResourceList } from "./pod.ts";

/** Kubernetes objects besides pods, with the fields scheduling reads. */

export interface Node {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: ObjectMeta;
  readonly spec?:
    | {
        readonly providerID?: string | undefined;
        readonly taints?: readonly Taint[] | undefined;
        readonly unschedulable?: boolean | undefined;
      }
    | undefined;
  readonly status?: NodeStatus | undefined;
}

export interface NodeStatus {
  readonly capacity?: ResourceList | undefined;
  readonly allocatable?: ResourceList | undefined;
  readonly phase?: string | undefined;
  readonly conditions?: readonly NodeCondition[] | undefined;
}

export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | undefined;
}

/** What pods are made from. */
export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: PodSpec;
}

export interface DaemonSet {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: ObjectMeta;
  readonly spec: { readonly selector?: LabelSelector | undefined; readonly template: PodTemplateSpec };
}

export interface Namespace {
  readonly metadata: ObjectMeta;
}

export interface PersistentVolumeClaim {
  readonly metadata: ObjectMeta;
  readonly spec?: PersistentVolumeClaimSpec | undefined;
  readonly status?: { readonly phase?: string | undefined } | undefined;
}

export interface PersistentVolume {
  readonly metadata: ObjectMeta;
  readonly spec?:
    | {
        readonly csi?: { readonly driver: string } | undefined;
        readonly awsElasticBlockStore?: unknown;
        readonly local?: unknown;
        readonly hostPath?: unknown;
        readonly nodeAffinity?: { readonly required?: NodeSelector | undefined } | undefined;
      }
    | undefined;
}

export interface StorageClass {
  readonly metadata: ObjectMeta;
  readonly provisioner?: string | undefined;
  readonly volumeBindingMode?: string | undefined;
  readonly allowedTopologies?:
    | readonly {
        readonly matchLabelExpressions?:
          | readonly { readonly key: string; readonly values: readonly string[] }[]
          | undefined;
      }[]
    | undefined;
}

export interface CsiNode {
  readonly metadata: ObjectMeta;
  readonly spec?:
    | {
        readonly drivers?:
          | readonly {
              readonly name: string;
              readonly allocatable?: { readonly count?: number | undefined } | undefined;
            }[]
          | undefined;
      }
    | undefined;
}

/** A Service or workload whose selector the default topology constraints use. (02:X-51) */
export interface SelectorOwner {
  readonly kind: "Service" | "ReplicationController" | "ReplicaSet" | "StatefulSet";
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly selector?: LabelSelector | Readonly<Record<string, string>> | undefined } | undefined;
}
