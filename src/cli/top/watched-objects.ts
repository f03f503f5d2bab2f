import type { KubeObject } from "../../api/object.ts";
import type { KubeClient, ResourceType } from "../../kube/client.ts";
import { Informer, type InformerFailure } from "../../kube/informer.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import type { Clock } from "../../util/clock.ts";
import { errorText } from "../../util/error-text.ts";
import type { Pause } from "../../util/pause.ts";
import type { Random } from "../../util/random.ts";
import { type LiveReading, liveTypes } from "../live-cluster.ts";
import { projectObject } from "../snapshot/project-object.ts";

export interface WatchedObjectsOptions {
  readonly kube: Pick<KubeClient, "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly pause: Pause;
  /** What was read before: shown until the watches have caught up, and tells which kinds there are. */
  readonly reading: LiveReading;
  readonly onChange: () => void;
}

/** The objects of a cluster, kept up to date by watches. */
export class WatchedObjects {
  readonly #informers = new Map<string, Informer<KubeObject, KubeObject>>();
  readonly #options: WatchedObjectsOptions;
  /** Objects of kinds whose watch has not caught up yet. */
  readonly #read = new Map<string, KubeObject[]>();
  #failure: string | undefined;

  constructor(options: WatchedObjectsOptions) {
    this.#options = options;
    for (const object of options.reading.objects) {
      const known = this.#read.get(object.kind);
      if (known === undefined) this.#read.set(object.kind, [object]);
      else known.push(object);
    }
  }

  /** Watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { reading } = this.#options;
    const unreadable = new Set([...reading.absent, ...reading.forbidden.map(({ kind }) => kind)]);
    const watched = liveTypes.filter(({ kind }) => !unreadable.has(kind));
    await Promise.all(watched.map((type) => this.#watch(this.#servedType(type), signal)));
  }

  /** All objects now, each as it was last seen. */
  objects(): readonly KubeObject[] {
    const found: KubeObject[] = [];
    for (const { kind } of liveTypes) {
      const informer = this.#informers.get(kind);
      const objects = informer?.hasSynced === true ? informer.values() : (this.#read.get(kind) ?? []);
      for (const object of objects) found.push(object);
    }
    return found;
  }

  /** Why what is shown may be out of date; empty while all watches are open. */
  get status(): string {
    const isWaiting = [...this.#informers.values()].some(({ state }) => state.kind === "waiting");
    return isWaiting && this.#failure !== undefined ? `not up to date: ${this.#failure}; trying again` : "";
  }

  async #watch(type: ResourceType, parent: AbortSignal): Promise<void> {
    const { kube, clock, random, pause, onChange } = this.#options;
    const stop = new AbortController();
    const signal = AbortSignal.any([parent, stop.signal]);
    const informer = new Informer<KubeObject, KubeObject>({
      ...{ kube, type, clock, pause },
      random: random.fork(type.kind),
      project: (object) => projectObject(object) ?? object,
      onFailure: (failure) => this.#onFailure(failure, stop),
    });
    this.#informers.set(type.kind, informer);
    informer.subscribe({ added: onChange, updated: onChange, deleted: onChange });
    await informer.run(signal);
  }

  #onFailure(failure: InformerFailure, stop: AbortController): void {
    if (!("error" in failure)) return;
    // The kind is gone, or no longer ours to read: what was last seen of it stays.
    if (isKubeError(failure.error, "not-found", "forbidden")) stop.abort();
    this.#failure = errorText(failure.error);
    this.#options.onChange();
  }

  /** Older clusters serve some kinds in an older version; the objects say which. */
  #servedType(type: ResourceType): ResourceType {
    const [first] = this.#read.get(type.kind) ?? [];
    const version = first?.apiVersion.split("/").at(-1);
    return version === undefined ? type : { ...type, version };
  }
}
