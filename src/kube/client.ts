import type { KubeObject } from "../api/object.ts";

/** How clients address a kind. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export interface ObjectKey {
  readonly name: string;
  /** Only for namespaced kinds. */
  readonly namespace?: string | undefined;
}

export interface ListOptions {
  /** All namespaces, unless given. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Aborts the request: a process that stops does not wait for a list. */
  readonly signal?: AbortSignal | undefined;
}

export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** The token of the next page. */
  readonly continue?: string | undefined;
}

export interface WatchOptions extends Omit<ListOptions, "limit" | "continue"> {
  readonly signal: AbortSignal;
  readonly bookmarks?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly sendInitialEvents?: boolean | undefined;
}

/** On the bookmark that ends the initial events of a watch. */
export const initialEventsEndAnnotation = "k8s.io/initial-events-end";

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Carries only a resourceVersion; with initialEventsEnd, everything that existed has been sent. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WriteOptions {
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined;
  readonly subresource?: "status" | "scale" | "eviction" | "binding" | undefined;
}

export type Patch =
  | { readonly kind: "json"; readonly body: readonly unknown[] }
  | { readonly kind: "merge" | "strategic"; readonly body: unknown }
  | { readonly kind: "apply"; readonly body: unknown; readonly fieldManager: string; readonly force?: boolean };

export const patchMediaTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml", // JSON is YAML
} as const satisfies Record<Patch["kind"], string>;

export interface DeleteOptions extends Pick<WriteOptions, "dryRun"> {
  readonly propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/**
 * The Kubernetes API as our code uses it; one contract suite runs against both implementations (HTTP and in-process).
 * Returned objects are frozen and may be shared, except those of HTTP lists and watches: they are large and mostly
 * projected away, so whoever keeps one freezes it. Failures are KubeErrors. (docs/designs/interfaces.md)
 */
export interface KubeClient {
  get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T>;
  list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<ObjectList<T>>;
  /** Ends when the signal aborts or the server closes the stream; throws the KubeError the server sends. */
  watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(type: ResourceType, object: KubeObject, options?: CreateOptions): Promise<T>;
  /** Replaces the object; with metadata.resourceVersion set, only if nobody has written it since. */
  update<T extends KubeObject>(type: ResourceType, object: KubeObject, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** The object while it waits for finalizers or its grace period; undefined once it is deleted. */
  delete<T extends KubeObject>(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined>;
}

/** For subresources that are created (eviction, binding), name is the object they belong to. */
export interface CreateOptions extends WriteOptions {
  readonly name?: string | undefined;
}

/** `namespace/name`, or the name for cluster-scoped objects. */
export function cacheKey({ namespace, name = "" }: KubeObject["metadata"]): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}
