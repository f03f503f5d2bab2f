import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/kubernetes/cluster-objects.ts";
import { namespacedName } from "../api/object.ts";
import { csiDriverOf, type VolumeIndex } from "../core/volumes.ts";
import { CopyOnWriteMap } from "./copy-on-write-map.ts";

/**
 * Volumes, and which pods use which claims: a volume may arrive after the pod that mounts it, which changes the pod's
 * CSI driver. (02 §2.10)
 */
export class VolumeTracker {
  readonly #claims = new CopyOnWriteMap<PersistentVolumeClaim>();
  readonly #volumes = new CopyOnWriteMap<PersistentVolume>();
  readonly #classes = new CopyOnWriteMap<StorageClass>();
  /** Claim → keys of the pods that use it. */
  readonly #podsByClaim = new Map<string, Set<string>>();
  readonly #onDriverChange: (pod: string) => void;

  /** Called with the keys of pods whose volume driver changed. */
  constructor(onDriverChange: (pod: string) => void) {
    this.#onDriverChange = onDriverChange;
  }

  /** Later changes do not show. */
  snapshot(): VolumeIndex {
    return { claims: this.#claims.snapshot(), volumes: this.#volumes.snapshot(), classes: this.#classes.snapshot() };
  }

  /** Later changes show. */
  live(): VolumeIndex {
    return { claims: this.#claims.live, volumes: this.#volumes.live, classes: this.#classes.live };
  }

  /** Records which claims a pod uses, and no longer uses. */
  setClaimsOfPod(
    pod: string,
    { before, now }: { readonly before: readonly string[]; readonly now: readonly string[] },
  ): void {
    for (const claim of before) {
      const users = this.#podsByClaim.get(claim);
      users?.delete(pod);
      if (users?.size === 0) this.#podsByClaim.delete(claim);
    }
    for (const claim of now) this.#podsByClaim.set(claim, (this.#podsByClaim.get(claim) ?? new Set()).add(pod));
  }

  putClaim(claim: PersistentVolumeClaim): void {
    const key = namespacedName(claim.metadata);
    this.#notifyDriverChanges([key], () => this.#claims.set(key, claim));
  }

  removeClaim(key: string): void {
    this.#notifyDriverChanges([key], () => this.#claims.delete(key));
  }

  putVolume(volume: PersistentVolume): void {
    const { name = "" } = volume.metadata;
    this.#notifyDriverChanges(this.#claimsBoundTo(name), () => this.#volumes.set(name, volume));
  }

  removeVolume(name: string): void {
    this.#notifyDriverChanges(this.#claimsBoundTo(name), () => this.#volumes.delete(name));
  }

  putClass(storageClass: StorageClass): void {
    this.#notifyDriverChanges([...this.#podsByClaim.keys()], () =>
      this.#classes.set(storageClass.metadata.name ?? "", storageClass),
    );
  }

  removeClass(name: string): void {
    this.#notifyDriverChanges([...this.#podsByClaim.keys()], () => this.#classes.delete(name));
  }

  #claimsBoundTo(volume: string): readonly string[] {
    return [...this.#podsByClaim.keys()].filter((key) => this.#claims.get(key)?.spec?.volumeName === volume);
  }

  /** Applies a change, and reports the pods of claims whose driver is another after it. */
  #notifyDriverChanges(claims: readonly string[], change: () => void): void {
    const before = claims.map((key) => this.#driver(key));
    change();
    for (const [index, key] of claims.entries()) {
      if (this.#driver(key) === before[index]) continue;
      for (const pod of this.#podsByClaim.get(key) ?? []) this.#onDriverChange(pod);
    }
  }

  #driver(key: string): string | undefined {
    const claim = this.#claims.get(key);
    return claim && csiDriverOf(claim, this.live());
  }
}
