import type { KubeObject } from "../../api/object.ts";
import type { ObjectKey } from "../../kube/client.ts";
import { apiVersionOf } from "../../kube/resources.ts";
import type { Clock } from "../../util/clock.ts";
import { deepFreeze } from "../../util/freeze.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import type { ObjectStore } from "../store/object-store.ts";
import { apiError, notFound } from "./api-errors.ts";
import { type ListPage, type ListRequest, listPage } from "./list-page.ts";
import { assertRevisionReached, parseRevision } from "./revisions.ts";
import { Selection } from "./selectors/selection.ts";
import { storageKey } from "./server-context.ts";
import { defaultWatchBacklog, ServerWatch, type WatchRequest, type WatchSource, watchStart } from "./server-watch.ts";

/** Replaces stored objects on read: leases of healthy kubelets are computed. (05:CP-L10) */
export type ReadTransform = (stored: KubeObject) => KubeObject;
/** The objects of a kind that is computed and not stored (metrics.k8s.io). */
export type ComputedObjects = (namespace: string | undefined) => readonly KubeObject[];

export interface ObjectReaderOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly maxBacklog?: number | undefined;
  /** The kind in the version that is stored. */
  readonly storedKind: (kind: ServedKind) => ServedKind;
}

/** get, list and watch, in the requested version. */
export class ObjectReader {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #maxBacklog: number;
  readonly #storedKind: ObjectReaderOptions["storedKind"];
  readonly #readTransforms = new Map<string, ReadTransform>();
  readonly #computedObjects = new Map<string, ComputedObjects>();
  readonly #versions = new Map<string, WeakMap<KubeObject, KubeObject>>();
  readonly #watches = new Map<string, Set<ServerWatch>>();

  constructor({ store, clock, storedKind, maxBacklog = defaultWatchBacklog }: ObjectReaderOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#maxBacklog = maxBacklog;
    this.#storedKind = storedKind;
  }

  setReadTransform({ storage }: ServedKind, readTransform: ReadTransform): void {
    this.#readTransforms.set(storage, readTransform);
  }

  setComputedObjects({ storage }: ServedKind, computedObjects: ComputedObjects): void {
    this.#computedObjects.set(storage, computedObjects);
  }

  /** The stored object; throws 404 where there is none. */
  find(kind: ServedKind, key: ObjectKey): KubeObject {
    this.#assertReadable(kind, key.name);
    const found = isComputed(kind)
      ? this.#computedObjects
          .get(kind.storage)?.(key.namespace)
          .find(({ metadata }) => metadata.name === key.name)
      : this.#store.collection(kind.storage).get(storageKey(kind, key));
    if (found === undefined) throw notFound(kind, key.name);
    return found;
  }

  /** The object as clients see it. */
  show(kind: ServedKind, stored: KubeObject): KubeObject {
    const readTransform = this.#readTransforms.get(kind.storage);
    return this.inVersion(kind, readTransform === undefined ? stored : readTransform(stored));
  }

  /** Converted to the kind's version; cached per object. */
  inVersion(kind: ServedKind, object: KubeObject): KubeObject {
    const convert = kind.conversion?.fromStored;
    if (convert === undefined) return object;
    const address = `${kind.version}/${kind.group}/${kind.plural}`;
    const known = this.#versions.get(address) ?? new WeakMap<KubeObject, KubeObject>();
    this.#versions.set(address, known);
    const before = known.get(object);
    if (before !== undefined) return before;
    const made = deepFreeze(convert(object).object as KubeObject);
    known.set(object, made);
    return made;
  }

  list(kind: ServedKind, request: ListRequest): ListPage {
    this.#assertReadable(kind, "");
    if (isComputed(kind)) {
      const selection = new Selection(kind, request);
      const all = this.#computedObjects.get(kind.storage)?.(selection.namespace) ?? [];
      const items = all.filter((object) => selection.matches(object));
      return { items, resourceVersion: String(this.#store.revision) };
    }
    const collection = this.#store.collection(kind.storage);
    const page = listPage({ kind, collection, revision: this.#store.revision }, request);
    const isShownAsStored = kind.conversion === undefined && !this.#readTransforms.has(kind.storage);
    return isShownAsStored ? page : { ...page, items: page.items.map((object) => this.show(kind, object)) };
  }

  watch(kind: ServedKind, request: WatchRequest): ServerWatch {
    this.#assertReadable(kind, "");
    const requestedRevision = parseRevision(request.resourceVersion);
    assertRevisionReached(requestedRevision, this.#store.revision);
    const source: WatchSource = {
      store: this.#store,
      storage: kind.storage,
      clock: this.#clock,
      selection: new Selection(kind, request),
      maxBacklog: this.#maxBacklog,
      show: (object) => this.show(kind, object),
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
    };
    const watch = new ServerWatch(source, watchStart(source, requestedRevision, request)).start(request);
    this.#remember(kind.storage, watch);
    return watch;
  }

  closeWatches(storage: string): void {
    for (const watch of this.#watches.get(storage) ?? []) watch.close();
    this.#watches.delete(storage);
  }

  #remember(storage: string, watch: ServerWatch): void {
    const watches = this.#watches.get(storage) ?? new Set();
    this.#watches.set(storage, watches);
    for (const one of watches) if (one.isClosed) watches.delete(one);
    watches.add(watch);
  }

  /** Alpha kinds can be written but not read: they are stored as their v1 kind. (01 §7.1) */
  #assertReadable(kind: ServedKind, name: string): void {
    if (kind.conversion === undefined || kind.conversion.fromStored !== undefined) return;
    const now = this.#storedKind(kind);
    const what = `${kind.plural}.${kind.group}${name === "" ? "" : ` "${name}"`}`;
    const message = `${what} not found: ${kind.kind} is stored as ${now.kind}; request ${now.plural}.${now.group} instead`;
    throw apiError("not-found", message, { name, group: kind.group, kind: kind.plural });
  }
}

function isComputed({ group }: ServedKind): boolean {
  return group === "metrics.k8s.io";
}
