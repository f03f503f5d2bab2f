import type { KubeObject } from "../../api/object.ts";
import { initialEventsEndAnnotation } from "../../kube/client.ts";
import type { KubeError, KubeStatus } from "../../kube/kube-error.ts";
import { onAbort } from "../../util/abort.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { StoreChange } from "../store/change-log.ts";
import type { ObjectStore } from "../store/object-store.ts";
import { expiredVersion } from "./api-errors.ts";
import type { Selection } from "./selectors/selection.ts";

export interface WatchRequest {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** About how many bytes of events may be queued. */
  readonly maxBacklogBytes?: number | undefined;
}

export type ServerWatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  /** The object has only a kind, a resourceVersion, and the annotation that ends the initial events. */
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  /** The last event of a stream. */
  | { readonly type: "ERROR"; readonly status: KubeStatus; readonly error: KubeError };

/** Often enough that a resumed watch does not get 410. (05 §3) */
const bookmarkEveryMs = 60_000;
/** A watcher this many events behind is closed with 410. */
export const defaultWatchBacklog = 50_000;
/** Likewise for the memory its events take, the initial ones apart, which are in the store anyway. (05:CP-S3) */
const defaultBacklogBytes = 128 * 1024 * 1024;

export interface WatchSource {
  readonly store: ObjectStore;
  readonly storage: string;
  readonly clock: Clock;
  readonly selection: Selection;
  /** How many events may be queued for the watcher. */
  readonly maxBacklog: number;
  /** The object in the version of the kind. */
  readonly show: (object: KubeObject) => KubeObject;
  readonly apiVersion: string;
  readonly kind: string;
}

interface QueuedEvent {
  readonly event: ServerWatchEvent;
  readonly bytes: number;
}

/** One watch: a queue filled by the store and read by iteration. */
export class ServerWatch implements AsyncIterable<ServerWatchEvent> {
  readonly #source: WatchSource;
  readonly #startedAt: number;
  readonly #timers: Timer[] = [];
  #unsubscribe: () => void = () => {};
  /** The initial events, then those of changes with the memory they take. */
  #queue: QueuedEvent[];
  #next = 0;
  #queuedBytes = 0;
  #maxBacklogBytes = defaultBacklogBytes;
  #wake: (() => void) | undefined;
  #isClosed = false;

  constructor(
    source: WatchSource,
    start: { readonly revision: number; readonly initial: readonly ServerWatchEvent[] },
  ) {
    this.#source = source;
    this.#startedAt = start.revision;
    this.#queue = start.initial.map((event) => ({ event, bytes: 0 }));
  }

  start(request: WatchRequest): this {
    const { store, storage, clock } = this.#source;
    this.#unsubscribe = store.subscribe(storage, (change) => this.#onChange(change));
    const { timeoutSeconds = 0, signal, maxBacklogBytes = defaultBacklogBytes } = request;
    this.#maxBacklogBytes = maxBacklogBytes;
    if (timeoutSeconds > 0) this.#timers.push(clock.setTimer(timeoutSeconds * 1000, () => this.close()));
    if (request.allowWatchBookmarks === true) this.#bookmarkLater();
    if (signal !== undefined) onAbort(signal, () => this.close());
    return this;
  }

  /** Ends the stream after the queued events have been read. */
  close(error?: KubeError): void {
    if (this.#isClosed) return;
    if (error?.status !== undefined) this.#push({ type: "ERROR", status: error.status, error });
    this.#isClosed = true;
    this.#unsubscribe();
    for (const timer of this.#timers) timer.cancel();
    this.#wake?.();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The next event if one is queued. */
  poll(): ServerWatchEvent | undefined {
    const queued = this.#queue[this.#next];
    if (queued === undefined) return undefined;
    this.#next++;
    this.#queuedBytes -= queued.bytes;
    if (this.#next === this.#queue.length) {
      this.#queue = [];
      this.#next = 0;
    }
    return queued.event;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<ServerWatchEvent> {
    try {
      for (;;) {
        const event = this.poll();
        if (event !== undefined) yield event;
        else if (this.#isClosed) return;
        else await this.#untilEvent();
      }
    } finally {
      this.close();
    }
  }

  #untilEvent(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = wake;
    });
  }

  #onChange(change: StoreChange): void {
    if (change.revision <= this.#startedAt) return;
    const event = watchEventOf(change, this.#source);
    if (event === undefined) return;
    const { maxBacklog } = this.#source;
    const isFull = this.#queue.length - this.#next >= maxBacklog;
    if (isFull || this.#queuedBytes + change.memory > this.#maxBacklogBytes) {
      this.#expire(isFull ? `${maxBacklog} events` : `${this.#maxBacklogBytes} bytes`);
      return;
    }
    this.#push(event, change.memory);
  }

  /** The watch ends at once: what it has queued is dropped, because the client has to list again anyway. */
  #expire(behind: string): void {
    this.#queue = [];
    this.#next = 0;
    this.#queuedBytes = 0;
    this.close(expiredVersion(`too old resource version: the watch fell ${behind} behind`));
  }

  #push(event: ServerWatchEvent, bytes = 0): void {
    this.#queue.push({ event, bytes });
    this.#queuedBytes += bytes;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #bookmarkLater(): void {
    const { clock, store } = this.#source;
    const timer = clock.setTimer(bookmarkEveryMs, () => {
      if (this.#isClosed) return;
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      this.#push(bookmarkEvent(this.#source, store.published));
      this.#bookmarkLater();
    });
    this.#timers.push(timer);
  }
}

/** Relative to a selector: entering the selection is ADDED, leaving it DELETED. */
function watchEventOf(
  { type, object, previous, revision }: StoreChange,
  source: WatchSource,
): ServerWatchEvent | undefined {
  const { selection, show } = source;
  const isIn = type !== "DELETED" && selection.matches(object);
  const wasIn = previous !== undefined && selection.matches(previous);
  if (isIn) return { type: wasIn ? "MODIFIED" : "ADDED", object: show(object) };
  if (!wasIn) return undefined;
  if (type === "DELETED") return { type, object: show(object) };
  const metadata = { ...previous.metadata, resourceVersion: String(revision) };
  return { type: "DELETED", object: show(Object.freeze({ ...previous, metadata })) };
}

function bookmarkEvent(
  { apiVersion, kind }: Pick<WatchSource, "apiVersion" | "kind">,
  revision: number,
  options: { readonly endsInitialEvents?: boolean } = {},
): ServerWatchEvent {
  const annotations =
    options.endsInitialEvents === true ? { annotations: { [initialEventsEndAnnotation]: "true" } } : {};
  const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...annotations };
  return { type: "BOOKMARK", object: { apiVersion, kind, metadata } as unknown as KubeObject };
}

/** The revision a watch starts from, and its first events. */
export function watchStart(
  source: WatchSource,
  requestedRevision: number | undefined,
  request: WatchRequest,
): { readonly revision: number; readonly initial: readonly ServerWatchEvent[] } {
  const { store, storage, selection, show } = source;
  const collection = store.collection(storage);
  const current = store.revision;
  const wantsState = request.sendInitialEvents ?? requestedRevision === undefined;
  if (wantsState) {
    const initial: ServerWatchEvent[] = [];
    for (const [, object] of selection.select(collection)) initial.push({ type: "ADDED", object: show(object) });
    if (request.sendInitialEvents === true && request.allowWatchBookmarks === true) {
      initial.push(bookmarkEvent(source, current, { endsInitialEvents: true }));
    }
    return { revision: current, initial };
  }
  if (requestedRevision === undefined) return { revision: current, initial: [] };
  const missed = collection.log.since(requestedRevision);
  if (missed === undefined) throw expiredVersion(`too old resource version: ${requestedRevision} (${current})`);
  const initial = missed.flatMap((change) => watchEventOf(change, source) ?? []);
  return { revision: missed.at(-1)?.revision ?? requestedRevision, initial };
}
