import type { KubeObject } from "../../api/object.ts";
import type { ObjectBytesCache } from "../store/object-bytes-cache.ts";

const comma = Buffer.from(",");
const closing = Buffer.from("]}");
const lineEnd = Buffer.from("}\n");

/** A list in parts, which are the cached bytes of its objects: a large one is never in memory as a whole. (05 §4, 05:CP-S3) */
export function listParts(
  items: readonly KubeObject[],
  { head, objectBytes }: { readonly head: Readonly<Record<string, unknown>>; readonly objectBytes: ObjectBytesCache },
): readonly Uint8Array[] {
  const parts: Uint8Array[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(objectBytes.of(item));
  }
  parts.push(closing);
  return parts;
}

/** A watch event as one line. */
export function eventBytes(type: string, object: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, lineEnd]);
}
