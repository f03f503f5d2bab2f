import { groups } from "../api/labels.ts";
import type { KubeObject } from "../api/object.ts";
import type { KubeClient, ResourceType } from "../kube/client.ts";
import { isKubeError, type KubeError } from "../kube/kube-error.ts";
import { listAllPages } from "../kube/list-all-pages.ts";
import { builtInTypes, karpenterTypes } from "../kube/resources.ts";
import type { Clock } from "../util/clock.ts";

/** Which cluster to use, as kubectl's flags choose it. */
export interface ClusterChoice {
  /** A kubeconfig file; else KUBECONFIG, else ~/.kube/config, else the cluster this process runs in. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** An open connection, with what is needed for reading. */
export interface LiveCluster {
  readonly kube: Pick<KubeClient, "list"> & Partial<Pick<KubeClient, "watch">>;
  readonly server: string;
  /** The namespace of commands that name none. */
  readonly namespace?: string;
  readonly clock: Clock;
  /** What identifies us, if it is a token. */
  bearerToken?(): Promise<string | undefined>;
  close(): void;
}

/** Throws an error with a readable message if there is no cluster to connect to. */
export type Connect = (choice: ClusterChoice) => Promise<LiveCluster>;

/** A cluster to start from, and how to connect to it; with the kubeconfig by default. */
export interface LiveSource extends ClusterChoice {
  readonly connect?: Connect | undefined;
}

/** A kind to read, and the versions of it that older clusters serve. */
interface LiveKind {
  readonly type: ResourceType;
  readonly older: readonly string[];
}

const { Pod, Node, Namespace, PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode } = builtInTypes;
const { LimitRange, RuntimeClass } = builtInTypes;
const { PodTemplate, Deployment, ReplicaSet, StatefulSet, DaemonSet, Service, PodDisruptionBudget, PriorityClass } =
  builtInTypes;

export const aksNodeClassType: ResourceType = {
  group: groups.azure,
  version: "v1beta1",
  kind: "AKSNodeClass",
  plural: "aksnodeclasses",
  namespaced: false,
};

const horizontalPodAutoscalerType: ResourceType = {
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
};

/** Pods come before nodes: then the node of every pod is in the result, unless it was deleted in between. */
const liveKinds: readonly LiveKind[] = [
  ...[Pod, Node, Namespace, PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode].map(withoutOlderVersions),
  ...[Deployment, ReplicaSet, StatefulSet, DaemonSet, Service, PodTemplate].map(withoutOlderVersions),
  ...[PodDisruptionBudget, PriorityClass, RuntimeClass, LimitRange].map(withoutOlderVersions),
  { type: horizontalPodAutoscalerType, older: ["v1"] },
  { type: karpenterTypes.NodePool, older: ["v1beta1"] },
  { type: karpenterTypes.NodeClaim, older: ["v1beta1"] },
  withoutOlderVersions(karpenterTypes.NodeOverlay),
  withoutOlderVersions(karpenterTypes.CapacityBuffer),
  { type: karpenterTypes.EC2NodeClass, older: ["v1beta1"] },
  withoutOlderVersions(karpenterTypes.KWOKNodeClass),
  { type: aksNodeClassType, older: ["v1alpha2"] },
];

/** The kinds scheduling depends on. */
export const liveTypes: readonly ResourceType[] = liveKinds.map(({ type }) => type);

function withoutOlderVersions(type: ResourceType): LiveKind {
  return { type, older: [] };
}

export interface LiveReadOptions {
  /** Only objects of these namespaces; all namespaces if empty. */
  readonly namespaces?: readonly string[];
  /** Called after each page. */
  readonly onProgress?: (kind: string, count: number) => void;
}

/** The objects of a cluster, and the kinds that could not be read. */
export interface LiveReading {
  readonly objects: readonly KubeObject[];
  /** Kinds the cluster does not have. */
  readonly absent: readonly string[];
  /** Kinds we are not allowed to list, with the server's message. */
  readonly forbidden: readonly { readonly kind: string; readonly because: string }[];
}

/** Reads all objects of the kinds scheduling depends on. Throws a `KubeError` if the cluster cannot be read at all. */
export async function readLiveCluster(
  { kube, clock }: LiveCluster,
  options: LiveReadOptions = {},
): Promise<LiveReading> {
  const { namespaces = [], onProgress = () => undefined } = options;
  const objects: KubeObject[] = [];
  const absent: string[] = [];
  const forbidden: { kind: string; because: string }[] = [];
  for (const { type, older } of liveKinds) {
    const versions = [type, ...older.map((version) => ({ ...type, version }))];
    const scopes = type.namespaced && namespaces.length > 0 ? namespaces : [undefined];
    for (const namespace of scopes) {
      const reader = { kube, clock, namespace, onPage: (count: number) => onProgress(type.kind, count) };
      const found = await readKind(versions, reader);
      if (found === "absent") absent.push(type.kind);
      else if ("items" in found) for (const item of found.items) objects.push(item);
      else forbidden.push({ kind: type.kind, because: found.because });
    }
  }
  return { objects, absent: [...new Set(absent)], forbidden };
}

interface KindReader extends Pick<LiveCluster, "kube" | "clock"> {
  readonly namespace: string | undefined;
  readonly onPage: (count: number) => void;
}

type KindReading = { readonly items: readonly KubeObject[] } | { readonly because: string } | "absent";

/** Reads a kind in the newest version the cluster serves. */
async function readKind(versions: readonly ResourceType[], reader: KindReader): Promise<KindReading> {
  for (const type of versions) {
    try {
      return { items: await withRetries(() => allPages(type, reader), reader.clock) };
    } catch (error) {
      if (isKubeError(error, "forbidden")) return { because: error.message };
      if (!isKubeError(error, "not-found")) throw error;
    }
  }
  return "absent";
}

async function allPages(type: ResourceType, { kube, namespace, onPage }: KindReader): Promise<readonly KubeObject[]> {
  const items: KubeObject[] = [];
  for await (const page of listAllPages(kube, type, { namespace })) {
    for (const item of page) items.push(item);
    onPage(items.length);
  }
  return items;
}

const maxAttempts = 4;
const defaultPauseMs = 1_000;

/** Retries: an expired list starts over at once; a busy server is asked again after the time it gives. */
async function withRetries<T>(run: () => Promise<T>, clock: Clock): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === maxAttempts || !isTransient(error)) throw error;
      if (error.code !== "expired") await clock.sleep(error.retryAfterMs ?? defaultPauseMs * attempt);
    }
  }
}

/** Errors the server answered with and that may pass. A server that does not answer is not retried. */
function isTransient(error: unknown): error is KubeError {
  return isKubeError(error, "expired", "too-many-requests", "unavailable", "timeout") && error.status !== undefined;
}
