import type { KubeObject } from "../../api/object.ts";
import type { Clock } from "../../util/clock.ts";
import { deepFreeze } from "../../util/freeze.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { apiVersionOf } from "../kinds/registry.ts";
import type { Store } from "../store/store.ts";
import { failure, notFound } from "./failures.ts";
import { type ListRequest, listPage, type Page } from "./list.ts";
import type { Key } from "./request.ts";
import { assertReached, parseRevision } from "./revisions.ts";
import { Selection } from "./selectors/selection.ts";
import { beginning, defaultBacklog, Watch, type WatchRequest, type WatchSource } from "./watch.ts";
import { keyOf } from "./writer.ts";

/** What a kind shows instead of what is stored: leases of healthy kubelets are computed when read. (05:CP-L10) */
export type Overlay = (stored: KubeObject) => KubeObject;
/** What there is now of a kind that is nowhere stored. */
export type Reads = (namespace: string | undefined) => readonly KubeObject[];

export interface ReaderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly maxBacklog?: number | undefined;
  /** The version of a kind that is in the store. */
  readonly storedKind: (kind: ServedKind) => ServedKind;
}

/** Everything that looks at objects, in the version it was asked for. */
export class Reader {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #maxBacklog: number;
  readonly #storedKind: ReaderOptions["storedKind"];
  readonly #overlays = new Map<string, Overlay>();
  readonly #reads = new Map<string, Reads>();
  readonly #versions = new Map<string, WeakMap<KubeObject, KubeObject>>();
  readonly #watches = new Map<string, Set<Watch>>();

  constructor({ store, clock, storedKind, maxBacklog = defaultBacklog }: ReaderOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#maxBacklog = maxBacklog;
    this.#storedKind = storedKind;
  }

  setOverlay({ storage }: ServedKind, overlay: Overlay): void {
    this.#overlays.set(storage, overlay);
  }

  setReads({ storage }: ServedKind, reads: Reads): void {
    this.#reads.set(storage, reads);
  }

  /** As it is stored; 404 where it is not. */
  find(kind: ServedKind, key: Key): KubeObject {
    this.#assertReadable(kind, key.name);
    const found = isVirtual(kind)
      ? this.#reads
          .get(kind.storage)?.(key.namespace)
          .find(({ metadata }) => metadata.name === key.name)
      : this.#store.collection(kind.storage).get(keyOf(kind, key));
    if (found === undefined) throw notFound(kind, key.name);
    return found;
  }

  /** As clients see it. */
  show(kind: ServedKind, stored: KubeObject): KubeObject {
    const overlay = this.#overlays.get(kind.storage);
    return this.inVersion(kind, overlay === undefined ? stored : overlay(stored));
  }

  /** In the words of one version; made once for each object. */
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

  list(kind: ServedKind, request: ListRequest): Page {
    this.#assertReadable(kind, "");
    if (isVirtual(kind)) {
      const selection = new Selection(kind, request);
      const all = this.#reads.get(kind.storage)?.(selection.namespace) ?? [];
      const items = all.filter((object) => selection.matches(object));
      return { items, resourceVersion: String(this.#store.revision) };
    }
    const collection = this.#store.collection(kind.storage);
    const page = listPage({ kind, collection, revision: this.#store.revision }, request);
    const isShownAsStored = kind.conversion === undefined && !this.#overlays.has(kind.storage);
    return isShownAsStored ? page : { ...page, items: page.items.map((object) => this.show(kind, object)) };
  }

  watch(kind: ServedKind, request: WatchRequest): Watch {
    this.#assertReadable(kind, "");
    const asked = parseRevision(request.resourceVersion);
    assertReached(asked, this.#store.revision);
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
    const watch = new Watch(source, beginning(source, asked, request)).begin(request);
    this.#remember(kind.storage, watch);
    return watch;
  }

  closeWatches(storage: string): void {
    for (const watch of this.#watches.get(storage) ?? []) watch.close();
    this.#watches.delete(storage);
  }

  #remember(storage: string, watch: Watch): void {
    const watches = this.#watches.get(storage) ?? new Set();
    this.#watches.set(storage, watches);
    for (const one of watches) if (one.isOver) watches.delete(one);
    watches.add(watch);
  }

  /** The oldest kinds can be written and not read: their objects live on under a new name. (01 §7.1) */
  #assertReadable(kind: ServedKind, name: string): void {
    if (kind.conversion === undefined || kind.conversion.fromStored !== undefined) return;
    const now = this.#storedKind(kind);
    const what = `${kind.plural}.${kind.group}${name === "" ? "" : ` "${name}"`}`;
    const message = `${what} not found: ${kind.kind} is kept as ${now.kind}; ask for ${now.plural}.${now.group}`;
    throw failure("not-found", message, { name, group: kind.group, kind: kind.plural });
  }
}

function isVirtual({ group }: ServedKind): boolean {
  return group === "metrics.k8s.io";
}
