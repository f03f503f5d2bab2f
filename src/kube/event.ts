import type { KubeObject } from "../api/object.ts";

/** `v1` Event. */
export interface Event extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export type EventType = "Normal" | "Warning";

/** The involvedObject of an event about this object. */
export function referenceTo({ apiVersion, kind, metadata }: Pick<KubeObject, "apiVersion" | "kind" | "metadata">) {
  const { namespace, name = "", uid, resourceVersion } = metadata;
  return { apiVersion, kind, namespace, name, uid, resourceVersion } satisfies ObjectReference;
}
