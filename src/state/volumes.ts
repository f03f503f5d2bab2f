import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/kubernetes/cluster.ts";
import { namespacedName } from "../api/object.ts";
import type { VolumeIndex } from "../core/scheduling/problem.ts";
import { driverOf } from "../core/volumes.ts";
import { CopyOnChange } from "./copy-on-change.ts";

/**
 * Where volumes are looked up, and which pods use which claims: a volume may be told of after the pod that mounts it,
 * and only then is it known who attaches it. (02 §2.10)
 */
export class Volumes {
  readonly #claims = new CopyOnChange<PersistentVolumeClaim>();
  readonly #volumes = new CopyOnChange<PersistentVolume>();
  readonly #classes = new CopyOnChange<StorageClass>();
  /** Claim → keys of the pods that use it. */
  readonly #users = new Map<string, Set<string>>();
  readonly #onMoved: (pod: string) => void;

  /** Hears of pods whose volumes are attached by somebody else than before. */
  constructor(onMoved: (pod: string) => void) {
    this.#onMoved = onMoved;
  }

  /** What changes later does not show. */
  index(): VolumeIndex {
    return { claims: this.#claims.now(), volumes: this.#volumes.now(), classes: this.#classes.now() };
  }

  /** For a look at once. */
  live(): VolumeIndex {
    return { claims: this.#claims.live, volumes: this.#volumes.live, classes: this.#classes.live };
  }

  /** The pod no longer uses some claims, and uses others. */
  use(pod: string, { before, now }: { readonly before: readonly string[]; readonly now: readonly string[] }): void {
    for (const claim of before) {
      const users = this.#users.get(claim);
      users?.delete(pod);
      if (users?.size === 0) this.#users.delete(claim);
    }
    for (const claim of now) this.#users.set(claim, (this.#users.get(claim) ?? new Set()).add(pod));
  }

  putClaim(claim: PersistentVolumeClaim): void {
    const key = namespacedName(claim.metadata);
    this.#watching([key], () => this.#claims.set(key, claim));
  }

  removeClaim(key: string): void {
    this.#watching([key], () => this.#claims.delete(key));
  }

  putVolume(volume: PersistentVolume): void {
    const { name = "" } = volume.metadata;
    this.#watching(this.#boundTo(name), () => this.#volumes.set(name, volume));
  }

  removeVolume(name: string): void {
    this.#watching(this.#boundTo(name), () => this.#volumes.delete(name));
  }

  putClass(storageClass: StorageClass): void {
    this.#watching([...this.#users.keys()], () => this.#classes.set(storageClass.metadata.name ?? "", storageClass));
  }

  removeClass(name: string): void {
    this.#watching([...this.#users.keys()], () => this.#classes.delete(name));
  }

  #boundTo(volume: string): readonly string[] {
    return [...this.#users.keys()].filter((key) => this.#claims.get(key)?.spec?.volumeName === volume);
  }

  /** Tells of those among the claims whose driver is another after the change. */
  #watching(claims: readonly string[], change: () => void): void {
    const before = claims.map((key) => this.#driver(key));
    change();
    for (const [index, key] of claims.entries()) {
      if (this.#driver(key) === before[index]) continue;
      for (const pod of this.#users.get(key) ?? []) this.#onMoved(pod);
    }
  }

  #driver(key: string): string | undefined {
    const claim = this.#claims.get(key);
    return claim && driverOf(claim, this.live());
  }
}
