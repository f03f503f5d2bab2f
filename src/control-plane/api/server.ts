import type { ConversionOptions } from "../../api/conversion/conversion.ts";
import type { ObjectKey, Patch } from "../../kube/client.ts";
import type { Clock } from "../../util/clock.ts";
import type { Random } from "../../util/random.ts";
import { KindRegistry } from "../kinds/kind-registry.ts";
import type { ServedKind, Subresource, Verb } from "../kinds/served-kind.ts";
import { ServerSchemas } from "../kinds/server-schemas.ts";
import type { Journal, JournalEntry } from "../store/journal.ts";
import { ObjectBytesCache } from "../store/object-bytes-cache.ts";
import { ObjectStore } from "../store/object-store.ts";
import { methodNotSupported, noSuchResource } from "./api-errors.ts";
import { bootstrapObjects, podsByNode } from "./bootstrap.ts";
import { CustomResources } from "./custom-resources.ts";
import type { ListPage, ListRequest } from "./list-page.ts";
import { type ComputedObjects, ObjectReader, type ReadTransform } from "./object-reader.ts";
import { ObjectWriter } from "./object-writer.ts";
import type {
  ApiResponse,
  CreateRequest,
  DeleteRequest,
  DeleteResponse,
  WriteRequest,
  WriteResponse,
} from "./request.ts";
import { assertRevisionReached, parseRevision } from "./revisions.ts";
import { type ServerContext, storageKey, waitUntilDurable } from "./server-context.ts";
import type { ServerWatch, WatchRequest } from "./server-watch.ts";
import type { LogRequest, LogSource } from "./subresources/log.ts";
import { scaleOf } from "./subresources/scale.ts";
import { simulatedLog } from "./subresources/simulated-log.ts";
import { TokenRegistry } from "./token-registry.ts";
import { WriteEndpoints } from "./write-endpoints.ts";

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How older versions of our kinds are converted to v1; lenient, unless given. */
  readonly conversion?: ConversionOptions | undefined;
  readonly journal?: Journal | undefined;
  /** Entries of a journal to restore. */
  readonly restore?: Iterable<JournalEntry> | undefined;
  /** How many changes of a kind are kept for watches to resume. */
  readonly watchWindow?: number | undefined;
  /** About how many bytes of memory the changes of all kinds may take. */
  readonly historyMemory?: number | undefined;
  /** About how many bytes of memory all objects may take. */
  readonly maxMemory?: number | undefined;
  /** How many events may be queued for a watcher before its watch is closed. */
  readonly watchBacklog?: number | undefined;
  readonly logs?: LogSource | undefined;
  /** Its own, unless given. */
  readonly schemas?: ServerSchemas | undefined;
}

export interface DeleteCollectionRequest extends DeleteRequest {
  /** Called now and then while many objects are deleted, so that other requests have their turn. */
  readonly betweenBatches?: (() => Promise<void>) | undefined;
}

export interface ListResponse extends ListPage {
  readonly warnings: readonly string[];
}

/** How many objects are deleted before other requests have a turn. */
const deletedAtOnce = 100;

/** A Kubernetes API server without HTTP: requests in, objects and warnings out, refusals as `KubeError`s. (05) */
export class ApiServer {
  readonly clock: Clock;
  readonly kinds: KindRegistry;
  readonly tokens: TokenRegistry;
  readonly objectBytes = new ObjectBytesCache();
  readonly #store: ObjectStore;
  readonly #context: ServerContext;
  readonly #writer: ObjectWriter;
  readonly #customResources: CustomResources;
  readonly #reader: ObjectReader;
  readonly #writes: WriteEndpoints;
  readonly #logs: LogSource;

  constructor(options: ApiServerOptions) {
    const { clock, random, conversion = { mode: "lenient" }, schemas = new ServerSchemas() } = options;
    this.clock = clock;
    this.tokens = new TokenRegistry(clock);
    this.kinds = new KindRegistry(schemas.builtInKinds);
    this.#store = new ObjectStore({
      journal: options.journal,
      windowSize: options.watchWindow,
      clock,
      historyMemory: options.historyMemory,
      maxMemory: options.maxMemory,
      indexes: { pods: podsByNode },
      onRolledBack: (storage, change) => this.#customResources.onRolledBack(storage, change),
    });
    this.#context = {
      store: this.#store,
      kinds: this.kinds,
      clock,
      random: random.fork("api-server"),
      tokens: this.tokens,
    };
    this.#writer = new ObjectWriter(this.#context);
    const storedKind = (kind: ServedKind) => this.#writer.storedKind(kind);
    this.#reader = new ObjectReader({ store: this.#store, clock, storedKind, maxBacklog: options.watchBacklog });
    this.#customResources = new CustomResources({
      server: this.#context,
      conversion,
      admission: schemas.admission,
      metadata: schemas.fields.definition("meta.v1.ObjectMeta"),
      closeWatches: (storage) => this.#reader.closeWatches(storage),
    });
    const [server, writer, reader] = [this.#context, this.#writer, this.#reader];
    this.#writes = new WriteEndpoints({ server, writer, reader, customResources: this.#customResources });
    this.#logs = options.logs ?? (() => undefined);
    if (options.restore !== undefined) this.#store.restore(options.restore);
    this.#customResources.registerAll();
    this.#bootstrap();
  }

  /** The resourceVersion of the last write. */
  get revision(): number {
    return this.#store.revision;
  }

  /** Resolves when every write so far is durable or was undone, so that reads show only what stays. (05:CP-T5) */
  settled(): Promise<void> | undefined {
    return this.#store.durable()?.catch(() => {});
  }

  async get(
    kind: ServedKind,
    key: ObjectKey,
    request: { subresource?: string | undefined; resourceVersion?: string | undefined } = {},
  ): Promise<ApiResponse> {
    assertVerb(kind, "get");
    await this.settled();
    assertRevisionReached(parseRevision(request.resourceVersion), this.#store.revision);
    const stored = this.#reader.find(kind, key);
    if (request.subresource === "scale") return { object: scaleOf(kind, stored), warnings: [] };
    return { object: this.#reader.show(kind, stored), warnings: deprecationWarnings(kind) };
  }

  async list(kind: ServedKind, request: ListRequest = {}): Promise<ListResponse> {
    assertVerb(kind, "list");
    await this.settled();
    return { ...this.#reader.list(kind, request), warnings: deprecationWarnings(kind) };
  }

  /**
   * The watch has started when this returns, so that no later write is missed. Throws 410 for a version that is too
   * old.
   */
  watch(kind: ServedKind, request: WatchRequest = {}): ServerWatch {
    assertVerb(kind, "watch");
    return this.#reader.watch(kind, request);
  }

  async create(kind: ServedKind, body: unknown, request: CreateRequest = {}): Promise<WriteResponse> {
    if (request.subresource !== undefined) {
      assertSubresource(kind, request.subresource);
      return this.#writes.createSubresource(kind, body, request);
    }
    assertVerb(kind, "create");
    return this.#writes.create(kind, body, request);
  }

  async update(kind: ServedKind, key: ObjectKey, body: unknown, request: WriteRequest = {}): Promise<WriteResponse> {
    assertVerb(kind, "update");
    assertSubresource(kind, request.subresource);
    return this.#writes.update(kind, key, body, request);
  }

  async patch(kind: ServedKind, key: ObjectKey, patch: Patch, request: WriteRequest = {}): Promise<WriteResponse> {
    assertVerb(kind, "patch");
    assertSubresource(kind, request.subresource);
    return this.#writes.patch(kind, key, patch, request);
  }

  async delete(kind: ServedKind, key: ObjectKey, request: DeleteRequest = {}): Promise<DeleteResponse> {
    assertVerb(kind, "delete");
    const stored = this.#writer.storedKind(kind);
    const old = this.#writer.existing(stored, key);
    const { object, isGone } = this.#customResources.delete(stored, old, request);
    await waitUntilDurable(this.#context);
    return { object: this.#reader.show(kind, object), isGone, warnings: deprecationWarnings(kind) };
  }

  /** Returns the deleted objects as they were. */
  async deleteCollection(
    kind: ServedKind,
    selection: ListRequest,
    { betweenBatches, ...request }: DeleteCollectionRequest = {},
  ): Promise<ListResponse> {
    assertVerb(kind, "deletecollection");
    const page = await this.list(kind, selection);
    const stored = this.#writer.storedKind(kind);
    for (const [index, { metadata }] of page.items.entries()) {
      if (index > 0 && index % deletedAtOnce === 0) await betweenBatches?.();
      const key = storageKey(stored, { name: metadata.name ?? "", namespace: metadata.namespace });
      const old = this.#store.collection(stored.storage).get(key);
      if (old !== undefined) this.#customResources.delete(stored, old, request);
    }
    await waitUntilDurable(this.#context);
    return page;
  }

  log(key: ObjectKey, request: LogRequest = {}): AsyncIterable<string> {
    const pods = this.kinds.get({ group: "", version: "v1", plural: "pods" });
    const pod = this.#reader.find(pods, key);
    const current = () => this.#store.collection(pods.storage).get(storageKey(pods, key));
    return this.#logs(pod, request) ?? simulatedLog(pod, request, { clock: this.clock, current });
  }

  /** How many watches of the kind are open. */
  watcherCount(kind: ServedKind): number {
    return this.#store.listenerCount(kind.storage);
  }

  /** Replaces objects of a kind on read, in watches as well. */
  setReadTransform(kind: ServedKind, readTransform: ReadTransform): void {
    this.#reader.setReadTransform(kind, readTransform);
  }

  /** Serves a kind that is computed and not stored, like metrics. */
  setComputedObjects(kind: ServedKind, computedObjects: ComputedObjects): void {
    this.#reader.setComputedObjects(kind, computedObjects);
  }

  /** All objects, for compacting the journal. */
  snapshot(): Iterable<JournalEntry> {
    return this.#store.snapshot();
  }

  #bootstrap(): void {
    for (const object of bootstrapObjects()) {
      const kind = this.kinds.findByApiVersion(object);
      if (kind === undefined) throw new Error(`no kind ${object.kind}`);
      const { name = "", namespace } = object.metadata;
      if (this.#store.collection(kind.storage).get(storageKey(kind, { name, namespace })) !== undefined) continue;
      const { draft } = this.#writer.decode(kind, object, {});
      const { object: made } = this.#writer.create(kind, draft, { namespace });
      if (kind.storage === "namespaces") this.#writer.createDefaultServiceAccount(made);
    }
  }
}

function assertVerb(kind: ServedKind, verb: Verb): void {
  if (!kind.verbs.includes(verb)) throw methodNotSupported(kind, verb);
}

function assertSubresource(kind: ServedKind, subresource: Subresource | undefined): void {
  if (subresource !== undefined && !kind.subresources.includes(subresource)) throw noSuchResource();
}

function deprecationWarnings({ deprecation }: ServedKind): readonly string[] {
  return deprecation === undefined ? [] : [deprecation];
}
