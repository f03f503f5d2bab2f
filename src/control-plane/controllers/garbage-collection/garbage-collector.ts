import { isSameJson } from "../../../api/json.ts";
import type { KubeObject, OwnerReference } from "../../../api/object.ts";
import { cacheKey, type ObjectKey, type ResourceType } from "../../../kube/client.ts";
import type { Controller, ControllerContext } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import type { Reconciler, RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";
import { nodeLeaseNamespace } from "../kubelet/lease-times.ts";
import { newReconciler } from "../new-reconciler.ts";
import { deleteIfExists, namespacedNameOf } from "../workloads/ownership.ts";
import { type AllKindsWatch, watchAllKinds } from "./all-kinds-watch.ts";
import {
  decideDeletion,
  foregroundFinalizer,
  type OwnerState,
  type OwnerWithState,
  orphanFinalizer,
  pendingPropagationOf,
} from "./deletion-decision.ts";
import { Dependents } from "./dependents.ts";
import { groupKindName, ownerGroupKindName } from "./watched-kinds.ts";

/** Deletes objects whose owners are gone. (05:CP-L7) */
export const garbageCollectorController: Controller = {
  name: "garbage-collector-controller",
  kinds: [builtInTypes.CustomResourceDefinition],
  run: (context, signal) => new GarbageCollector(context).run(signal),
};

/** Until every kind has synced, deletions that wait for dependents are retried this often. */
const unsyncedRetryMs = 1_000;
/** Node leases are not watched; they are looked up by name when a Node is deleted. (05:CP-L10) */
const nodeLeaseKeyPrefix = "lease of node ";

interface TypedObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

class GarbageCollector {
  readonly #context: ControllerContext;
  readonly #reconciler: Reconciler<string>;
  readonly #dependents = new Dependents();
  readonly #allKinds: AllKindsWatch;

  constructor(context: ControllerContext) {
    this.#context = context;
    const { name } = garbageCollectorController;
    this.#reconciler = newReconciler(context, { name, reconcile: (key) => this.#reconcile(key) });
    this.#allKinds = watchAllKinds(context, (type, change) => this.#changed(type, change));
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reconciler.run(signal);
    this.#allKinds.stop();
  }

  #changed(type: ResourceType, change: ObjectChange<KubeObject>): void {
    const { object, old } = change;
    const key = keyOf(type, (object ?? change.old).metadata);
    const [before, after] = [old?.metadata.ownerReferences ?? [], object?.metadata.ownerReferences ?? []];
    const isSame = object !== undefined && old !== undefined && (before === after || isSameJson(before, after));
    if (!isSame) {
      this.#dependents.updateOwners(key, { before, after });
      for (const reference of before) this.#enqueueIfPending(reference, old);
      if (after.length > 0) this.#reconciler.enqueue(key);
    }
    if (object === undefined) this.#ownerDeleted(type, change.old);
    else if (pendingPropagationOf(object) !== undefined) this.#deletionPending(key, object);
  }

  #ownerDeleted(type: ResourceType, { metadata }: KubeObject): void {
    for (const dependent of this.#dependents.ofOwner(metadata.uid)) this.#reconciler.enqueue(dependent);
    if (type.kind === "Node") this.#reconciler.enqueue(`${nodeLeaseKeyPrefix}${metadata.name}`);
  }

  #deletionPending(key: string, { metadata }: KubeObject): void {
    this.#reconciler.enqueue(key);
    for (const dependent of this.#dependents.ofOwner(metadata.uid)) this.#reconciler.enqueue(dependent);
  }

  /** The owner may have been waiting for this dependent. */
  #enqueueIfPending(reference: OwnerReference, dependent: KubeObject | undefined): void {
    const owner = this.#ownerInView(reference, dependent);
    if (owner !== undefined && pendingPropagationOf(owner.object) !== undefined) {
      this.#reconciler.enqueue(keyOf(owner.type, owner.object.metadata));
    }
  }

  async #reconcile(key: string): Promise<RequeueAfter | undefined> {
    if (key.startsWith(nodeLeaseKeyPrefix)) return this.#deleteNodeLease(key.slice(nodeLeaseKeyPrefix.length));
    const found = this.#objectOf(key);
    if (found === undefined) return undefined;
    const pendingPropagation = pendingPropagationOf(found.object);
    if (pendingPropagation !== undefined && !this.#allKinds.hasSynced()) return { afterMs: unsyncedRetryMs };
    if (pendingPropagation === "orphan") return this.#orphanDependents(found);
    if (pendingPropagation === "foreground") await this.#finishForegroundDeletion(found);
    else if (found.object.metadata.deletionTimestamp === undefined) await this.#attemptToDelete(found);
    return undefined;
  }

  async #attemptToDelete({ type, object }: TypedObject): Promise<void> {
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) return;
    const owners: OwnerWithState[] = [];
    for (const reference of references) owners.push({ reference, state: await this.#ownerState(reference, object) });
    const hasDependents = this.#dependents.ofOwner(object.metadata.uid).length > 0;
    const decision = decideDeletion(object, { owners, hasDependents });
    if (decision.kind === "remove-owner-references")
      await this.#removeOwnerReferences({ type, object }, new Set(decision.references.map(({ uid }) => uid)));
    if (decision.kind === "delete") {
      await deleteIfExists(this.#context, type, object, { propagation: decision.propagation });
    }
  }

  async #ownerState(reference: OwnerReference, dependent: KubeObject): Promise<OwnerState> {
    const type = this.#allKinds.typeNamed(ownerGroupKindName(reference));
    if (type === undefined || (type.namespaced && dependent.metadata.namespace === undefined)) return "unknown";
    const namespace = type.namespaced ? dependent.metadata.namespace : undefined;
    const { name } = reference;
    const seen = this.#ownerInView(reference, dependent)?.object ?? (await this.#get(type, { name, namespace }));
    if (seen === undefined || seen.metadata.uid !== reference.uid) return "absent";
    return pendingPropagationOf(seen) === "foreground" ? "waiting" : "solid";
  }

  /** Views may lag: confirms with the server that an owner is gone before anything is deleted. */
  #get(type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    return ignoreKubeErrors(this.#context.client.get(type, key), "not-found");
  }

  #ownerInView(reference: OwnerReference, dependent: KubeObject | undefined): TypedObject | undefined {
    const type = this.#allKinds.typeNamed(ownerGroupKindName(reference));
    if (type === undefined) return undefined;
    const namespace = type.namespaced ? dependent?.metadata.namespace : undefined;
    const object = this.#context.view(type).get(cacheKey({ namespace, name: reference.name }));
    return object?.metadata.uid === reference.uid ? { type, object } : undefined;
  }

  /** Foreground deletion: the owner is released when no blocking dependent is left. */
  async #finishForegroundDeletion(owner: TypedObject): Promise<void> {
    const { uid } = owner.object.metadata;
    const isBlocking = ({ object }: TypedObject) =>
      object.metadata.ownerReferences?.some((one) => one.uid === uid && one.blockOwnerDeletion === true) ?? false;
    const dependents = this.#dependents.ofOwner(uid).flatMap((key) => this.#objectOf(key) ?? []);
    if (!dependents.some(isBlocking)) await this.#removeFinalizer(owner, foregroundFinalizer);
  }

  /** Orphan deletion: removes the owner from its dependents, then releases it. */
  async #orphanDependents(owner: TypedObject): Promise<undefined> {
    const { uid = "" } = owner.object.metadata;
    for (const key of this.#dependents.ofOwner(uid)) {
      const found = this.#objectOf(key);
      if (found !== undefined) await this.#removeOwnerReferences(found, new Set([uid]));
    }
    await this.#removeFinalizer(owner, orphanFinalizer);
  }

  async #removeOwnerReferences({ type, object }: TypedObject, owners: ReadonlySet<string>): Promise<void> {
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter(({ uid }) => !owners.has(uid));
    await this.#patch({ type, object }, { ownerReferences });
  }

  async #removeFinalizer({ type, object }: TypedObject, finalizer: string): Promise<void> {
    await this.#patch({ type, object }, { finalizers: object.metadata.finalizers?.filter((one) => one !== finalizer) });
  }

  /** Guarded by resourceVersion: custom kinds have no patch that removes one list item. */
  async #patch({ type, object }: TypedObject, change: Partial<KubeObject["metadata"]>): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    const body = { metadata: { uid, resourceVersion, ...change } };
    const patched = this.#context.client.patch(type, namespacedNameOf(object), { kind: "merge", body });
    await ignoreKubeErrors(patched, "not-found");
  }

  async #deleteNodeLease(node: string): Promise<undefined> {
    if (this.#context.view(builtInTypes.Node).get(node) !== undefined) return;
    const object = await this.#get(builtInTypes.Lease, { name: node, namespace: nodeLeaseNamespace });
    const isOwned = object?.metadata.ownerReferences?.some(({ kind, name }) => kind === "Node" && name === node);
    if (object !== undefined && isOwned === true) await this.#attemptToDelete({ type: builtInTypes.Lease, object });
  }

  #objectOf(key: string): TypedObject | undefined {
    const [name = "", ...rest] = key.split(" ");
    const type = this.#allKinds.typeNamed(name);
    const object = type && this.#context.view(type).get(rest.join(" "));
    return type === undefined || object === undefined ? undefined : { type, object };
  }
}

/** Neither kinds nor names contain spaces. */
function keyOf(type: ResourceType, metadata: KubeObject["metadata"]): string {
  return `${groupKindName(type)} ${cacheKey(metadata)}`;
}
