import { copyJson, isSameJson } from "../../api/json.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import type { ObjectKey } from "../../kube/client.ts";
import { apiVersionOf } from "../../kube/resources.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { ObjectDraft, ObjectDraftMetadata } from "../kinds/object-draft.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { measureJson, memoryBytes } from "../store/json-measure.ts";
import { alreadyExists, badRequest, forbidden, invalidObject, notFound } from "./api-errors.ts";
import { trackManagedFields } from "./apply/managed-fields.ts";
import { assertNamespace } from "./namespaces.ts";
import { assertStorable, assertWithinLimits, isStorable } from "./object-limits.ts";
import type { WriteRequest } from "./request.ts";
import { admissionContext, type ServerContext, storageKey } from "./server-context.ts";
import { assertFinalizers, assertIdentity, assertUpdatePreconditions } from "./write-checks.ts";

const maxNameTries = 8;

/** A request body, decoded and converted to the stored version. */
export interface DecodedWrite {
  readonly draft: ObjectDraft;
  readonly warnings: readonly string[];
  /** Further objects the conversion produced, written with it. */
  readonly additionalObjects: readonly unknown[];
}

export interface StoreWriteOptions extends WriteRequest {
  readonly namespace?: string | undefined;
  /** managedFields are already set. */
  readonly isApplied?: boolean | undefined;
}

export interface WriteResult {
  readonly object: KubeObject;
  readonly isNew: boolean;
  /** The update removed the last finalizer of a deleted object, which is now removed. */
  readonly isGone: boolean;
}

/** From a request body to a stored object. (01 §0.1, 05 §3) */
export class ObjectWriter {
  readonly #server: ServerContext;

  constructor(server: ServerContext) {
    this.#server = server;
  }

  /** Decodes, converts, and reports unknown fields. */
  decode(
    kind: ServedKind,
    body: unknown,
    { fieldValidation = "Warn", decodingProblems = [] }: WriteRequest,
  ): DecodedWrite {
    const measure = assertWithinLimits(body);
    assertIdentity(kind, body);
    const converted = kind.conversion?.toStored(body);
    const { value, unknown } = this.storedKind(kind).behaviour.decode(converted?.object ?? body);
    const problems = [...decodingProblems, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
    if (fieldValidation === "Strict" && problems.length > 0) {
      const what = `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}`;
      throw badRequest(`${what}: strict decoding error: ${problems.join(", ")}`);
    }
    if (!isStorable(measure)) assertStorable(measureJson(value)); // without its unknown fields it may be smaller
    const draft = value as ObjectDraft;
    if (!isRecord(draft.metadata)) draft.metadata = {};
    const problemWarnings = fieldValidation === "Warn" ? problems : [];
    const warnings = [
      ...(kind.deprecation ? [kind.deprecation] : []),
      ...(converted?.warnings ?? []),
      ...problemWarnings,
    ];
    return { draft, warnings, additionalObjects: converted?.additionalObjects ?? [] };
  }

  /** The kind in the version that is stored. */
  storedKind(kind: ServedKind): ServedKind {
    if (kind.conversion === undefined) return kind;
    return this.#server.kinds.all().find((one) => one.storage === kind.storage && one.conversion === undefined) ?? kind;
  }

  create(kind: ServedKind, draft: ObjectDraft, options: StoreWriteOptions): WriteResult {
    const { store, clock, random } = this.#server;
    const { behaviour } = kind;
    this.#setNamespace(kind, draft, options.namespace);
    const { metadata } = draft;
    if (kind.namespaced) assertNamespace({ kind, store, metadata });
    if ((metadata.resourceVersion ?? "") !== "")
      throw badRequest("resourceVersion should not be set on objects to be created");
    if ((metadata.name ?? "") === "" && (metadata.generateName ?? "") !== "")
      metadata.name = this.#generateName(kind, metadata);
    for (const field of ["deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"])
      delete metadata[field];
    metadata.uid = random.uuid();
    metadata.creationTimestamp = rfc3339(clock.now());
    const context = admissionContext(this.#server);
    if (behaviour.hasStatus && behaviour.keepsStatusOnCreate !== true) delete draft.status;
    behaviour.admitCreate?.(draft, context);
    behaviour.defaults?.(draft, context);
    behaviour.prepareCreate?.(draft, context);
    if (behaviour.countsGenerations) metadata.generation = 1;
    const validated = this.#validated(kind, draft, undefined);
    const key = storageKey(kind, { name: validated.metadata.name ?? "", namespace: validated.metadata.namespace });
    if (store.collection(kind.storage).get(key) !== undefined) throw alreadyExists(kind, validated.metadata.name ?? "");
    if (options.isApplied !== true)
      trackManagedFields({ kind, old: undefined, draft: validated, request: options, now: clock.now() });
    const memory = this.#assertRoom(kind, key, validated);
    if (options.dryRun === true) return { object: validated, isNew: true, isGone: false };
    return { object: store.put(kind.storage, key, validated, memory), isNew: true, isGone: false };
  }

  /** Replaces an object, by the rules of the main or the status endpoint. */
  replace(kind: ServedKind, old: KubeObject, draft: ObjectDraft, options: StoreWriteOptions): WriteResult {
    const { store, clock } = this.#server;
    const { behaviour } = kind;
    assertUpdatePreconditions(kind, old, draft);
    const validated =
      options.subresource === "status" ? this.#withStatus(kind, old, draft) : this.#withSpec(kind, old, draft);
    assertFinalizers(kind, validated, old);
    if (behaviour.countsGenerations && hasSpecChange(kind, validated, old))
      validated.metadata.generation = (old.metadata.generation ?? 0) + 1;
    if (options.isApplied !== true)
      trackManagedFields({ kind, old, draft: validated, request: options, now: clock.now() });
    if (isSameJson(validated, old)) return { object: old, isNew: false, isGone: false };
    const key = storageKey(kind, { name: old.metadata.name ?? "", namespace: old.metadata.namespace });
    const memory = this.#assertRoom(kind, key, validated);
    if (options.dryRun === true) return { object: validated, isNew: false, isGone: false };
    const object = store.put(kind.storage, key, validated, memory);
    if (!isReadyForRemoval(object)) return { object, isNew: false, isGone: false };
    return { object: store.remove(kind.storage, key) ?? object, isNew: false, isGone: true };
  }

  /** The memory the object takes. A full store takes no object that is larger than the one it replaces. */
  #assertRoom(kind: ServedKind, key: string, draft: ObjectDraft): number {
    const { store } = this.#server;
    const measure = measureJson(draft);
    assertStorable(measure);
    const memory = memoryBytes(measure);
    if (store.hasRoom(kind.storage, key, memory)) return memory;
    const because = `etcdserver: mvcc: database space exceeded: the limit is ${store.maxMemory} bytes; delete other objects first`;
    throw forbidden(kind, draft.metadata.name ?? "", because);
  }

  /** The main endpoint writes everything but the status. */
  #withSpec(kind: ServedKind, old: KubeObject, draft: ObjectDraft): ObjectDraft {
    const { behaviour } = kind;
    keepSystemFields(draft, old);
    if (behaviour.hasStatus) setOrDelete(draft, "status", old.status);
    const context = admissionContext(this.#server);
    behaviour.defaults?.(draft, context);
    behaviour.prepareUpdate?.(draft, old, context);
    return this.#validated(kind, draft, old);
  }

  /** The status endpoint writes the status only. Kubelets write many, so the rest is shared with the old object. */
  #withStatus(kind: ServedKind, old: KubeObject, { status, metadata }: ObjectDraft): ObjectDraft {
    const { behaviour } = kind;
    const draft = { ...old, metadata: { ...old.metadata } } as unknown as ObjectDraft;
    setOrDelete(draft, "status", status);
    const carried = behaviour.statusCarriesMetadata === true ? ["labels", "annotations", "finalizers"] : [];
    for (const field of [...carried, "managedFields"]) setOrDelete(draft.metadata, field, metadata[field]);
    if (behaviour.updateStatus === undefined) return this.#validated(kind, draft, old);
    const causes = behaviour.updateStatus(draft, old);
    if (causes.length > 0) throw invalidObject(kind, old.metadata.name ?? "", causes);
    return draft;
  }

  /** Every namespace has the ServiceAccount "default". */
  createDefaultServiceAccount({ metadata }: KubeObject): void {
    const namespace = metadata.name ?? "";
    const { store, kinds } = this.#server;
    const kind = kinds.get({ group: "", version: "v1", plural: "serviceaccounts" });
    if (store.collection(kind.storage).get(`${namespace}/default`) !== undefined) return;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
    this.create(kind, account, { namespace });
  }

  existing(kind: ServedKind, key: ObjectKey): KubeObject {
    const found = this.#server.store.collection(kind.storage).get(storageKey(kind, key));
    if (found === undefined) throw notFound(kind, key.name);
    return found;
  }

  /** Redraws a generated name that is taken, up to 8 times, as Kubernetes does. */
  #generateName(kind: ServedKind, { generateName = "", namespace }: ObjectDraftMetadata): string {
    const { random, store } = this.#server;
    const draw = () => `${generateName.slice(0, 58)}${random.alphanumeric(5)}`;
    let name = draw();
    const isTaken = () => store.collection(kind.storage).get(storageKey(kind, { name, namespace })) !== undefined;
    for (let tries = 1; tries < maxNameTries && isTaken(); tries++) name = draw();
    return name;
  }

  #setNamespace(kind: ServedKind, draft: ObjectDraft, namespace: string | undefined): void {
    const { metadata } = draft;
    if (!kind.namespaced) {
      delete metadata.namespace;
      return;
    }
    const written = metadata.namespace ?? "";
    const requestedNamespace = namespace ?? "";
    if (requestedNamespace !== "" && written !== "" && requestedNamespace !== written) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    metadata.namespace = requestedNamespace || written;
    if (metadata.namespace === "") throw badRequest(`an empty namespace may not be set during creation`);
  }

  #validated(kind: ServedKind, draft: ObjectDraft, old: KubeObject | undefined): ObjectDraft {
    draft.apiVersion = apiVersionOf(kind);
    draft.kind = kind.kind;
    const { draft: validated, causes } = kind.behaviour.validate(draft, old);
    if (causes.length > 0) throw invalidObject(kind, draft.metadata.name ?? draft.metadata.generateName ?? "", causes);
    return validated;
  }
}

/** Fields only the server writes are kept. */
function keepSystemFields(draft: ObjectDraft, { metadata: old }: KubeObject): void {
  const fields = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "resourceVersion",
  ];
  for (const field of [...fields, "deletionGracePeriodSeconds", "selfLink"]) {
    setOrDelete(draft.metadata, field, (old as Record<string, unknown>)[field]);
  }
}

function setOrDelete(target: Record<string, unknown>, field: string, value: unknown): void {
  if (value === undefined) delete target[field];
  else target[field] = Object.isFrozen(value) ? copyJson(value) : value;
}

/** Whether anything but metadata and status changed. Without a status subresource the status counts as well. */
function hasSpecChange({ behaviour }: ServedKind, draft: ObjectDraft, old: KubeObject): boolean {
  const rest = (object: object): Record<string, unknown> => {
    const { metadata: _, ...others } = object as Record<string, unknown>;
    if (behaviour.hasStatus) delete others["status"];
    return others;
  };
  return !isSameJson(rest(draft), rest(old));
}

/** Whether it was deleted, its grace period is over and it has no finalizers. */
export function isReadyForRemoval({ metadata, kind, spec }: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const grace = metadata.deletionGracePeriodSeconds ?? 0;
  if (deletionTimestamp === undefined || finalizers.length > 0 || grace > 0) return false;
  const held =
    kind === "Namespace" && isRecord(spec) && Array.isArray(spec["finalizers"]) && spec["finalizers"].length > 0;
  return !held;
}
