/** Any Kubernetes object. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface ObjectMeta {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly managedFields?: readonly unknown[] | undefined;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** `namespace/name`. Without a namespace it is in `default`, as with kubectl. */
export function namespacedName({ namespace, name }: Pick<ObjectMeta, "namespace" | "name">): string {
  return `${namespaceOf({ namespace })}/${name ?? ""}`;
}

export function namespaceOf({ namespace }: Pick<ObjectMeta, "namespace">): string {
  return namespace === undefined || namespace === "" ? "default" : namespace;
}

/** The group of an apiVersion: "" for `v1`, `apps` for `apps/v1`. */
export function apiGroupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** JSON objects only: not null, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isKubeObject(value: unknown): value is KubeObject {
  return (
    isRecord(value) &&
    typeof value["apiVersion"] === "string" &&
    typeof value["kind"] === "string" &&
    isRecord(value["metadata"])
  );
}

/** Deeply readonly: API objects are shared. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
