import type { KubeObject } from "../api/object.ts";
import type { Clock, Timer } from "../util/clock.ts";
import type { Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import type { KubeClient, ObjectKey, ResourceType } from "./client.ts";
import { isKubeError } from "./error.ts";
import { Informer, type InformerTrouble } from "./informer.ts";
import { cacheKey } from "./object-cache.ts";
import { View } from "./view.ts";

export interface ViewsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** What to keep of a kind's objects; all of them, unless said. Must keep name, namespace, uid and resourceVersion. */
  readonly projections?: Projections | undefined;
  /** Asked while much is taken in at once. */
  readonly pause?: Pause | undefined;
  readonly onTrouble: (type: ResourceType, trouble: InformerTrouble) => void;
}

/** How the objects of some kinds are cut down to what is read of them: by kind, as they arrive. */
export type Projections = ReadonlyMap<ResourceType, (object: KubeObject) => KubeObject>;

const whole = (object: KubeObject): KubeObject => object;

interface Watched {
  readonly project: (object: KubeObject) => KubeObject;
  readonly type: ResourceType;
  readonly view: View<KubeObject>;
  readonly stop: AbortController;
  readonly synced: Promise<void>;
}

/** A write no watch told of within this time is looked up. */
const unconfirmedMs = 30_000;

/** One view a kind, shared by all loops; an informer feeds it from the moment somebody first asks. */
export class Views {
  readonly #options: ViewsOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #ended: Promise<void>[] = [];
  #check: Timer | undefined;
  #isStopped = false;

  constructor(options: ViewsOptions) {
    this.#options = options;
  }

  of<T extends KubeObject>(type: ResourceType): View<T> {
    return (this.#watched.get(nameOf(type)) ?? this.#watch(type)).view as unknown as View<T>;
  }

  /** Resolves when everything of the kind that existed when it was first asked for is here. */
  synced(type: ResourceType): Promise<void> {
    return (this.#watched.get(nameOf(type)) ?? this.#watch(type)).synced;
  }

  /** Stops watching a kind that is no longer served. */
  forget(type: ResourceType): void {
    this.#watched.get(nameOf(type))?.stop.abort();
    this.#watched.delete(nameOf(type));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#check?.cancel();
    for (const { stop } of this.#watched.values()) stop.abort();
    await Promise.all(this.#ended);
  }

  /** The client, whose writes show in the views at once. */
  client(): KubeClient {
    const { client } = this.#options;
    const noted = async <T extends KubeObject>(type: ResourceType, writing: Promise<T>, isOther: boolean) => {
      const object = await writing;
      if (!isOther) this.#wrote(type, object);
      return object;
    };
    const isOther = (options?: { readonly subresource?: string | undefined; readonly dryRun?: boolean | undefined }) =>
      options?.dryRun === true || (options?.subresource !== undefined && options.subresource !== "status");
    return {
      get: (type, key) => client.get(type, key),
      list: (type, options) => client.list(type, options),
      watch: (type, options) => client.watch(type, options),
      create: (type, object, options) => noted(type, client.create(type, object, options), isOther(options)),
      update: (type, object, options) => noted(type, client.update(type, object, options), isOther(options)),
      patch: (type, key, patch, options) => noted(type, client.patch(type, key, patch, options), isOther(options)),
      delete: async <T extends KubeObject>(
        type: ResourceType,
        key: ObjectKey,
        options?: Parameters<KubeClient["delete"]>[2],
      ) => {
        // Before the call: afterwards another object may have taken the name.
        const uid = options?.preconditions?.uid ?? this.#find(type, key)?.metadata.uid;
        const left = await client.delete<T>(type, key, options);
        if (options?.dryRun === true) return left;
        if (left !== undefined) this.#wrote(type, left);
        else this.#watched.get(nameOf(type))?.view.removed(cacheKey(key), uid);
        return left;
      },
    };
  }

  #watch(type: ResourceType): Watched {
    const { client, clock, random, projections, pause, onTrouble } = this.#options;
    const project = projections?.get(type) ?? whole;
    const view = new View<KubeObject>({
      clock,
      pause,
      onHandlerError: (error) => onTrouble(type, { kind: "handler-failed", error }),
    });
    const informer = new Informer<KubeObject, KubeObject>({
      kube: client,
      type,
      clock,
      random: random.fork(nameOf(type)),
      project,
      pause,
      onTrouble: (trouble) => onTrouble(type, trouble),
    });
    informer.subscribe({
      added: (object) => view.observed(object),
      updated: (object) => view.observed(object),
      deleted: (object) => view.vanished(object),
    });
    const stop = new AbortController();
    if (this.#isStopped) stop.abort();
    const synced = informer.synced.then(() => view.markSynced());
    this.#ended.push(informer.run(stop.signal));
    const watched: Watched = { type, project, view, stop, synced };
    this.#watched.set(nameOf(type), watched);
    return watched;
  }

  #wrote(type: ResourceType, object: KubeObject): void {
    const watched = this.#watched.get(nameOf(type));
    watched?.view.wrote(watched.project(object));
    this.#checkLater();
  }

  #find(type: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.#watched.get(nameOf(type))?.view.get(cacheKey(key));
  }

  #checkLater(): void {
    if (this.#check !== undefined || this.#isStopped) return;
    this.#check = this.#options.clock.setTimer(unconfirmedMs, () => {
      this.#check = undefined;
      void this.#lookUp();
    });
  }

  /** Whether what we wrote is still there, where no watch has said so. */
  async #lookUp(): Promise<void> {
    const { client } = this.#options;
    for (const { type, view, project } of this.#watched.values()) {
      for (const key of view.unconfirmedFor(unconfirmedMs)) {
        if (this.#isStopped) return;
        const [name = "", namespace] = key.split("/").reverse();
        try {
          view.observed(project(await client.get(type, { name, namespace })));
        } catch (error) {
          if (isKubeError(error, "not-found")) view.removed(key, view.get(key)?.metadata.uid);
        }
      }
    }
    if ([...this.#watched.values()].some(({ view }) => view.hasUnconfirmed)) this.#checkLater();
  }
}

function nameOf({ group, version, plural }: ResourceType): string {
  return `${plural}.${version}.${group}`;
}
