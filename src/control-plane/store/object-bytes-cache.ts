import type { KubeObject } from "../../api/object.ts";

/** What is larger is rare, and would be in memory twice. (05:CP-S3) */
const maxCachedBytes = 64 * 1024;

/** The JSON bytes of each object, encoded once for all lists and watches. (05 §4) */
export class ObjectBytesCache {
  readonly #bytes = new WeakMap<object, Buffer>();

  of(object: KubeObject): Buffer {
    const known = this.#bytes.get(object);
    if (known !== undefined) return known;
    const bytes = Buffer.from(JSON.stringify(object));
    if (bytes.length <= maxCachedBytes) this.#bytes.set(object, bytes);
    return bytes;
  }
}
