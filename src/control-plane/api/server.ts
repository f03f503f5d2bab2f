import { Admission } from "../../api/admission.ts";
import type { ConversionOptions } from "../../api/conversion/outcome.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import type { Patch } from "../../kube/client.ts";
import type { Clock } from "../../util/clock.ts";
import type { Random } from "../../util/random.ts";
import { builtInKinds } from "../kinds/built-in-kinds.ts";
import type { Draft } from "../kinds/draft.ts";
import { BuiltInFields } from "../kinds/fields.ts";
import type { ServedKind, Verb, World } from "../kinds/kind.ts";
import { apiVersionOf, Kinds } from "../kinds/registry.ts";
import type { Journal, JournalEntry } from "../store/journal.ts";
import { Serialised } from "../store/serialised.ts";
import { Store } from "../store/store.ts";
import { bootstrapObjects, podsByNode } from "./bootstrap.ts";
import { CustomResources } from "./custom-resources.ts";
import { deleteObject } from "./deletion.ts";
import { failure, notAllowed } from "./failures.ts";
import type { ListRequest, Page } from "./list.ts";
import { applyPatch, patched } from "./patching.ts";
import { type Overlay, Reader, type Reads } from "./reader.ts";
import type { Answer, DeleteAnswer, DeleteRequest, Key, WriteAnswer, WriteRequest } from "./request.ts";
import { assertReached, parseRevision } from "./revisions.ts";
import { bindPod } from "./subresources/binding.ts";
import { evictPod } from "./subresources/eviction.ts";
import { type LogRequest, type LogSource, noLogs } from "./subresources/log.ts";
import { scaleOf, withScale } from "./subresources/scale.ts";
import { tokenFor } from "./subresources/token.ts";
import type { Watch, WatchRequest } from "./watch.ts";
import { assertNameMatches, keyOf, type Machine, Writer, type Written } from "./writer.ts";

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How older versions of our kinds become v1. Lenient unless given. */
  readonly conversion?: ConversionOptions | undefined;
  readonly journal?: Journal | undefined;
  /** What a journal kept of an earlier life. */
  readonly restore?: Iterable<JournalEntry> | undefined;
  /** How many changes of a kind a watch can at least go back. */
  readonly watchWindow?: number | undefined;
  /** How many events may wait for a watcher before it is cut off. */
  readonly watchBacklog?: number | undefined;
  readonly logs?: LogSource | undefined;
}

export interface ListAnswer extends Page {
  readonly warnings: readonly string[];
}

interface Outcome {
  readonly written: Written;
  readonly warnings: readonly string[];
  readonly body: unknown;
  readonly isDryRun: boolean;
}

/** A Kubernetes API server without its HTTP: requests in, objects and warnings out, refusals as `KubeError`s. (05) */
export class ApiServer {
  readonly clock: Clock;
  readonly kinds: Kinds;
  readonly serialised = new Serialised();
  readonly #store: Store;
  readonly #machine: Machine;
  readonly #writer: Writer;
  readonly #customs: CustomResources;
  readonly #reader: Reader;
  readonly #logs: LogSource;

  constructor(options: ApiServerOptions) {
    const { clock, random, conversion = { mode: "lenient" } } = options;
    this.clock = clock;
    this.kinds = new Kinds(builtInKinds());
    this.#store = new Store({
      journal: options.journal,
      windowSize: options.watchWindow,
      indexes: { pods: podsByNode },
    });
    const names = random.fork("api-server");
    this.#machine = { store: this.#store, kinds: this.kinds, clock, random: names, world: () => this.#world(names) };
    this.#writer = new Writer(this.#machine);
    const storedKind = (kind: ServedKind) => this.#writer.storedKind(kind);
    this.#reader = new Reader({ store: this.#store, clock, storedKind, maxBacklog: options.watchBacklog });
    this.#customs = new CustomResources({
      machine: this.#machine,
      conversion,
      admission: new Admission("all"),
      metadata: new BuiltInFields().definition("meta.v1.ObjectMeta"),
      closeWatches: (storage) => this.#reader.closeWatches(storage),
    });
    this.#logs = options.logs ?? noLogs;
    if (options.restore !== undefined) this.#store.restore(options.restore);
    this.#customs.registerAll();
    this.#bootstrap();
  }

  /** The resourceVersion of the last write. */
  get revision(): number {
    return this.#store.revision;
  }

  async get(
    kind: ServedKind,
    key: Key,
    request: { subresource?: string | undefined; resourceVersion?: string | undefined } = {},
  ): Promise<Answer> {
    this.#assertVerb(kind, "get");
    assertReached(parseRevision(request.resourceVersion), this.#store.revision);
    const stored = this.#reader.find(kind, key);
    if (request.subresource === "scale") return { object: scaleOf(kind, stored), warnings: [] };
    return { object: this.#reader.show(kind, stored), warnings: warningsOf(kind) };
  }

  async list(kind: ServedKind, request: ListRequest = {}): Promise<ListAnswer> {
    this.#assertVerb(kind, "list");
    return { ...this.#reader.list(kind, request), warnings: warningsOf(kind) };
  }

  /** The stream has begun when this returns: nothing written after it is missed. Throws 410 where history is gone. */
  watch(kind: ServedKind, request: WatchRequest = {}): Watch {
    this.#assertVerb(kind, "watch");
    return this.#reader.watch(kind, request);
  }

  async create(
    kind: ServedKind,
    body: unknown,
    request: WriteRequest & { readonly namespace?: string | undefined; readonly name?: string | undefined } = {},
  ): Promise<WriteAnswer> {
    if (request.subresource !== undefined) return this.#createSubresource(kind, body, request);
    this.#assertVerb(kind, "create");
    this.#customs.assertAccepting(kind);
    const { draft, warnings, beside } = this.#writer.read(kind, body, request);
    const stored = this.#writer.storedKind(kind);
    if (kind.behaviour.answer !== undefined) {
      kind.behaviour.answer(draft);
      draft.apiVersion = apiVersionOf(kind);
      draft.kind = kind.kind;
      return { object: draft as unknown as KubeObject, isNew: true, warnings };
    }
    for (const object of beside) this.#writeBeside(object, request);
    const isWriteThrough = kind.conversion !== undefined && kind.conversion.fromStored === undefined;
    const written = isWriteThrough ? this.#upsert(stored, draft, request) : this.#writer.create(stored, draft, request);
    const extra = stored.behaviour.warnings?.(draft) ?? [];
    return this.#answered(kind, stored, {
      written,
      warnings: [...warnings, ...extra],
      body,
      isDryRun: request.dryRun === true,
    });
  }

  async update(kind: ServedKind, key: Key, body: unknown, request: WriteRequest = {}): Promise<WriteAnswer> {
    this.#assertVerb(kind, "update");
    this.#assertSubresource(kind, request.subresource);
    const stored = this.#writer.storedKind(kind);
    if (request.subresource === "scale") {
      const old = this.#writer.existing(stored, key);
      return this.#scaled(stored, { old, draft: withScale(stored, old, body), request });
    }
    const { draft, warnings } = this.#writer.read(kind, body, request);
    assertNameMatches(key, draft);
    const old = this.#writer.existing(stored, key);
    const written = this.#writer.replace(stored, old, draft, request);
    const extra = stored.behaviour.warnings?.(draft) ?? [];
    return this.#answered(kind, stored, {
      written,
      warnings: [...warnings, ...extra],
      body,
      isDryRun: request.dryRun === true,
    });
  }

  async patch(kind: ServedKind, key: Key, patch: Patch, request: WriteRequest = {}): Promise<WriteAnswer> {
    this.#assertVerb(kind, "patch");
    this.#assertSubresource(kind, request.subresource);
    const stored = this.#writer.storedKind(kind);
    if (patch.kind === "apply") return this.#apply(kind, { key, patch, request });
    const old = this.#reader.find(kind, key);
    if (request.subresource === "scale") {
      const scale = patched(scaleOf(stored, old), patch, { kind: stored, isScale: true });
      return this.#scaled(stored, { old, draft: withScale(stored, old, scale), request });
    }
    const whole = patched(this.#reader.inVersion(kind, old), patch, { kind, isScale: false });
    const body = request.subresource === "status" ? statusPart(kind, whole) : whole;
    const { draft, warnings } = this.#writer.read(kind, body, request);
    assertNameMatches(key, draft);
    const written = this.#writer.replace(stored, old, draft, request);
    return this.#answered(kind, stored, { written, warnings, body, isDryRun: request.dryRun === true });
  }

  async delete(kind: ServedKind, key: Key, request: DeleteRequest = {}): Promise<DeleteAnswer> {
    this.#assertVerb(kind, "delete");
    const stored = this.#writer.storedKind(kind);
    const old = this.#writer.existing(stored, key);
    const { object, isGone } = this.#delete(stored, old, request);
    await this.#durable();
    return { object: this.#reader.show(kind, object), isGone, warnings: warningsOf(kind) };
  }

  /** What was selected, as it was; the answer comes when all of it is deleted or marked. */
  async deleteCollection(kind: ServedKind, selection: ListRequest, request: DeleteRequest = {}): Promise<ListAnswer> {
    this.#assertVerb(kind, "deletecollection");
    const page = await this.list(kind, selection);
    const stored = this.#writer.storedKind(kind);
    for (const { metadata } of page.items) {
      const key = keyOf(stored, { name: metadata.name ?? "", namespace: metadata.namespace });
      const old = this.#store.collection(stored.storage).get(key);
      if (old !== undefined) this.#delete(stored, old, request);
    }
    await this.#durable();
    return page;
  }

  log(key: Key, request: LogRequest = {}): AsyncIterable<string> {
    const pods = this.kinds.get({ group: "", version: "v1", plural: "pods" });
    return this.#logs(this.#reader.find(pods, key), request);
  }

  /** How many watch objects of this kind now. */
  watchersOf(kind: ServedKind): number {
    return this.#store.listenersOf(kind.storage);
  }

  /** Shows objects of a kind other than they are stored. Watches see it too. */
  setOverlay(kind: ServedKind, overlay: Overlay): void {
    this.#reader.setOverlay(kind, overlay);
  }

  /** Answers for a kind that is nowhere stored, like metrics. */
  setReads(kind: ServedKind, reads: Reads): void {
    this.#reader.setReads(kind, reads);
  }

  /** All there is, for compacting a journal. */
  snapshot(): Iterable<JournalEntry> {
    return this.#store.snapshot();
  }

  async #createSubresource(
    kind: ServedKind,
    body: unknown,
    request: WriteRequest & { readonly namespace?: string | undefined; readonly name?: string | undefined },
  ): Promise<WriteAnswer> {
    this.#assertSubresource(kind, request.subresource);
    const key = { name: request.name ?? "", namespace: request.namespace };
    const owner = this.#reader.find(kind, key);
    const context = { machine: this.#machine, kind, pod: owner, request };
    switch (request.subresource) {
      case "eviction": {
        const object = evictPod(body, { ...context, remove: (old, options) => this.#delete(kind, old, options) });
        await this.#durable();
        return { object, isNew: true, warnings: [] };
      }
      case "binding": {
        const object = bindPod(body, context);
        await this.#durable();
        return { object, isNew: true, warnings: [] };
      }
      case "token":
        return { object: tokenFor(owner, body, this.#machine), isNew: true, warnings: [] };
      default:
        throw notAllowed(kind, "create");
    }
  }

  async #apply(
    kind: ServedKind,
    { key, patch, request }: { key: Key; patch: Patch & { kind: "apply" }; request: WriteRequest },
  ): Promise<WriteAnswer> {
    const stored = this.#writer.storedKind(kind);
    const old = this.#store.collection(stored.storage).get(keyOf(stored, key));
    const outcome = applyPatch(
      { machine: this.#machine, writer: this.#writer, kind, stored, key, old },
      patch,
      request,
    );
    return this.#answered(kind, stored, {
      written: outcome.written,
      warnings: outcome.warnings,
      body: patch.body,
      isDryRun: request.dryRun === true,
    });
  }

  async #scaled(
    kind: ServedKind,
    { old, draft, request }: { old: KubeObject; draft: Draft; request: WriteRequest },
  ): Promise<WriteAnswer> {
    const written = this.#writer.replace(kind, old, draft, { ...request, subresource: undefined });
    if (request.dryRun !== true) await this.#settled(kind, written);
    return { object: scaleOf(kind, written.object), isNew: false, warnings: [] };
  }

  #delete(
    kind: ServedKind,
    old: KubeObject,
    request: DeleteRequest,
  ): { readonly object: KubeObject; readonly isGone: boolean } {
    const deleted =
      this.#customs.deleteDefinition(kind, old, request) ?? deleteObject(this.#machine, kind, old, request);
    if (deleted.isGone && request.dryRun !== true) this.#customs.instanceGone(kind);
    return deleted;
  }

  /** Old kinds that cannot be read back are written through, again and again. (05, issue: alpha kinds) */
  #upsert(kind: ServedKind, draft: Draft, request: WriteRequest): Written {
    const old = this.#store.collection(kind.storage).get(keyOf(kind, { name: draft.metadata.name ?? "" }));
    if (old === undefined) return this.#writer.create(kind, draft, request);
    draft.metadata.resourceVersion = old.metadata.resourceVersion ?? "";
    draft.metadata.labels = { ...old.metadata.labels, ...draft.metadata.labels };
    draft.metadata.annotations = { ...old.metadata.annotations, ...draft.metadata.annotations };
    return this.#writer.replace(kind, old, draft, request);
  }

  #writeBeside(object: unknown, request: WriteRequest): void {
    const { apiVersion, kind: name } = object as KubeObject;
    const kind = this.kinds.named({ apiVersion, kind: name });
    if (kind === undefined) return;
    const { draft } = this.#writer.read(kind, object, request);
    this.#upsert(kind, draft, request);
  }

  async #answered(
    kind: ServedKind,
    stored: ServedKind,
    { written, warnings, body, isDryRun }: Outcome,
  ): Promise<WriteAnswer> {
    if (!isDryRun) await this.#settled(stored, written);
    const { object, isNew } = written;
    const isReadable = kind.conversion === undefined || kind.conversion.fromStored !== undefined;
    const shown = isReadable ? this.#reader.show(kind, object) : { ...(body as KubeObject), metadata: object.metadata };
    return { object: shown, isNew, warnings };
  }

  async #settled(kind: ServedKind, written: Written): Promise<void> {
    this.#customs.definitionWritten(kind, written.object);
    if (written.isNew && kind.storage === "namespaces") this.#furnish(written.object);
    if (written.isGone) this.#customs.instanceGone(kind);
    await this.#durable();
  }

  /** Every namespace has an account for pods that name none. */
  #furnish({ metadata }: KubeObject): void {
    const namespace = metadata.name ?? "";
    const kind = this.kinds.get({ group: "", version: "v1", plural: "serviceaccounts" });
    if (this.#store.collection(kind.storage).get(`${namespace}/default`) !== undefined) return;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
    this.#writer.create(kind, account, { namespace });
  }

  async #durable(): Promise<void> {
    const waiting = this.#store.durable();
    if (waiting === undefined) return;
    try {
      await waiting;
    } catch (error) {
      throw failure("server-error", `the write could not be kept: ${String(error)}`);
    }
  }

  #assertVerb(kind: ServedKind, verb: Verb): void {
    if (!kind.verbs.includes(verb)) throw notAllowed(kind, verb);
  }

  #assertSubresource(kind: ServedKind, subresource: string | undefined): void {
    if (subresource === undefined) return;
    if (!(kind.subresources as readonly string[]).includes(subresource)) {
      throw failure("not-found", "the server could not find the requested resource", {});
    }
  }

  #world(random: Random): World {
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
      const kind = this.kinds.named(object);
      if (kind === undefined) throw new Error(`no kind ${object.kind}`);
      const { name = "", namespace } = object.metadata;
      if (this.#store.collection(kind.storage).get(keyOf(kind, { name, namespace })) !== undefined) continue;
      const { draft } = this.#writer.read(kind, object, {});
      const { object: made } = this.#writer.create(kind, draft, { namespace });
      if (kind.storage === "namespaces") this.#furnish(made);
    }
  }
}

/** What of an object the status endpoint looks at: the rest need not be read. Another version has to be converted whole. */
function statusPart(kind: ServedKind, body: unknown): unknown {
  if (kind.conversion !== undefined || !isRecord(body)) return body;
  const { apiVersion, kind: name, metadata, status } = body;
  return { apiVersion, kind: name, metadata, ...(status === undefined ? {} : { status }) };
}

function warningsOf({ deprecation }: ServedKind): readonly string[] {
  return deprecation === undefined ? [] : [deprecation];
}
