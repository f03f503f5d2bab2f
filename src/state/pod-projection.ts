import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodSpec,
  PodStatus,
  Volume,
} from "../api/kubernetes/pod.ts";
import { groups, annotations as names } from "../api/labels.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../api/object.ts";
import { isOwnNomination, ownNominationFields } from "../core/nominations.ts";
import { Interner } from "./interner.ts";

/** More than a cluster has distinct workloads. */
const maxInternedParts = 4_096;
/** More than a cluster has nodes and namespaces. */
const maxInternedTexts = 16_384;

/** Conditions that are read: unschedulable, bound, ready, resizing. */
const conditionsRead: readonly string[] = ["PodScheduled", "Ready", "PodResizePending"];

/** A pod with the fields of the API that our type lacks. */
interface WirePod extends Pod {
  readonly metadata: ObjectMeta & { readonly deletionGracePeriodSeconds?: number | undefined };
}

/**
 * Keeps only what is read of pods, and interns equal parts: a pod costs a few hundred bytes, and equal pending pods
 * share one spec object. (docs/designs/speed.md)
 */
export class PodProjection {
  readonly #parts = new Interner(maxInternedParts);
  readonly #texts = new Interner(maxInternedTexts);

  project(object: KubeObject): KubeObject {
    const { apiVersion, kind, metadata, spec, status } = object as unknown as WirePod;
    const isOurs = isOwnNomination(object as unknown as Pod);
    const projected: Pod = {
      apiVersion: this.#texts.internText(apiVersion),
      kind: this.#texts.internText(kind),
      metadata: this.#metadata(metadata, isOurs ? ownNominationFields : undefined),
      spec: this.#spec(spec ?? {}),
      status: this.#status(status ?? {}, spec ?? {}),
    };
    return projected as KubeObject;
  }

  /** All fields, always in one order, so that all pods share one hidden class. */
  #metadata(metadata: WirePod["metadata"], managedFields: ObjectMeta["managedFields"]): ObjectMeta {
    const cut: WirePod["metadata"] = {
      name: metadata.name,
      namespace: this.#texts.internText(metadata.namespace),
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      generation: metadata.generation,
      creationTimestamp: this.#texts.internText(metadata.creationTimestamp),
      deletionTimestamp: metadata.deletionTimestamp,
      deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds,
      labels: this.#parts.internJson(metadata.labels),
      annotations: this.#annotations(metadata.annotations),
      ownerReferences: this.#parts.internJson(metadata.ownerReferences?.map(projectOwner)),
      managedFields,
    };
    return cut;
  }

  #annotations(all: ObjectMeta["annotations"]): ObjectMeta["annotations"] {
    const read = Object.entries(all ?? {}).filter(([name]) => isReadAnnotation(name));
    return read.length === 0 ? undefined : this.#parts.internJson(Object.fromEntries(read));
  }

  #spec(spec: PodSpec): PodSpec {
    const cut = projectSpec(spec);
    const shared = this.#parts.intern(JSON.stringify(cut), () => this.#withInternedParts(cut));
    return spec.nodeName === undefined ? shared : { ...shared, nodeName: this.#texts.internText(spec.nodeName) };
  }

  /** Pods that differ in one part, such as the volumes of a StatefulSet's pods, share the others. */
  #withInternedParts(spec: PodSpec): PodSpec {
    const present = Object.entries(spec).filter(([, part]) => part !== undefined);
    const parts = present.map(([name, part]) => [name, typeof part === "object" ? this.#parts.internJson(part) : part]);
    return { nodeName: undefined, ...Object.fromEntries(parts) }; // reserves the field: pods with and without a node share a hidden class
  }

  #status(status: PodStatus, spec: PodSpec): PodStatus {
    const { phase, startTime, nominatedNodeName, conditions, resourceClaimStatuses } = status;
    return {
      phase: this.#texts.internText(phase),
      startTime: this.#texts.internText(startTime),
      nominatedNodeName: this.#texts.internText(nominatedNodeName),
      conditions: conditions?.filter(({ type }) => conditionsRead.includes(type)).map((one) => this.#condition(one)),
      ...(isResized(spec, status) && this.#containerStatuses(status)),
      ...(resourceClaimStatuses !== undefined && { resourceClaimStatuses }),
    };
  }

  #containerStatuses(status: PodStatus): Pick<PodStatus, "containerStatuses" | "initContainerStatuses"> {
    return {
      containerStatuses: this.#parts.internJson(status.containerStatuses?.map(projectContainerStatus)),
      initContainerStatuses: this.#parts.internJson(status.initContainerStatuses?.map(projectContainerStatus)),
    };
  }

  #condition({ type, status, reason, lastTransitionTime }: PodCondition): PodCondition {
    return this.#parts.intern(`${type} ${status} ${reason} ${lastTransitionTime}`, () => ({
      type,
      status,
      reason,
      lastTransitionTime: this.#texts.internText(lastTransitionTime),
    }));
  }
}

function isReadAnnotation(annotation: string): boolean {
  return annotation === names.podDeletionCost || annotation.startsWith(`${groups.karpenter}/`);
}

function projectOwner({ apiVersion, kind, name, uid, controller }: OwnerReference): OwnerReference {
  return { apiVersion, kind, name, uid, controller };
}

function projectContainer({ name, resources, ports, restartPolicy }: Container): Container {
  return { name, resources, ports: undefinedIfEmpty(ports?.filter(({ hostPort }) => hostPort)), restartPolicy };
}

/** Only volumes backed by claims; the others concern the kubelet alone. */
function projectVolume({ name, persistentVolumeClaim, ephemeral }: Volume): readonly Volume[] {
  if (persistentVolumeClaim !== undefined) {
    return [{ name, persistentVolumeClaim: { claimName: persistentVolumeClaim.claimName } }];
  }
  return ephemeral === undefined ? [] : [{ name, ephemeral }];
}

function projectSpec(spec: PodSpec): PodSpec {
  return {
    schedulerName: spec.schedulerName,
    nodeSelector: spec.nodeSelector,
    affinity: spec.affinity,
    tolerations: spec.tolerations,
    topologySpreadConstraints: spec.topologySpreadConstraints,
    containers: spec.containers?.map(projectContainer),
    initContainers: undefinedIfEmpty(spec.initContainers)?.map(projectContainer),
    resources: spec.resources,
    overhead: spec.overhead,
    volumes: undefinedIfEmpty(spec.volumes?.flatMap(projectVolume)),
    resourceClaims: spec.resourceClaims,
    schedulingGates: spec.schedulingGates,
    hostNetwork: spec.hostNetwork,
    priority: spec.priority,
    priorityClassName: spec.priorityClassName,
    preemptionPolicy: spec.preemptionPolicy,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
  };
}

/** Kubelets also report resources that equal the requests; those are not kept. (02:A-6) */
function isResized({ containers = [], initContainers = [] }: PodSpec, status: PodStatus): boolean {
  if (status.conditions?.some(({ type }) => type === "PodResizePending")) return true;
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  return statuses.some(({ name, resources, allocatedResources }) => {
    const asked = [...containers, ...initContainers].find((one) => one.name === name)?.resources?.requests ?? {};
    const held = [allocatedResources, resources?.requests].flatMap((list) => Object.entries(list ?? {}));
    return resources !== undefined && held.some(([key, amount]) => asked[key] !== amount);
  });
}

function projectContainerStatus({ name, resources, allocatedResources }: ContainerStatus): ContainerStatus {
  return { name, resources, allocatedResources };
}

function undefinedIfEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}
