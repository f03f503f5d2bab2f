import type { KubeObject } from "../../api/object.ts";
import type { ObjectBytesCache } from "../store/object-bytes-cache.ts";

const comma = Buffer.from(",");
const closing = Buffer.from("]}");
const lineEnd = Buffer.from("}\n");

/** A list in parts, one object after the other: a large one is never in memory as a whole. (05 §4, 05:CP-S3) */
export function* listParts(
  items: readonly KubeObject[],
  { head, objectBytes }: { readonly head: Readonly<Record<string, unknown>>; readonly objectBytes: ObjectBytesCache },
): Iterable<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
  for (const [index, item] of items.entries()) {
    if (index > 0) yield comma;
    yield objectBytes.of(item);
  }
  yield closing;
}

/** A watch event as one line. */
export function eventBytes(type: string, object: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, lineEnd]);
}
