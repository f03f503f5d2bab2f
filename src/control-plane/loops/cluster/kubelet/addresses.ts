import { textAt } from "../../../kinds/draft.ts";
import type { LivePod } from "../live.ts";
import { textHash } from "./node-object.ts";

const spots = 2 ** 23 - 2;

/** Addresses of pods, in 10.128.0.0/9; no two pods that live have the same. */
export class PodAddresses {
  readonly #owners = new Map<string, string>();

  /** A pod is seen with the address it has. */
  seen({ metadata, status }: LivePod): void {
    const address = textAt(status, "podIP");
    if (address !== "") this.#owners.set(address, metadata.uid ?? "");
  }

  gone({ metadata, status }: LivePod): void {
    const address = textAt(status, "podIP");
    if (this.#owners.get(address) === metadata.uid) this.#owners.delete(address);
  }

  /** Where the pod's uid points, or the next place that is free. */
  take({ metadata }: LivePod): string {
    const { uid = "" } = metadata;
    for (let spot = textHash(uid) % spots; ; spot = (spot + 1) % spots) {
      const address = `10.${128 + (spot >> 16)}.${(spot >> 8) & 255}.${(spot & 255) + (spot === 0 ? 1 : 0)}`;
      const owner = this.#owners.get(address);
      if (owner !== undefined && owner !== uid) continue;
      this.#owners.set(address, uid);
      return address;
    }
  }
}
