import type { KubeObject } from "../api/object.ts";

/** A kind of object as clients address it. */
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
  /** One namespace; all of them when absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Where the next page begins. */
  readonly continue?: string | undefined;
}

export interface WatchOptions extends Omit<ListOptions, "limit" | "continue"> {
  readonly signal: AbortSignal;
  readonly bookmarks?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly sendInitialEvents?: boolean | undefined;
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Says only how far the stream has come; with `initialEventsEnd` that all that existed has been sent. */
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

export interface DeleteOptions extends Pick<WriteOptions, "dryRun"> {
  readonly propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/**
 * The Kubernetes API as our code uses it. Two implementations, HTTP and in-process, and one contract suite for both.
 * Objects that come back may be shared and are frozen; but lists and watches over a wire bring tens of thousands that
 * are nobody else's, most of which are cut down at once: whoever keeps them freezes them. Failures are `KubeError`s.
 * (docs/designs/interfaces.md)
 */
export interface KubeClient {
  get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T>;
  list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<ObjectList<T>>;
  /** Ends when the signal aborts or the server closes the stream; throws `KubeError` where the server says so. */
  watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(type: ResourceType, object: KubeObject, options?: CreateOptions): Promise<T>;
  /** Replaces; `metadata.resourceVersion` guards against overwriting what was not seen. */
  update<T extends KubeObject>(type: ResourceType, object: KubeObject, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** The object as it is while it goes, or undefined once it is gone. */
  delete<T extends KubeObject>(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined>;
}

/** For subresources that are created on an object (eviction, binding), `name` says on which. */
export interface CreateOptions extends WriteOptions {
  readonly name?: string | undefined;
}
