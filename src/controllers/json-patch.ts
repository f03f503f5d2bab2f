import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../api/object.ts";
import { jsonPointer } from "../core/explain/json-patch.ts";
import type { KubeClient, ResourceType, WriteOptions } from "../kube/client.ts";
import { isKubeError, KubeError } from "../kube/kube-error.ts";
import { objectKeyFromMeta } from "./writes.ts";

/** One operation of a JSON patch. */
export interface JsonPatchOperation {
  readonly op: "test" | "add" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

/** How often a JSON patch is made anew when what it tests is no longer so. */
const maxJsonPatchTries = 3;

export interface JsonPatchOptions<T> extends WriteOptions {
  /** The patch, with tests of what must be as it is in the object; undefined if there is nothing to write. */
  readonly patchOf: (object: T) => readonly JsonPatchOperation[] | undefined;
}

/**
 * Writes a JSON patch, which is refused only if what it tests has changed; others may change the rest of the object at
 * the same time. If it is refused, the object is read again and the patch made anew, at once. Throws `not-found` if the
 * object is gone, or another has its name.
 */
export async function jsonPatchObject<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType,
  object: T,
  { patchOf, ...options }: JsonPatchOptions<T>,
): Promise<void> {
  const key = objectKeyFromMeta(object.metadata);
  const isSame = { op: "test", path: "/metadata/uid", value: object.metadata.uid } as const;
  let current = object;
  for (let tries = 1; ; tries++) {
    const operations = patchOf(current);
    if (operations === undefined) return;
    try {
      await client.patch(type, key, { kind: "json", body: [isSame, ...operations] }, options);
      return;
    } catch (error) {
      if (!isKubeError(error, "invalid") || tries === maxJsonPatchTries) throw error;
      current = await client.get<T>(type, key);
      if (current.metadata.uid !== object.metadata.uid)
        throw new KubeError("not-found", `another ${type.kind} has the name ${key.name}`, { cause: error });
    }
  }
}

/** Operations that set the fields of a map, such as labels, and leave its other fields alone. */
export function setFields(
  path: string,
  before: Readonly<Record<string, string>> | undefined,
  after: Readonly<Record<string, string>> | undefined,
): readonly JsonPatchOperation[] {
  const changed = Object.entries(after ?? {}).filter(([key, value]) => before?.[key] !== value);
  if (changed.length === 0) return [];
  if (before === undefined)
    return [
      { op: "test", path, value: null },
      { op: "add", path, value: after },
    ];
  return changed.map(([key, value]) => ({ op: "add", path: `${path}${jsonPointer([key])}`, value }));
}

/** Operations that replace a list if it is still as it was. */
export function replaceList(
  path: string,
  before: readonly unknown[] | undefined,
  after: readonly unknown[] | undefined,
): readonly JsonPatchOperation[] {
  if (isDeepStrictEqual(before ?? [], after ?? [])) return [];
  return [
    { op: "test", path, value: before ?? null },
    { op: "add", path, value: after },
  ];
}
