import { fnv1a32 } from "../../../util/hash.ts";
import { textAt } from "../../kinds/object-draft.ts";
import type { ApiPod } from "../api-pod-and-node.ts";

const addressCount = 2 ** 23 - 2;

/** Addresses of pods, in 10.128.0.0/9; no two pods that live have the same. */
export class PodAddresses {
  readonly #owners = new Map<string, string>();

  /** A pod is seen with the address it has. */
  markUsed({ metadata, status }: ApiPod): void {
    const address = textAt(status, "podIP");
    if (address !== "") this.#owners.set(address, metadata.uid ?? "");
  }

  release({ metadata, status }: ApiPod): void {
    const address = textAt(status, "podIP");
    if (this.#owners.get(address) === metadata.uid) this.#owners.delete(address);
  }

  /** Where the pod's uid points, or the next place that is free. */
  allocate({ metadata }: ApiPod): string {
    const { uid = "" } = metadata;
    for (let offset = fnv1a32(uid) % addressCount; ; offset = (offset + 1) % addressCount) {
      const address = `10.${128 + (offset >> 16)}.${(offset >> 8) & 255}.${(offset & 255) + (offset === 0 ? 1 : 0)}`;
      const owner = this.#owners.get(address);
      if (owner !== undefined && owner !== uid) continue;
      this.#owners.set(address, uid);
      return address;
    }
  }
}
