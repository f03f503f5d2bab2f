import type { Admission } from "../../api/admission.ts";
import type { ConversionOptions } from "../../api/conversion/outcome.ts";
import type { KubeObject } from "../../api/object.ts";
import { customKinds } from "../kinds/custom-kind.ts";
import { child, draftOf, listAt, textAt } from "../kinds/draft.ts";
import type { FieldSchema } from "../kinds/field-schema.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { olderKinds } from "../kinds/older-kinds.ts";
import { type Deleted, deleteObject } from "./deletion.ts";
import { failure } from "./failures.ts";
import type { DeleteRequest } from "./request.ts";
import { rfc3339 } from "./times.ts";
import type { Machine } from "./writer.ts";

export const definitions = "customresourcedefinitions.apiextensions.k8s.io";
const cleanup = "customresourcecleanup.apiextensions.k8s.io";

export interface CustomResourcesOptions {
  readonly machine: Machine;
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

  /** After a restart: what is in the store is served again. */
  registerAll(): void {
    for (const [, definition] of this.#definitions().range()) this.#register(definition);
  }

  definitionWritten(kind: ServedKind, object: KubeObject): void {
    if (kind.storage === definitions) this.#register(object);
  }

  /** Nothing new of a kind that is going. */
  assertAccepting({ storage, custom }: ServedKind): void {
    const definition = custom && this.#definitions().get(custom.definition);
    if (definition?.metadata.deletionTimestamp === undefined) return;
    const message = `create not allowed while custom resource definition is terminating: ${storage}`;
    throw failure("method-not-allowed", message);
  }

  /** A definition goes after its last object. Undefined: not a definition. */
  deleteDefinition(kind: ServedKind, old: KubeObject, request: DeleteRequest): Deleted | undefined {
    if (kind.storage !== definitions) return undefined;
    if (request.dryRun === true) return deleteObject(this.#options.machine, kind, old, request);
    const { machine } = this.#options;
    const draft = draftOf(old);
    draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), cleanup])];
    const held = machine.store.put(definitions, old.metadata.name ?? "", draft);
    const marked = deleteObject(machine, kind, held, { ...request, preconditions: undefined });
    this.#setTerminating(marked.object);
    this.#deleteInstances(old);
    return (
      this.#finish(old) ?? { object: this.#definitions().get(old.metadata.name ?? "") ?? marked.object, isGone: false }
    );
  }

  /** Perhaps the last one its definition waited for. */
  instanceGone({ custom }: ServedKind): void {
    const definition = custom && this.#definitions().get(custom.definition);
    if (definition?.metadata.deletionTimestamp !== undefined) this.#finish(definition);
  }

  #definitions() {
    return this.#options.machine.store.collection(definitions);
  }

  #register(definition: KubeObject): void {
    const { machine, admission, metadata, conversion } = this.#options;
    const isEstablished = listAt(definition.status, "conditions").some(
      (one) => one["type"] === "Established" && one["status"] === "True",
    );
    if (!isEstablished) return;
    const kinds = customKinds(definition, { admission, metadata });
    machine.kinds.replace(storageOf(definition), [...kinds, ...olderKinds(kinds, conversion)]);
  }

  #setTerminating(definition: KubeObject): void {
    const draft = draftOf(definition);
    const status = child(draft, "status");
    const condition = {
      type: "Terminating",
      status: "True",
      lastTransitionTime: rfc3339(this.#options.machine.clock.now()),
      reason: "InstanceDeletionInProgress",
      message: "CustomResource deletion is in progress",
    };
    status["conditions"] = [...listAt(status, "conditions").filter((one) => one["type"] !== "Terminating"), condition];
    this.#options.machine.store.put(definitions, definition.metadata.name ?? "", draft);
  }

  #deleteInstances(definition: KubeObject): void {
    const { machine } = this.#options;
    const storage = storageOf(definition);
    const kind = machine.kinds.all().find((one) => one.storage === storage && one.conversion === undefined);
    if (kind === undefined) return;
    for (const [, object] of [...machine.store.collection(storage).range()]) {
      deleteObject(machine, kind, object, { propagation: "Background" });
    }
  }

  #finish(definition: KubeObject): Deleted | undefined {
    const { machine, closeWatches } = this.#options;
    const storage = storageOf(definition);
    if (machine.store.collection(storage).size > 0) return undefined;
    machine.kinds.replace(storage, []);
    closeWatches(storage);
    const name = definition.metadata.name ?? "";
    const current = this.#definitions().get(name);
    if (current === undefined) return undefined;
    const others = (current.metadata.finalizers ?? []).filter((one) => one !== cleanup);
    if (others.length === 0) return { object: machine.store.remove(definitions, name) ?? current, isGone: true };
    const draft = draftOf(current);
    draft.metadata.finalizers = others;
    return { object: machine.store.put(definitions, name, draft), isGone: false };
  }
}

function storageOf(definition: KubeObject): string {
  return `${textAt(definition.spec, "names", "plural")}.${textAt(definition.spec, "group")}`;
}
