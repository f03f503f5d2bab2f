import type { KubeObject, OwnerReference } from "../../../api/object.ts";
import type { ObjectKey, ResourceType } from "../../../kube/client.ts";
import { isKubeError } from "../../../kube/error.ts";
import type { Loop, LoopWorld } from "../../../kube/loop.ts";
import { cacheKey } from "../../../kube/object-cache.ts";
import { type LookAgain, Reconciler } from "../../../kube/reconciler.ts";
import { builtIn } from "../../../kube/resources.ts";
import type { Change } from "../../../kube/view.ts";
import { sameJson } from "../../kinds/draft.ts";
import { Dependents } from "./dependents.ts";
import { type Everything, watchEverything } from "./everything.ts";
import { kindName, ownerKindName } from "./kinds.ts";
import { fateOf, foregroundFinalizer, holdOf, type OwnerFinding, type OwnerState, orphanFinalizer } from "./owners.ts";

/** Deletes what belongs to owners that are gone. (05:CP-L7) */
export const garbageCollectorLoop: Loop = {
  name: "garbage-collector-controller",
  kinds: [builtIn.CustomResourceDefinition],
  run: (world, signal) => new Collector(world).run(signal),
};

/** While a kind is not known in full, owners wait for what may depend on them there. */
const unsyncedMs = 1_000;
/** Leases of nodes are looked up by name when a node goes: nobody watches them. (05:CP-L10) */
const nodeLease = "lease of node ";
const leaseNamespace = "kube-node-lease";

interface Item {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

class Collector {
  readonly #world: LoopWorld;
  readonly #reconciler: Reconciler<string, LoopWorld>;
  readonly #dependents = new Dependents();
  readonly #everything: Everything;

  constructor(world: LoopWorld) {
    const { name } = garbageCollectorLoop;
    this.#world = world;
    this.#reconciler = new Reconciler<string, LoopWorld>({
      name,
      reconcile: (key) => this.#look(key),
      world,
      clock: world.clock,
      random: world.random.fork("back-off"),
      onError: ({ key, error }) => world.log({ kind: "reconcile-failed", loop: name, key, error }),
    });
    this.#everything = watchEverything(world, (type, change) => this.#changed(type, change));
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reconciler.run(signal);
    this.#everything.stop();
  }

  #changed(type: ResourceType, change: Change<KubeObject>): void {
    const { object, old } = change;
    const key = keyOf(type, (object ?? change.old).metadata);
    const [before, after] = [old?.metadata.ownerReferences ?? [], object?.metadata.ownerReferences ?? []];
    const isSame = object !== undefined && old !== undefined && (before === after || sameJson(before, after));
    if (!isSame) {
      this.#dependents.relink(key, { before, after });
      for (const reference of before) this.#wakeIfHeld(reference, old);
      if (after.length > 0) this.#reconciler.enqueue(key);
    }
    if (object === undefined) this.#gone(type, change.old);
    else if (holdOf(object) !== undefined) this.#held(key, object);
  }

  #gone(type: ResourceType, { metadata }: KubeObject): void {
    for (const dependent of this.#dependents.of(metadata.uid)) this.#reconciler.enqueue(dependent);
    if (type.kind === "Node") this.#reconciler.enqueue(`${nodeLease}${metadata.name}`);
  }

  #held(key: string, { metadata }: KubeObject): void {
    this.#reconciler.enqueue(key);
    for (const dependent of this.#dependents.of(metadata.uid)) this.#reconciler.enqueue(dependent);
  }

  /** An owner may have waited for just this one. */
  #wakeIfHeld(reference: OwnerReference, dependent: KubeObject | undefined): void {
    const owner = this.#inView(reference, dependent);
    if (owner !== undefined && holdOf(owner.object) !== undefined) {
      this.#reconciler.enqueue(keyOf(owner.type, owner.object.metadata));
    }
  }

  async #look(key: string): Promise<LookAgain | undefined> {
    if (key.startsWith(nodeLease)) return this.#dropLease(key.slice(nodeLease.length));
    const item = this.#item(key);
    if (item === undefined) return undefined;
    const hold = holdOf(item.object);
    if (hold !== undefined && !this.#everything.hasSynced()) return { afterMs: unsyncedMs };
    if (hold === "orphan") return this.#letDependentsGo(item);
    if (hold === "foreground") await this.#stopWaiting(item);
    else if (item.object.metadata.deletionTimestamp === undefined) await this.#decide(item);
    return undefined;
  }

  async #decide({ type, object }: Item): Promise<void> {
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) return;
    const owners: OwnerFinding[] = [];
    for (const reference of references) owners.push({ reference, state: await this.#stateOf(reference, object) });
    const hasDependents = this.#dependents.of(object.metadata.uid).length > 0;
    const fate = fateOf(object, { owners, hasDependents });
    if (fate.kind === "forget") await this.#forget({ type, object }, new Set(fate.references.map(({ uid }) => uid)));
    if (fate.kind === "go") await this.#delete({ type, object }, fate.propagation);
  }

  async #stateOf(reference: OwnerReference, dependent: KubeObject): Promise<OwnerState> {
    const type = this.#everything.typeNamed(ownerKindName(reference));
    if (type === undefined || (type.namespaced && dependent.metadata.namespace === undefined)) return "unknown";
    const namespace = type.namespaced ? dependent.metadata.namespace : undefined;
    const { name } = reference;
    const seen = this.#inView(reference, dependent)?.object ?? (await this.#get(type, { name, namespace }));
    if (seen === undefined || seen.metadata.uid !== reference.uid) return "absent";
    return holdOf(seen) === "foreground" ? "waiting" : "solid";
  }

  /** Views may lag behind: nothing is deleted for an owner that was only not seen yet. */
  async #get(type: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    try {
      return await this.#world.client.get(type, key);
    } catch (error) {
      if (isKubeError(error, "not-found")) return undefined;
      throw error;
    }
  }

  #inView(reference: OwnerReference, dependent: KubeObject | undefined): Item | undefined {
    const type = this.#everything.typeNamed(ownerKindName(reference));
    if (type === undefined) return undefined;
    const namespace = type.namespaced ? dependent?.metadata.namespace : undefined;
    const object = this.#world.view(type).get(cacheKey({ namespace, name: reference.name }));
    return object?.metadata.uid === reference.uid ? { type, object } : undefined;
  }

  /** Foreground: the owner goes when nothing that blocks it is left. */
  async #stopWaiting(owner: Item): Promise<void> {
    const { uid } = owner.object.metadata;
    const isBlocking = ({ object }: Item) =>
      object.metadata.ownerReferences?.some((one) => one.uid === uid && one.blockOwnerDeletion === true) ?? false;
    const dependents = this.#dependents.of(uid).flatMap((key) => this.#item(key) ?? []);
    if (!dependents.some(isBlocking)) await this.#dropFinalizer(owner, foregroundFinalizer);
  }

  /** Orphan: those who belonged to it belong to nobody, and then it goes. */
  async #letDependentsGo(owner: Item): Promise<undefined> {
    const { uid = "" } = owner.object.metadata;
    for (const key of this.#dependents.of(uid)) {
      const item = this.#item(key);
      if (item !== undefined) await this.#forget(item, new Set([uid]));
    }
    await this.#dropFinalizer(owner, orphanFinalizer);
  }

  async #forget({ type, object }: Item, owners: ReadonlySet<string>): Promise<void> {
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter(({ uid }) => !owners.has(uid));
    await this.#patch({ type, object }, { ownerReferences });
  }

  async #dropFinalizer({ type, object }: Item, finalizer: string): Promise<void> {
    await this.#patch({ type, object }, { finalizers: object.metadata.finalizers?.filter((one) => one !== finalizer) });
  }

  /** Over the very version we looked at: custom kinds know no patch that takes one item off a list. */
  async #patch({ type, object }: Item, change: Partial<KubeObject["metadata"]>): Promise<void> {
    const { name = "", namespace, uid, resourceVersion } = object.metadata;
    const body = { metadata: { uid, resourceVersion, ...change } };
    try {
      await this.#world.client.patch(type, { name, namespace }, { kind: "merge", body });
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error; // gone: that is as good
    }
  }

  async #delete({ type, object }: Item, propagation: "Background" | "Foreground" | "Orphan"): Promise<void> {
    const { name = "", namespace, uid = "" } = object.metadata;
    try {
      await this.#world.client.delete(type, { name, namespace }, { propagation, preconditions: { uid } });
    } catch (error) {
      if (!isKubeError(error, "not-found")) throw error; // after a conflict the view knows who has its name by now
    }
  }

  async #dropLease(node: string): Promise<undefined> {
    if (this.#world.view(builtIn.Node).get(node) !== undefined) return;
    const object = await this.#get(builtIn.Lease, { name: node, namespace: leaseNamespace });
    const isOwned = object?.metadata.ownerReferences?.some(({ kind, name }) => kind === "Node" && name === node);
    if (object !== undefined && isOwned === true) await this.#decide({ type: builtIn.Lease, object });
  }

  #item(key: string): Item | undefined {
    const [name = "", ...rest] = key.split(" ");
    const type = this.#everything.typeNamed(name);
    const object = type && this.#world.view(type).get(rest.join(" "));
    return type === undefined || object === undefined ? undefined : { type, object };
  }
}

/** Names hold no spaces. */
function keyOf(type: ResourceType, metadata: KubeObject["metadata"]): string {
  return `${kindName(type)} ${cacheKey(metadata)}`;
}
