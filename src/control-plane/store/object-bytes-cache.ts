import type { KubeObject } from "../../api/object.ts";

/** The JSON bytes of each object, encoded once for all lists and watches. (05 §4) */
export class ObjectBytesCache {
  readonly #bytes = new WeakMap<object, Buffer>();

  of(object: KubeObject): Buffer {
    const known = this.#bytes.get(object);
    if (known !== undefined) return known;
    const bytes = Buffer.from(JSON.stringify(object));
    this.#bytes.set(object, bytes);
    return bytes;
  }
}
