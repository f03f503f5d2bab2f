import type { KubeObject } from "../../api/object.ts";
import type { ObjectBytesCache } from "../store/object-bytes-cache.ts";

const comma = Buffer.from(",");
const closing = Buffer.from("]}");
const lineEnd = Buffer.from("}\n");

/** A list, concatenated from the cached bytes of its objects. (05 §4) */
export function listBytes(
  items: readonly KubeObject[],
  { head, objectBytes }: { readonly head: Readonly<Record<string, unknown>>; readonly objectBytes: ObjectBytesCache },
): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(objectBytes.of(item));
  }
  parts.push(closing);
  return Buffer.concat(parts);
}

/** A watch event as one line. */
export function eventBytes(type: string, object: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, lineEnd]);
}
