import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/kubernetes/cluster-objects.ts";
import { namespacedName } from "../api/object.ts";
import type { VolumeIndex } from "../core/scheduling/problem.ts";
import { csiDriverOf } from "../core/volumes.ts";
import { CopyOnWriteMap } from "./copy-on-write-map.ts";

/**
 * Where volumes are looked up, and which pods use which claims: a volume may be told of after the pod that mounts it,
 * and only then is it known who attaches it. (02 §2.10)
 */
export class VolumeTracker {
  readonly #claims = new CopyOnWriteMap<PersistentVolumeClaim>();
  readonly #volumes = new CopyOnWriteMap<PersistentVolume>();
  readonly #classes = new CopyOnWriteMap<StorageClass>();
  /** Claim → keys of the pods that use it. */
  readonly #podsByClaim = new Map<string, Set<string>>();
  readonly #onDriverChange: (pod: string) => void;

  /** Hears of pods whose volumes are attached by somebody else than before. */
  constructor(onDriverChange: (pod: string) => void) {
    this.#onDriverChange = onDriverChange;
  }

  /** What changes later does not show. */
  snapshot(): VolumeIndex {
    return { claims: this.#claims.snapshot(), volumes: this.#volumes.snapshot(), classes: this.#classes.snapshot() };
  }

  /** For a look at once. */
  live(): VolumeIndex {
    return { claims: this.#claims.live, volumes: this.#volumes.live, classes: this.#classes.live };
  }

  /** The pod no longer uses some claims, and uses others. */
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

  /** Tells of those among the claims whose driver is another after the change. */
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
