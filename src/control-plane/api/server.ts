import { Admission } from "../../api/admission.ts";
import type { ConversionOptions } from "../../api/conversion/conversion.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import type { Patch } from "../../kube/client.ts";
import type { Clock } from "../../util/clock.ts";
import type { Random } from "../../util/random.ts";
import { BuiltInFields } from "../kinds/built-in-fields.ts";
import { builtInKinds } from "../kinds/built-in-kinds.ts";
import { apiVersionOfKind, KindRegistry } from "../kinds/kind-registry.ts";
import type { ObjectDraft } from "../kinds/object-draft.ts";
import type { AdmissionContext, ServedKind, Verb } from "../kinds/served-kind.ts";
import type { Journal, JournalEntry } from "../store/journal.ts";
import { ObjectBytesCache } from "../store/object-bytes-cache.ts";
import { ObjectStore } from "../store/object-store.ts";
import { apiError, methodNotSupported } from "./api-errors.ts";
import { bootstrapObjects, podsByNode } from "./bootstrap.ts";
import { CustomResources } from "./custom-resources.ts";
import { deleteObject } from "./delete-object.ts";
import type { ListPage, ListRequest } from "./list-page.ts";
import { type ComputedObjects, ObjectReader, type ReadTransform } from "./object-reader.ts";
import { assertNameMatches, ObjectWriter, type ServerContext, storageKey, type WriteResult } from "./object-writer.ts";
import { applyPatch, patchObject } from "./patch-object.ts";
import type {
  ApiResponse,
  DeleteRequest,
  DeleteResponse,
  NamespacedName,
  WriteRequest,
  WriteResponse,
} from "./request.ts";
import { assertRevisionReached, parseRevision } from "./revisions.ts";
import type { ServerWatch, WatchRequest } from "./server-watch.ts";
import { bindPod } from "./subresources/binding.ts";
import { evictPod } from "./subresources/eviction.ts";
import { type LogRequest, type LogSource, noLogs } from "./subresources/log.ts";
import { scaleOf, withScale } from "./subresources/scale.ts";
import { issueToken } from "./subresources/token.ts";

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How older versions of our kinds become v1. Lenient unless given. */
  readonly conversion?: ConversionOptions | undefined;
  readonly journal?: Journal | undefined;
  /** Entries of a journal to restore. */
  readonly restore?: Iterable<JournalEntry> | undefined;
  /** How many changes of a kind a watch can at least go back. */
  readonly watchWindow?: number | undefined;
  /** How many events may wait for a watcher before it is cut off. */
  readonly watchBacklog?: number | undefined;
  readonly logs?: LogSource | undefined;
}

export interface ListResponse extends ListPage {
  readonly warnings: readonly string[];
}

interface WriteOutcome {
  readonly written: WriteResult;
  readonly warnings: readonly string[];
  readonly body: unknown;
  readonly isDryRun: boolean;
}

/** A Kubernetes API server without its HTTP: requests in, objects and warnings out, refusals as `KubeError`s. (05) */
export class ApiServer {
  readonly clock: Clock;
  readonly kinds: KindRegistry;
  readonly objectBytes = new ObjectBytesCache();
  readonly #store: ObjectStore;
  readonly #context: ServerContext;
  readonly #writer: ObjectWriter;
  readonly #customResources: CustomResources;
  readonly #reader: ObjectReader;
  readonly #logs: LogSource;

  constructor(options: ApiServerOptions) {
    const { clock, random, conversion = { mode: "lenient" } } = options;
    this.clock = clock;
    this.kinds = new KindRegistry(builtInKinds());
    this.#store = new ObjectStore({
      journal: options.journal,
      windowSize: options.watchWindow,
      indexes: { pods: podsByNode },
    });
    const names = random.fork("api-server");
    this.#context = {
      store: this.#store,
      kinds: this.kinds,
      clock,
      random: names,
      admissionContext: () => this.#admissionContext(names),
    };
    this.#writer = new ObjectWriter(this.#context);
    const storedKind = (kind: ServedKind) => this.#writer.storedKind(kind);
    this.#reader = new ObjectReader({ store: this.#store, clock, storedKind, maxBacklog: options.watchBacklog });
    this.#customResources = new CustomResources({
      server: this.#context,
      conversion,
      admission: new Admission("all"),
      metadata: new BuiltInFields().definition("meta.v1.ObjectMeta"),
      closeWatches: (storage) => this.#reader.closeWatches(storage),
    });
    this.#logs = options.logs ?? noLogs;
    if (options.restore !== undefined) this.#store.restore(options.restore);
    this.#customResources.registerAll();
    this.#bootstrap();
  }

  /** The resourceVersion of the last write. */
  get revision(): number {
    return this.#store.revision;
  }

  async get(
    kind: ServedKind,
    key: NamespacedName,
    request: { subresource?: string | undefined; resourceVersion?: string | undefined } = {},
  ): Promise<ApiResponse> {
    this.#assertVerb(kind, "get");
    assertRevisionReached(parseRevision(request.resourceVersion), this.#store.revision);
    const stored = this.#reader.find(kind, key);
    if (request.subresource === "scale") return { object: scaleOf(kind, stored), warnings: [] };
    return { object: this.#reader.show(kind, stored), warnings: warningsOf(kind) };
  }

  async list(kind: ServedKind, request: ListRequest = {}): Promise<ListResponse> {
    this.#assertVerb(kind, "list");
    return { ...this.#reader.list(kind, request), warnings: warningsOf(kind) };
  }

  /** The stream has begun when this returns: nothing written after it is missed. Throws 410 where history is gone. */
  watch(kind: ServedKind, request: WatchRequest = {}): ServerWatch {
    this.#assertVerb(kind, "watch");
    return this.#reader.watch(kind, request);
  }

  async create(
    kind: ServedKind,
    body: unknown,
    request: WriteRequest & { readonly namespace?: string | undefined; readonly name?: string | undefined } = {},
  ): Promise<WriteResponse> {
    if (request.subresource !== undefined) return this.#createSubresource(kind, body, request);
    this.#assertVerb(kind, "create");
    this.#customResources.assertNotTerminating(kind);
    const { draft, warnings, additionalObjects } = this.#writer.decode(kind, body, request);
    const stored = this.#writer.storedKind(kind);
    if (kind.behaviour.answer !== undefined) {
      kind.behaviour.answer(draft);
      draft.apiVersion = apiVersionOfKind(kind);
      draft.kind = kind.kind;
      return { object: draft as unknown as KubeObject, isNew: true, warnings };
    }
    for (const object of additionalObjects) this.#writeAdditional(object, request);
    const isWriteThrough = kind.conversion !== undefined && kind.conversion.fromStored === undefined;
    const written = isWriteThrough ? this.#upsert(stored, draft, request) : this.#writer.create(stored, draft, request);
    const extra = stored.behaviour.warnings?.(draft) ?? [];
    return this.#respond(kind, stored, {
      written,
      warnings: [...warnings, ...extra],
      body,
      isDryRun: request.dryRun === true,
    });
  }

  async update(
    kind: ServedKind,
    key: NamespacedName,
    body: unknown,
    request: WriteRequest = {},
  ): Promise<WriteResponse> {
    this.#assertVerb(kind, "update");
    this.#assertSubresource(kind, request.subresource);
    const stored = this.#writer.storedKind(kind);
    if (request.subresource === "scale") {
      const old = this.#writer.existing(stored, key);
      return this.#writeScale(stored, { old, draft: withScale(stored, old, body), request });
    }
    const { draft, warnings } = this.#writer.decode(kind, body, request);
    assertNameMatches(key, draft);
    const old = this.#writer.existing(stored, key);
    const written = this.#writer.replace(stored, old, draft, request);
    const extra = stored.behaviour.warnings?.(draft) ?? [];
    return this.#respond(kind, stored, {
      written,
      warnings: [...warnings, ...extra],
      body,
      isDryRun: request.dryRun === true,
    });
  }

  async patch(kind: ServedKind, key: NamespacedName, patch: Patch, request: WriteRequest = {}): Promise<WriteResponse> {
    this.#assertVerb(kind, "patch");
    this.#assertSubresource(kind, request.subresource);
    const stored = this.#writer.storedKind(kind);
    if (patch.kind === "apply") return this.#apply(kind, { key, patch, request });
    const old = this.#reader.find(kind, key);
    if (request.subresource === "scale") {
      const scale = patchObject(scaleOf(stored, old), patch, { kind: stored, isScale: true });
      return this.#writeScale(stored, { old, draft: withScale(stored, old, scale), request });
    }
    const whole = patchObject(this.#reader.inVersion(kind, old), patch, { kind, isScale: false });
    const body = request.subresource === "status" ? statusPart(kind, whole) : whole;
    const { draft, warnings } = this.#writer.decode(kind, body, request);
    assertNameMatches(key, draft);
    const written = this.#writer.replace(stored, old, draft, request);
    return this.#respond(kind, stored, { written, warnings, body, isDryRun: request.dryRun === true });
  }

  async delete(kind: ServedKind, key: NamespacedName, request: DeleteRequest = {}): Promise<DeleteResponse> {
    this.#assertVerb(kind, "delete");
    const stored = this.#writer.storedKind(kind);
    const old = this.#writer.existing(stored, key);
    const { object, isGone } = this.#delete(stored, old, request);
    await this.#waitUntilDurable();
    return { object: this.#reader.show(kind, object), isGone, warnings: warningsOf(kind) };
  }

  /** Returns the deleted objects as they were. */
  async deleteCollection(kind: ServedKind, selection: ListRequest, request: DeleteRequest = {}): Promise<ListResponse> {
    this.#assertVerb(kind, "deletecollection");
    const page = await this.list(kind, selection);
    const stored = this.#writer.storedKind(kind);
    for (const { metadata } of page.items) {
      const key = storageKey(stored, { name: metadata.name ?? "", namespace: metadata.namespace });
      const old = this.#store.collection(stored.storage).get(key);
      if (old !== undefined) this.#delete(stored, old, request);
    }
    await this.#waitUntilDurable();
    return page;
  }

  log(key: NamespacedName, request: LogRequest = {}): AsyncIterable<string> {
    const pods = this.kinds.get({ group: "", version: "v1", plural: "pods" });
    return this.#logs(this.#reader.find(pods, key), request);
  }

  /** How many watch objects of this kind now. */
  watcherCount(kind: ServedKind): number {
    return this.#store.listenerCount(kind.storage);
  }

  /** Replaces objects of a kind on read, in watches as well. */
  setReadTransform(kind: ServedKind, readTransform: ReadTransform): void {
    this.#reader.setReadTransform(kind, readTransform);
  }

  /** Answers for a kind that is nowhere stored, like metrics. */
  setComputedObjects(kind: ServedKind, computedObjects: ComputedObjects): void {
    this.#reader.setComputedObjects(kind, computedObjects);
  }

  /** All there is, for compacting a journal. */
  snapshot(): Iterable<JournalEntry> {
    return this.#store.snapshot();
  }

  async #createSubresource(
    kind: ServedKind,
    body: unknown,
    request: WriteRequest & { readonly namespace?: string | undefined; readonly name?: string | undefined },
  ): Promise<WriteResponse> {
    this.#assertSubresource(kind, request.subresource);
    const key = { name: request.name ?? "", namespace: request.namespace };
    const owner = this.#reader.find(kind, key);
    const context = { server: this.#context, kind, pod: owner, request };
    switch (request.subresource) {
      case "eviction": {
        const object = evictPod(body, { ...context, remove: (old, options) => this.#delete(kind, old, options) });
        await this.#waitUntilDurable();
        return { object, isNew: true, warnings: [] };
      }
      case "binding": {
        const object = bindPod(body, context);
        await this.#waitUntilDurable();
        return { object, isNew: true, warnings: [] };
      }
      case "token":
        return { object: issueToken(owner, body, this.#context), isNew: true, warnings: [] };
      default:
        throw methodNotSupported(kind, "create");
    }
  }

  async #apply(
    kind: ServedKind,
    { key, patch, request }: { key: NamespacedName; patch: Patch & { kind: "apply" }; request: WriteRequest },
  ): Promise<WriteResponse> {
    const stored = this.#writer.storedKind(kind);
    const old = this.#store.collection(stored.storage).get(storageKey(stored, key));
    const outcome = applyPatch({ server: this.#context, writer: this.#writer, kind, stored, key, old }, patch, request);
    return this.#respond(kind, stored, {
      written: outcome.written,
      warnings: outcome.warnings,
      body: patch.body,
      isDryRun: request.dryRun === true,
    });
  }

  async #writeScale(
    kind: ServedKind,
    { old, draft, request }: { old: KubeObject; draft: ObjectDraft; request: WriteRequest },
  ): Promise<WriteResponse> {
    const written = this.#writer.replace(kind, old, draft, { ...request, subresource: undefined });
    if (request.dryRun !== true) await this.#afterWrite(kind, written);
    return { object: scaleOf(kind, written.object), isNew: false, warnings: [] };
  }

  #delete(
    kind: ServedKind,
    old: KubeObject,
    request: DeleteRequest,
  ): { readonly object: KubeObject; readonly isGone: boolean } {
    const deleted =
      this.#customResources.deleteDefinition(kind, old, request) ?? deleteObject(this.#context, kind, old, request);
    if (deleted.isGone && request.dryRun !== true) this.#customResources.onInstanceDeleted(kind);
    return deleted;
  }

  /** Alpha kinds cannot be read back, so applying one again updates the stored object. */
  #upsert(kind: ServedKind, draft: ObjectDraft, request: WriteRequest): WriteResult {
    const old = this.#store.collection(kind.storage).get(storageKey(kind, { name: draft.metadata.name ?? "" }));
    if (old === undefined) return this.#writer.create(kind, draft, request);
    draft.metadata.resourceVersion = old.metadata.resourceVersion ?? "";
    draft.metadata.labels = { ...old.metadata.labels, ...draft.metadata.labels };
    draft.metadata.annotations = { ...old.metadata.annotations, ...draft.metadata.annotations };
    return this.#writer.replace(kind, old, draft, request);
  }

  #writeAdditional(object: unknown, request: WriteRequest): void {
    const { apiVersion, kind: name } = object as KubeObject;
    const kind = this.kinds.findByApiVersion({ apiVersion, kind: name });
    if (kind === undefined) return;
    const { draft } = this.#writer.decode(kind, object, request);
    this.#upsert(kind, draft, request);
  }

  async #respond(
    kind: ServedKind,
    stored: ServedKind,
    { written, warnings, body, isDryRun }: WriteOutcome,
  ): Promise<WriteResponse> {
    if (!isDryRun) await this.#afterWrite(stored, written);
    const { object, isNew } = written;
    const isReadable = kind.conversion === undefined || kind.conversion.fromStored !== undefined;
    const shown = isReadable ? this.#reader.show(kind, object) : { ...(body as KubeObject), metadata: object.metadata };
    return { object: shown, isNew, warnings };
  }

  async #afterWrite(kind: ServedKind, written: WriteResult): Promise<void> {
    this.#customResources.onDefinitionWritten(kind, written.object);
    if (written.isNew && kind.storage === "namespaces") this.#createDefaultServiceAccount(written.object);
    if (written.isGone) this.#customResources.onInstanceDeleted(kind);
    await this.#waitUntilDurable();
  }

  /** Every namespace has the ServiceAccount "default". */
  #createDefaultServiceAccount({ metadata }: KubeObject): void {
    const namespace = metadata.name ?? "";
    const kind = this.kinds.get({ group: "", version: "v1", plural: "serviceaccounts" });
    if (this.#store.collection(kind.storage).get(`${namespace}/default`) !== undefined) return;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
    this.#writer.create(kind, account, { namespace });
  }

  async #waitUntilDurable(): Promise<void> {
    const waiting = this.#store.durable();
    if (waiting === undefined) return;
    try {
      await waiting;
    } catch (error) {
      throw apiError("server-error", `the write could not be kept: ${String(error)}`);
    }
  }

  #assertVerb(kind: ServedKind, verb: Verb): void {
    if (!kind.verbs.includes(verb)) throw methodNotSupported(kind, verb);
  }

  #assertSubresource(kind: ServedKind, subresource: string | undefined): void {
    if (subresource === undefined) return;
    if (!(kind.subresources as readonly string[]).includes(subresource)) {
      throw apiError("not-found", "the server could not find the requested resource", {});
    }
  }

  #admissionContext(random: Random): AdmissionContext {
    return {
      now: this.clock.now(),
      random,
      get: (storage, name, namespace) =>
        this.#store.collection(storage).get(namespace === undefined ? name : `${namespace}/${name}`),
      list: (storage, namespace) => {
        const prefix = namespace === undefined ? "" : `${namespace}/`;
        return [...this.#store.collection(storage).range({ prefix })].map(([, object]) => object);
      },
    };
  }

  #bootstrap(): void {
    for (const object of bootstrapObjects()) {
      const kind = this.kinds.findByApiVersion(object);
      if (kind === undefined) throw new Error(`no kind ${object.kind}`);
      const { name = "", namespace } = object.metadata;
      if (this.#store.collection(kind.storage).get(storageKey(kind, { name, namespace })) !== undefined) continue;
      const { draft } = this.#writer.decode(kind, object, {});
      const { object: made } = this.#writer.create(kind, draft, { namespace });
      if (kind.storage === "namespaces") this.#createDefaultServiceAccount(made);
    }
  }
}

/** The status endpoint reads these fields only; other versions have to be converted whole. */
function statusPart(kind: ServedKind, body: unknown): unknown {
  if (kind.conversion !== undefined || !isRecord(body)) return body;
  const { apiVersion, kind: name, metadata, status } = body;
  return { apiVersion, kind: name, metadata, ...(status === undefined ? {} : { status }) };
}

function warningsOf({ deprecation }: ServedKind): readonly string[] {
  return deprecation === undefined ? [] : [deprecation];
}
