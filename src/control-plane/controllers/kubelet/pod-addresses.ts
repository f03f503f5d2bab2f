import { fnv1a32 } from "../../../util/hash.ts";
import { textAt } from "../../object-fields.ts";
import type { ApiPod } from "../api-pod-and-node.ts";

const addressCount = 2 ** 23 - 2;

/** Allocates pod addresses in 10.128.0.0/9; no two live pods share one. */
export class PodAddresses {
  readonly #owners = new Map<string, string>();

  /** Marks the address of an observed pod as used. */
  markUsed({ metadata, status }: ApiPod): void {
    const address = textAt(status, "podIP");
    if (address !== "") this.#owners.set(address, metadata.uid ?? "");
  }

  release({ metadata, status }: ApiPod): void {
    const address = textAt(status, "podIP");
    if (this.#owners.get(address) === metadata.uid) this.#owners.delete(address);
  }

  /** Starts at the hash of the uid and takes the next free address. */
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
