import { isSameJson } from "../api/json.ts";
import type { Pod } from "../api/kubernetes/pod.ts";

/** The virtual pods of capacity buffers, as their controller last resolved them. (02:B-5) */
export class BufferPods {
  readonly #pods = new Map<string, readonly Pod[]>();

  /** By namespace/name of the buffer. Equal pods stay the same objects, so that whoever has looked at them need not look again. */
  set(buffer: string, pods: readonly Pod[]): void {
    if (!isSameJson(this.#pods.get(buffer), pods)) this.#pods.set(buffer, pods);
  }

  remove(buffer: string): void {
    this.#pods.delete(buffer);
  }

  /** Undefined until the buffer was reconciled. */
  of(buffer: string): readonly Pod[] | undefined {
    return this.#pods.get(buffer);
  }

  /** How many pods the other buffers have. */
  countExcept(buffer: string): number {
    let count = 0;
    for (const [name, pods] of this.#pods) if (name !== buffer) count += pods.length;
    return count;
  }

  /** All, in the order of the buffers' names. */
  all(): readonly Pod[] {
    return [...this.#pods].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, pods]) => pods);
  }
}
