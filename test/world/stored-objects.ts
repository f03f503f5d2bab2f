import type { KubeObject } from "../../src/api/object.ts";
import type { Journal, JournalEntry } from "../../src/control-plane/store/journal.ts";

/** Where the API server stores the kinds that tests look at. */
export const storages = {
  claims: "nodeclaims.karpenter.sh",
  pools: "nodepools.karpenter.sh",
  buffers: "capacitybuffers.autoscaling.x-k8s.io",
  nodes: "nodes",
  pods: "pods",
  podTemplates: "podtemplates",
  deployments: "deployments.apps",
  statefulSets: "statefulsets.apps",
  replicaSets: "replicasets.apps",
  budgets: "poddisruptionbudgets.policy",
  attachments: "volumeattachments.storage.k8s.io",
  events: "events",
} as const;

type PutListener = (storage: string, object: KubeObject, old: KubeObject | undefined) => void;

/** The objects of a cluster as they are, whatever any client believes: the API server calls it for every write. */
export class StoredObjects implements Journal {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners: PutListener[] = [];
  readonly #changeListeners: (() => void)[] = [];

  append(entry: JournalEntry): Promise<void> {
    if (entry.op === "put") {
      const known = this.#storage(entry.storage);
      const old = known.get(entry.key);
      known.set(entry.key, entry.object);
      for (const listener of this.#listeners) listener(entry.storage, entry.object, old);
    } else if (entry.op === "delete") this.#storage(entry.storage).delete(entry.key);
    for (const listener of this.#changeListeners) listener();
    return Promise.resolve();
  }

  /** Calls the listener after every write. */
  onChange(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  onPut(listener: PutListener): void {
    this.#listeners.push(listener);
  }

  all<T extends KubeObject>(storage: string): readonly T[] {
    return [...this.#storage(storage).values()] as unknown as readonly T[];
  }

  get<T extends KubeObject>(storage: string, key: string): T | undefined {
    return this.#storage(storage).get(key) as T | undefined;
  }

  everything(): readonly KubeObject[] {
    return [...this.#objects.values()].flatMap((known) => [...known.values()]);
  }

  #storage(name: string): Map<string, KubeObject> {
    const known = this.#objects.get(name) ?? new Map<string, KubeObject>();
    this.#objects.set(name, known);
    return known;
  }
}
