import type { KubeObject } from "../../api/object.ts";

/** The bytes of each object version, made once: lists join them, watches fan them out. (05 §4) */
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
