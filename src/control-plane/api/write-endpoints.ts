import { isRecord, type KubeObject } from "../../api/object.ts";
import type { ObjectKey, Patch } from "../../kube/client.ts";
import { apiVersionOf } from "../../kube/resources.ts";
import type { ObjectDraft } from "../kinds/object-draft.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { methodNotSupported } from "./api-errors.ts";
import type { CustomResources } from "./custom-resources.ts";
import type { ObjectReader } from "./object-reader.ts";
import type { ObjectWriter, WriteResult } from "./object-writer.ts";
import { applyPatch, patchObject } from "./patch-object.ts";
import type { CreateRequest, WriteRequest, WriteResponse } from "./request.ts";
import { reviewContext, type ServerContext, storageKey, waitUntilDurable } from "./server-context.ts";
import { bindPod } from "./subresources/binding.ts";
import { evictPod } from "./subresources/eviction.ts";
import { scaleOf, withScale } from "./subresources/scale.ts";
import { issueToken } from "./subresources/token.ts";
import { assertNameMatches } from "./write-checks.ts";

export interface WriteEndpointsOptions {
  readonly server: ServerContext;
  readonly writer: ObjectWriter;
  readonly reader: ObjectReader;
  readonly customResources: CustomResources;
}

interface WriteOutcome {
  readonly stored: ServedKind;
  readonly written: WriteResult;
  readonly warnings: readonly string[];
  /** If given, the kind's own warnings are sent as well; patches send none. */
  readonly draft?: ObjectDraft;
  readonly body: unknown;
  readonly request: WriteRequest;
}

/** create, update and patch of objects and of their subresources. */
export class WriteEndpoints {
  readonly #server: ServerContext;
  readonly #writer: ObjectWriter;
  readonly #reader: ObjectReader;
  readonly #customResources: CustomResources;

  constructor({ server, writer, reader, customResources }: WriteEndpointsOptions) {
    this.#server = server;
    this.#writer = writer;
    this.#reader = reader;
    this.#customResources = customResources;
  }

  async create(kind: ServedKind, body: unknown, request: CreateRequest): Promise<WriteResponse> {
    this.#customResources.assertNotTerminating(kind);
    const { draft, warnings, additionalObjects } = this.#writer.decode(kind, body, request);
    const stored = this.#writer.storedKind(kind);
    if (kind.behaviour.answer !== undefined) {
      kind.behaviour.answer(draft, reviewContext(this.#server));
      draft.apiVersion = apiVersionOf(kind);
      draft.kind = kind.kind;
      return { object: draft, isNew: true, warnings };
    }
    for (const object of additionalObjects) this.#writeAdditional(object, request);
    const written = isReadable(kind)
      ? this.#writer.create(stored, draft, request)
      : this.#upsert(stored, draft, request);
    return this.#respond(kind, { stored, written, warnings, draft, body, request });
  }

  async update(kind: ServedKind, key: ObjectKey, body: unknown, request: WriteRequest): Promise<WriteResponse> {
    const stored = this.#writer.storedKind(kind);
    if (request.subresource === "scale") {
      const old = this.#writer.existing(stored, key);
      return this.#writeScale(stored, { old, draft: withScale(stored, old, body), request });
    }
    const { draft, warnings } = this.#writer.decode(kind, body, request);
    assertNameMatches(key, draft);
    const old = this.#writer.existing(stored, key);
    const written = this.#writer.replace(stored, old, draft, request);
    return this.#respond(kind, { stored, written, warnings, draft, body, request });
  }

  async patch(kind: ServedKind, key: ObjectKey, patch: Patch, request: WriteRequest): Promise<WriteResponse> {
    const stored = this.#writer.storedKind(kind);
    if (patch.kind === "apply") {
      const old = this.#server.store.collection(stored.storage).get(storageKey(stored, key));
      const target = { server: this.#server, writer: this.#writer, kind, stored, key, old };
      return this.#respond(kind, { stored, ...applyPatch(target, patch, request), body: patch.body, request });
    }
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
    return this.#respond(kind, { stored, written, warnings, body, request });
  }

  async createSubresource(kind: ServedKind, body: unknown, request: CreateRequest): Promise<WriteResponse> {
    const owner = this.#reader.find(kind, { name: request.name ?? "", namespace: request.namespace });
    const object = this.#subresourceObject(owner, body, { kind, request });
    await waitUntilDurable(this.#server);
    return { object, isNew: true, warnings: [] };
  }

  #subresourceObject(
    owner: KubeObject,
    body: unknown,
    { kind, request }: { readonly kind: ServedKind; readonly request: CreateRequest },
  ): KubeObject {
    const context = { server: this.#server, kind, pod: owner, request };
    switch (request.subresource) {
      case "eviction":
        return evictPod(body, {
          ...context,
          remove: (old, options) => this.#customResources.delete(kind, old, options),
        });
      case "binding":
        return bindPod(body, context);
      case "token":
        return issueToken(owner, body, this.#server);
      default:
        throw methodNotSupported(kind, "create");
    }
  }

  async #writeScale(
    kind: ServedKind,
    { old, draft, request }: { old: KubeObject; draft: ObjectDraft; request: WriteRequest },
  ): Promise<WriteResponse> {
    const written = this.#writer.replace(kind, old, draft, { ...request, subresource: undefined });
    if (request.dryRun !== true) await this.#afterWrite(kind, written);
    return { object: scaleOf(kind, written.object), isNew: false, warnings: [] };
  }

  /** Alpha kinds cannot be read back, so applying one again updates the stored object. */
  #upsert(kind: ServedKind, draft: ObjectDraft, request: WriteRequest): WriteResult {
    const old = this.#server.store.collection(kind.storage).get(storageKey(kind, { name: draft.metadata.name ?? "" }));
    if (old === undefined) return this.#writer.create(kind, draft, request);
    draft.metadata.resourceVersion = old.metadata.resourceVersion ?? "";
    draft.metadata.labels = { ...old.metadata.labels, ...draft.metadata.labels };
    draft.metadata.annotations = { ...old.metadata.annotations, ...draft.metadata.annotations };
    return this.#writer.replace(kind, old, draft, request);
  }

  #writeAdditional(object: unknown, request: WriteRequest): void {
    const { apiVersion, kind: name } = object as KubeObject;
    const kind = this.#server.kinds.findByApiVersion({ apiVersion, kind: name });
    if (kind === undefined) return;
    const { draft } = this.#writer.decode(kind, object, request);
    this.#upsert(kind, draft, request);
  }

  async #respond(
    kind: ServedKind,
    { stored, written, warnings, draft, body, request }: WriteOutcome,
  ): Promise<WriteResponse> {
    if (request.dryRun !== true) await this.#afterWrite(stored, written);
    const { object, isNew } = written;
    const shown = isReadable(kind)
      ? this.#reader.show(kind, object)
      : { ...(body as KubeObject), metadata: object.metadata };
    const kindWarnings = (draft && stored.behaviour.warnings?.(draft)) ?? [];
    return { object: shown, isNew, warnings: [...warnings, ...kindWarnings] };
  }

  async #afterWrite(kind: ServedKind, written: WriteResult): Promise<void> {
    this.#customResources.onDefinitionWritten(kind, written.object);
    if (written.isNew && kind.storage === "namespaces") this.#writer.createDefaultServiceAccount(written.object);
    if (written.isGone) this.#customResources.onInstanceDeleted(kind);
    await waitUntilDurable(this.#server);
  }
}

/** Kinds that convert only to the stored version can be written, not read. */
function isReadable({ conversion }: ServedKind): boolean {
  return conversion === undefined || conversion.fromStored !== undefined;
}

/** The status endpoint reads these fields only; other versions have to be converted whole. */
function statusPart(kind: ServedKind, body: unknown): unknown {
  if (kind.conversion !== undefined || !isRecord(body)) return body;
  const { apiVersion, kind: name, metadata, status } = body;
  return { apiVersion, kind: name, metadata, ...(status === undefined ? {} : { status }) };
}
