import { isRecord, type KubeObject } from "../../api/object.ts";
import type { Clock } from "../../util/clock.ts";
import type { Random } from "../../util/random.ts";
import { copyJson, type Draft, type DraftMeta, sameJson, textAt } from "../kinds/draft.ts";
import type { ServedKind, World } from "../kinds/kind.ts";
import { apiVersionOf, type Kinds } from "../kinds/registry.ts";
import type { Store } from "../store/store.ts";
import { trackUpdate } from "./apply/managed-fields.ts";
import { alreadyExists, badRequest, conflict, forbiddenField, invalid, invalidValue, notFound } from "./failures.ts";
import { assertReasonable } from "./limits.ts";
import { assertNamespace } from "./namespaces.ts";
import type { Key, WriteRequest } from "./request.ts";
import { rfc3339 } from "./times.ts";

const maxNameTries = 8;

/** What the parts of the server share. */
export interface Machine {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly clock: Clock;
  /** Generated names and uids come from here. */
  readonly random: Random;
  readonly world: () => World;
}

/** An object a client sent, read and in the version we store. */
export interface Incoming {
  readonly draft: Draft;
  readonly warnings: readonly string[];
  /** Objects that came of the same request and are written with it. */
  readonly beside: readonly unknown[];
}

export interface WriteOptions extends WriteRequest {
  readonly namespace?: string | undefined;
  /** Who owns what is settled already. */
  readonly isApplied?: boolean | undefined;
}

export interface Written {
  readonly object: KubeObject;
  readonly isNew: boolean;
  /** It was its last finalizer that kept it, and that is gone now. */
  readonly isGone: boolean;
}

export function keyOf(kind: ServedKind, { name, namespace }: Key): string {
  return kind.namespaced ? `${namespace ?? ""}/${name}` : name;
}

/** Everything between a body that arrived and an object in the store. (01 §0.1, 05 §3) */
export class Writer {
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Decode, convert, unknown fields. */
  read(kind: ServedKind, body: unknown, { fieldValidation = "Warn", decodingProblems = [] }: WriteRequest): Incoming {
    assertReasonable(body);
    assertIdentity(kind, body);
    const converted = kind.conversion?.toStored(body);
    const { value, unknown } = this.storedKind(kind).behaviour.decode(converted?.object ?? body);
    const problems = [...decodingProblems, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
    if (fieldValidation === "Strict" && problems.length > 0) {
      const what = `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}`;
      throw badRequest(`${what}: strict decoding error: ${problems.join(", ")}`);
    }
    const draft = value as Draft;
    if (!isRecord(draft.metadata)) draft.metadata = {};
    const said = fieldValidation === "Warn" ? problems : [];
    const warnings = [...(kind.deprecation ? [kind.deprecation] : []), ...(converted?.warnings ?? []), ...said];
    return { draft, warnings, beside: converted?.beside ?? [] };
  }

  /** The version of a kind that is in the store. */
  storedKind(kind: ServedKind): ServedKind {
    if (kind.conversion === undefined) return kind;
    return (
      this.#machine.kinds.all().find((one) => one.storage === kind.storage && one.conversion === undefined) ?? kind
    );
  }

  create(kind: ServedKind, draft: Draft, options: WriteOptions): Written {
    const { store, clock, random } = this.#machine;
    const { behaviour } = kind;
    this.#place(kind, draft, options.namespace);
    const { metadata } = draft;
    if (kind.namespaced) assertNamespace({ kind, store, metadata });
    if ((metadata.resourceVersion ?? "") !== "")
      throw badRequest("resourceVersion should not be set on objects to be created");
    if ((metadata.name ?? "") === "" && (metadata.generateName ?? "") !== "")
      metadata.name = this.#freeName(kind, metadata);
    for (const field of ["deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"])
      delete metadata[field];
    metadata.uid = random.uuid();
    metadata.creationTimestamp = rfc3339(clock.now());
    const world = this.#machine.world();
    if (behaviour.hasStatus && behaviour.keepsStatusOnCreate !== true) delete draft.status;
    behaviour.admitCreate?.(draft, world);
    behaviour.defaults?.(draft, world);
    behaviour.prepareCreate?.(draft, world);
    if (behaviour.countsGenerations) metadata.generation = 1;
    const finished = this.#validated(kind, draft, undefined);
    const key = keyOf(kind, { name: finished.metadata.name ?? "", namespace: finished.metadata.namespace });
    if (store.collection(kind.storage).get(key) !== undefined) throw alreadyExists(kind, finished.metadata.name ?? "");
    if (options.isApplied !== true)
      trackUpdate({ kind, old: undefined, draft: finished, request: options, now: clock.now() });
    assertReasonable(finished);
    if (options.dryRun === true) return { object: finished as unknown as KubeObject, isNew: true, isGone: false };
    return { object: store.put(kind.storage, key, finished), isNew: true, isGone: false };
  }

  /** Stores what is to replace an object, after the rules of its endpoint. */
  replace(kind: ServedKind, old: KubeObject, draft: Draft, options: WriteOptions): Written {
    const { store, clock } = this.#machine;
    const { behaviour } = kind;
    this.#assertSame(kind, old, draft);
    const finished =
      options.subresource === "status" ? this.#withStatus(kind, old, draft) : this.#changed(kind, old, draft);
    assertFinalizers(kind, finished, old);
    if (behaviour.countsGenerations && differs(kind, finished, old))
      finished.metadata.generation = (old.metadata.generation ?? 0) + 1;
    if (options.isApplied !== true) trackUpdate({ kind, old, draft: finished, request: options, now: clock.now() });
    if (sameJson(finished, old)) return { object: old, isNew: false, isGone: false };
    assertReasonable(finished);
    if (options.dryRun === true) return { object: finished as unknown as KubeObject, isNew: false, isGone: false };
    const key = keyOf(kind, { name: old.metadata.name ?? "", namespace: old.metadata.namespace });
    const object = store.put(kind.storage, key, finished);
    if (!isReadyToGo(object)) return { object, isNew: false, isGone: false };
    return { object: store.remove(kind.storage, key) ?? object, isNew: false, isGone: true };
  }

  /** What the main endpoint makes of it: everything but the status. */
  #changed(kind: ServedKind, old: KubeObject, draft: Draft): Draft {
    const { behaviour } = kind;
    keepSystemFields(draft, old);
    if (behaviour.hasStatus) setOrDelete(draft, "status", old.status);
    const world = this.#machine.world();
    behaviour.defaults?.(draft, world);
    behaviour.prepareUpdate?.(draft, old, world);
    return this.#validated(kind, draft, old);
  }

  /** What the status endpoint makes of it: the old object with a new status. Kubelets write many: the rest is shared. */
  #withStatus(kind: ServedKind, old: KubeObject, { status, metadata }: Draft): Draft {
    const { behaviour } = kind;
    const draft = { ...old, metadata: { ...old.metadata } } as unknown as Draft;
    setOrDelete(draft, "status", status);
    const carried = behaviour.statusCarriesMetadata === true ? ["labels", "annotations", "finalizers"] : [];
    for (const field of [...carried, "managedFields"]) setOrDelete(draft.metadata, field, metadata[field]);
    if (behaviour.updateStatus === undefined) return this.#validated(kind, draft, old);
    const causes = behaviour.updateStatus(draft, old);
    if (causes.length > 0) throw invalid(kind, old.metadata.name ?? "", causes);
    return draft;
  }

  existing(kind: ServedKind, key: Key): KubeObject {
    const found = this.#machine.store.collection(kind.storage).get(keyOf(kind, key));
    if (found === undefined) throw notFound(kind, key.name);
    return found;
  }

  /** Five letters are few among ten thousand objects: a name that is taken is drawn again, as Kubernetes does. */
  #freeName(kind: ServedKind, { generateName = "", namespace }: DraftMeta): string {
    const { random, store } = this.#machine;
    const draw = () => `${generateName.slice(0, 58)}${random.alphanumeric(5)}`;
    let name = draw();
    const isTaken = () => store.collection(kind.storage).get(keyOf(kind, { name, namespace })) !== undefined;
    for (let tries = 1; tries < maxNameTries && isTaken(); tries++) name = draw();
    return name;
  }

  #place(kind: ServedKind, draft: Draft, namespace: string | undefined): void {
    const { metadata } = draft;
    if (!kind.namespaced) {
      delete metadata.namespace;
      return;
    }
    const written = metadata.namespace ?? "";
    const asked = namespace ?? "";
    if (asked !== "" && written !== "" && asked !== written) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    metadata.namespace = asked || written;
    if (metadata.namespace === "") throw badRequest(`an empty namespace may not be set during creation`);
  }

  #assertSame(kind: ServedKind, old: KubeObject, draft: Draft): void {
    const { resourceVersion = "", uid = "" } = draft.metadata;
    const name = old.metadata.name ?? "";
    if (uid !== "" && uid !== old.metadata.uid) {
      throw conflict(
        kind,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
      );
    }
    if (resourceVersion !== "" && resourceVersion !== "0") {
      if (resourceVersion !== old.metadata.resourceVersion) throw conflict(kind, name);
    } else if (kind.behaviour.needsVersionToUpdate === true) {
      throw invalid(kind, name, [invalidValue(["metadata", "resourceVersion"], 0, "must be specified for an update")]);
    }
  }

  #validated(kind: ServedKind, draft: Draft, old: KubeObject | undefined): Draft {
    draft.apiVersion = apiVersionOf(kind);
    draft.kind = kind.kind;
    const { draft: finished, causes } = kind.behaviour.validate(draft, old);
    if (causes.length > 0) throw invalid(kind, draft.metadata.name ?? draft.metadata.generateName ?? "", causes);
    return finished;
  }
}

function assertIdentity(kind: ServedKind, body: unknown): void {
  if (!isRecord(body)) throw badRequest("the body of the request is not an object");
  // The endpoint says what a built-in is, where the body does not: the official JavaScript client relies on it.
  const isCustom = kind.custom !== undefined;
  const { apiVersion = isCustom ? "" : apiVersionOf(kind), kind: name = isCustom ? "" : kind.kind } = body;
  if (typeof name !== "string" || name === "") throw badRequest("Object 'Kind' is missing");
  if (typeof apiVersion !== "string" || apiVersion === "") throw badRequest("Object 'apiVersion' is missing");
  if (name !== kind.kind || apiVersion !== apiVersionOf(kind)) {
    throw badRequest(
      `${name} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${kind.kind}: ` +
        `expected ${kind.kind} in ${apiVersionOf(kind)}`,
    );
  }
}

/** What only the server writes stays as it is. */
function keepSystemFields(draft: Draft, { metadata: old }: KubeObject): void {
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

function assertFinalizers(kind: ServedKind, draft: Draft, old: KubeObject): void {
  if (old.metadata.deletionTimestamp === undefined) return;
  const added = (draft.metadata.finalizers ?? []).filter((one) => !(old.metadata.finalizers ?? []).includes(one));
  if (added.length === 0) return;
  const because = `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  throw invalid(kind, old.metadata.name ?? "", [forbiddenField(["metadata", "finalizers"], because)]);
}

/** Whether anything but metadata and status changed. Without a status subresource a status is data like any other. */
function differs({ behaviour }: ServedKind, draft: Draft, old: KubeObject): boolean {
  const rest = (object: object): Record<string, unknown> => {
    const { metadata: _, ...others } = object as Record<string, unknown>;
    if (behaviour.hasStatus) delete others["status"];
    return others;
  };
  return !sameJson(rest(draft), rest(old));
}

/** Deleted, its grace period over, and nothing holds it. */
export function isReadyToGo({ metadata, kind, spec }: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const grace = (metadata as { deletionGracePeriodSeconds?: number }).deletionGracePeriodSeconds ?? 0;
  if (deletionTimestamp === undefined || finalizers.length > 0 || grace > 0) return false;
  const held =
    kind === "Namespace" && isRecord(spec) && Array.isArray(spec["finalizers"]) && spec["finalizers"].length > 0;
  return !held;
}

/** What a rename between endpoint and body would be. */
export function assertNameMatches(key: Key, draft: Draft): void {
  const written = textAt(draft.metadata, "name");
  if (written !== "" && written !== key.name) {
    throw badRequest(`the name of the object (${written}) does not match the name on the URL (${key.name})`);
  }
  const namespace = textAt(draft.metadata, "namespace");
  if (namespace !== "" && key.namespace !== undefined && namespace !== key.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the URL (${key.namespace})`,
    );
  }
}
