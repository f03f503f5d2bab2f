import type { Pod } from "../../api/kubernetes/pod.ts";
import { annotations } from "../../api/labels.ts";
import type { OwnerReference } from "../../api/object.ts";
import { unschedulableStatus } from "../virtual-pods.ts";

/** A ReplicaSet that is still creating pods. */
export interface ExpectingReplicaSet {
  readonly uid: string;
  /** One of its pods: the API server has completed it, as it will complete the others. */
  readonly example: Pod;
  /** How many pods it has yet to create. */
  readonly missing: number;
}

/** A mistyped number of replicas must not become as many pods at once. */
const maxExpectedPods = 5_000;

/**
 * The pods that ReplicaSets have yet to create. They exist only in rounds: a node is planned for the whole of a ReplicaSet,
 * not for each handful of pods that come in one batch window. (02:P-35)
 */
export function expectedPods(replicaSets: readonly ExpectingReplicaSet[]): readonly Pod[] {
  const pods: Pod[] = [];
  for (const { uid, example, missing } of replicaSets) {
    const { nodeName: _, ...spec } = example.spec; // one object for all of them: they are classified once
    const count = Math.min(missing, maxExpectedPods - pods.length);
    for (let index = 1; index <= count; index++)
      pods.push(expectedPod({ uid, index, metadata: example.metadata, spec }));
  }
  return pods;
}

interface ExpectedPodParts extends Pick<Pod, "metadata" | "spec"> {
  readonly uid: string;
  readonly index: number;
}

function expectedPod({ uid, index, metadata, spec }: ExpectedPodParts): Pod {
  const name = `expected-${uid}-${index}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      name,
      uid: name,
      annotations: { ...metadata.annotations, [annotations.expectedPodOf]: uid },
    },
    spec,
    status: unschedulableStatus,
  };
}

/** The ReplicaSet that has yet to create the pod; undefined if it exists. */
export function expectedReplicaSetOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[annotations.expectedPodOf];
}

/** The ReplicaSet that controls the pod. */
export function replicaSetOf({ metadata }: Pod): OwnerReference | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === "ReplicaSet" && owner.apiVersion.startsWith("apps/") ? owner : undefined;
}

/**
 * Whether pods like it may be expected. Not with topology rules: the pods that are there must satisfy them without those that
 * are not. Nor with what is made for each pod by its name, such as a volume: for an expected one there is none. (02:P-35)
 */
export function canBeExpected({ spec }: Pod): boolean {
  const { topologySpreadConstraints = [], affinity, volumes = [], resourceClaims = [] } = spec;
  const hasTopologyRules =
    topologySpreadConstraints.length > 0 ||
    affinity?.podAffinity !== undefined ||
    affinity?.podAntiAffinity !== undefined;
  return !hasTopologyRules && resourceClaims.length === 0 && volumes.every(({ ephemeral }) => ephemeral === undefined);
}
