import type { KubeObject } from "../api/object.ts";
import {
  type CreateOptions,
  type DeleteOptions,
  initialEventsEndAnnotation,
  type KubeClient,
  type ListOptions,
  type ObjectKey,
  type ObjectList,
  type Patch,
  type ResourceType,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from "../kube/client.ts";
import { deepFreeze } from "../util/freeze.ts";
import type { ApiServer } from "./api/server.ts";
import type { ServerWatchEvent } from "./api/server-watch.ts";

export interface InProcessClientOptions {
  /** Field manager of writes that name none. */
  readonly fieldManager?: string | undefined;
  /**
   * Simulated network latency, awaited before each call. It uses the clock, so that virtual time stays deterministic.
   */
  readonly latency?: (() => Promise<void>) | undefined;
}

/**
 * A client of the API server without sockets: for the simulated cluster, simulations and tests.
 * (docs/designs/interfaces.md)
 */
export class InProcessClient implements KubeClient {
  readonly #server: ApiServer;
  readonly #options: InProcessClientOptions;

  constructor(server: ApiServer, options: InProcessClientOptions = {}) {
    this.#server = server;
    this.#options = options;
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T> {
    await this.#options.latency?.();
    return (await this.#server.get(this.#kind(type), key)).object as T;
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<ObjectList<T>> {
    await this.#options.latency?.();
    const page = await this.#server.list(this.#kind(type), options);
    const items = page.items as readonly T[];
    return page.continue === undefined
      ? { items, resourceVersion: page.resourceVersion }
      : { items, resourceVersion: page.resourceVersion, continue: page.continue };
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    await this.#options.latency?.();
    await this.#server.settled();
    const { bookmarks, ...rest } = options;
    const watch = this.#server.watch(this.#kind(type), { ...rest, allowWatchBookmarks: bookmarks });
    for await (const event of watch) {
      if (options.signal.aborted) return;
      yield clientEvent<T>(event);
    }
  }

  async create<T extends KubeObject>(type: ResourceType, object: KubeObject, options: CreateOptions = {}): Promise<T> {
    await this.#options.latency?.();
    const { name, namespace } = object.metadata;
    // Evictions and bindings have the name of their pod.
    const target = options.subresource === undefined ? {} : { name: options.name ?? name };
    const request = { ...this.#write(options), ...target, namespace };
    const answer = await this.#server.create(this.#kind(type), object, request);
    return deepFreeze(answer.object) as T;
  }

  async update<T extends KubeObject>(type: ResourceType, object: KubeObject, options: WriteOptions = {}): Promise<T> {
    await this.#options.latency?.();
    const { name = "", namespace } = object.metadata;
    const answer = await this.#server.update(this.#kind(type), { name, namespace }, object, this.#write(options));
    return deepFreeze(answer.object) as T;
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    await this.#options.latency?.();
    const answer = await this.#server.patch(this.#kind(type), key, patch, this.#write(options));
    return deepFreeze(answer.object) as T;
  }

  async delete<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    await this.#options.latency?.();
    const { object, isGone } = await this.#server.delete(this.#kind(type), key, options);
    return isGone ? undefined : (deepFreeze(object) as T);
  }

  #kind(type: ResourceType) {
    return this.#server.kinds.get(type);
  }

  #write<Options extends WriteOptions>(options: Options): Options {
    const { fieldManager } = this.#options;
    return options.fieldManager !== undefined || fieldManager === undefined ? options : { ...options, fieldManager };
  }
}

function clientEvent<T extends KubeObject>(event: ServerWatchEvent): WatchEvent<T> {
  switch (event.type) {
    case "ERROR":
      throw event.error;
    case "BOOKMARK": {
      const { resourceVersion = "", annotations } = event.object.metadata;
      return {
        type: "BOOKMARK",
        resourceVersion,
        initialEventsEnd: annotations?.[initialEventsEndAnnotation] === "true",
      };
    }
    default:
      return { type: event.type, object: event.object as T };
  }
}
