import type { Admission } from "../../api/admission.ts";
import type { ConversionOptions } from "../../api/conversion/conversion.ts";
import type { FieldSchema } from "../../api/kubernetes/field-schema.ts";
import type { KubeObject } from "../../api/object.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { customKinds } from "../kinds/custom-kind.ts";
import { draftOf, ensureRecord } from "../kinds/object-draft.ts";
import { olderVersionKinds } from "../kinds/older-version-kinds.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { listAt, textAt } from "../object-fields.ts";
import type { StoreChange } from "../store/change-log.ts";
import { apiError } from "./api-errors.ts";
import { type DeleteResult, deleteObject } from "./delete-object.ts";
import type { DeleteRequest } from "./request.ts";
import type { ServerContext } from "./server-context.ts";
import { assertDeletePreconditions } from "./write-checks.ts";

const crdStorage = "customresourcedefinitions.apiextensions.k8s.io";
const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export interface CustomResourcesOptions {
  readonly server: ServerContext;
  readonly conversion: ConversionOptions;
  readonly admission: Admission;
  readonly metadata: FieldSchema;
  readonly closeWatches: (storage: string) => void;
}

/** The kinds that CustomResourceDefinitions add while the server runs. (05 §3) */
export class CustomResources {
  readonly #options: CustomResourcesOptions;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
  }

  /** After a restart, registers the CRDs in the store. */
  registerAll(): void {
    for (const [, definition] of this.#definitions().range()) this.#register(definition);
  }

  onDefinitionWritten(kind: ServedKind, object: KubeObject): void {
    if (kind.storage === crdStorage) this.#register(object);
  }

  /** A definition that could not be stored is served as before. */
  onRolledBack(storage: string, { object, previous }: StoreChange): void {
    if (storage !== crdStorage) return;
    if (previous !== undefined) this.#register(previous);
    else if (!this.#isBuiltIn(object)) this.#options.server.kinds.replace(storageOf(object), []);
  }

  /** Refuses creates while the CRD is terminating. */
  assertNotTerminating({ storage, custom }: ServedKind): void {
    const definition = custom && this.#definitions().get(custom.definition);
    if (definition?.metadata.deletionTimestamp === undefined) return;
    const message = `create not allowed while custom resource definition is terminating: ${storage}`;
    throw apiError("method-not-allowed", message);
  }

  /** Deletes an object. A CRD is deleted after its last instance. */
  delete(kind: ServedKind, old: KubeObject, request: DeleteRequest): DeleteResult {
    if (kind.storage === crdStorage && request.dryRun !== true) return this.#deleteDefinition(kind, old, request);
    const deleted = deleteObject(this.#options.server, kind, old, request);
    if (deleted.isGone && request.dryRun !== true) this.onInstanceDeleted(kind);
    return deleted;
  }

  #deleteDefinition(kind: ServedKind, old: KubeObject, request: DeleteRequest): DeleteResult {
    const { server } = this.#options;
    assertDeletePreconditions(kind, old, request);
    const draft = draftOf(old);
    draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), cleanupFinalizer])];
    const held = server.store.put(crdStorage, old.metadata.name ?? "", draft);
    const marked = deleteObject(server, kind, held, { ...request, preconditions: undefined });
    this.#setTerminating(marked.object);
    this.#deleteInstances(old);
    return (
      this.#finish(old) ?? { object: this.#definitions().get(old.metadata.name ?? "") ?? marked.object, isGone: false }
    );
  }

  /** Finishes the deletion of a CRD whose last instance was deleted. */
  onInstanceDeleted({ custom }: ServedKind): void {
    const definition = custom && this.#definitions().get(custom.definition);
    if (definition?.metadata.deletionTimestamp !== undefined) this.#finish(definition);
  }

  #definitions() {
    return this.#options.server.store.collection(crdStorage);
  }

  /** Creating one is refused; a data folder may still have one. It is never served. */
  #isBuiltIn({ spec }: KubeObject): boolean {
    const { kinds } = this.#options.server;
    const group = textAt(spec, "group");
    return [textAt(spec, "names", "plural"), textAt(spec, "names", "kind")].some((name) =>
      kinds.isBuiltIn(group, name),
    );
  }

  #register(definition: KubeObject): void {
    const { server, admission, metadata, conversion } = this.#options;
    const isEstablished = listAt(definition.status, "conditions").some(
      (one) => one["type"] === "Established" && one["status"] === "True",
    );
    if (!isEstablished || this.#isBuiltIn(definition)) return;
    const kinds = customKinds(definition, { admission, metadata });
    server.kinds.replace(storageOf(definition), [...kinds, ...olderVersionKinds(kinds, conversion)]);
  }

  #setTerminating(definition: KubeObject): void {
    const draft = draftOf(definition);
    const status = ensureRecord(draft, "status");
    const condition = {
      type: "Terminating",
      status: "True",
      lastTransitionTime: rfc3339(this.#options.server.clock.now()),
      reason: "InstanceDeletionInProgress",
      message: "CustomResource deletion is in progress",
    };
    status["conditions"] = [...listAt(status, "conditions").filter((one) => one["type"] !== "Terminating"), condition];
    this.#options.server.store.put(crdStorage, definition.metadata.name ?? "", draft);
  }

  #deleteInstances(definition: KubeObject): void {
    const { server } = this.#options;
    const storage = storageOf(definition);
    const kind = server.kinds.all().find((one) => one.storage === storage && one.conversion === undefined);
    if (kind?.custom === undefined) return;
    for (const [, object] of [...server.store.collection(storage).range()]) {
      deleteObject(server, kind, object, { propagation: "Background" });
    }
  }

  #finish(definition: KubeObject): DeleteResult | undefined {
    const { server, closeWatches } = this.#options;
    const storage = storageOf(definition);
    if (!this.#isBuiltIn(definition)) {
      if (server.store.collection(storage).size > 0) return undefined;
      server.kinds.replace(storage, []);
      closeWatches(storage);
    }
    const name = definition.metadata.name ?? "";
    const current = this.#definitions().get(name);
    if (current === undefined) return undefined;
    const others = (current.metadata.finalizers ?? []).filter((one) => one !== cleanupFinalizer);
    if (others.length === 0) return { object: server.store.remove(crdStorage, name) ?? current, isGone: true };
    const draft = draftOf(current);
    draft.metadata.finalizers = others;
    return { object: server.store.put(crdStorage, name, draft), isGone: false };
  }
}

function storageOf(definition: KubeObject): string {
  return `${textAt(definition.spec, "names", "plural")}.${textAt(definition.spec, "group")}`;
}
