import { backOffMs } from "../util/back-off.ts";
import type { Clock } from "../util/clock.ts";
import { ExpiringMap } from "../util/expiring-map.ts";
import type { Random } from "../util/random.ts";
import { rfc3339 } from "../util/timestamp.ts";
import { type Rate, TokenBucket } from "../util/token-bucket.ts";
import type { KubeClient } from "./client.ts";
import type { Event, EventType, ObjectReference } from "./event.ts";
import { ignoreKubeErrors, isKubeError } from "./kube-error.ts";
import { builtInTypes } from "./resources.ts";

/** A Kubernetes Event to be written, for people who run `kubectl describe`. */
export interface EventRecord {
  readonly involvedObject: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  /** Recorded once in durationMs for the same reason, object and values; every time, without values. (03 §6.2) */
  readonly dedupe?: { readonly values: readonly string[]; readonly durationMs?: number } | undefined;
}

export interface EventRecorderOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** The component events come from. */
  readonly component: string;
  /** Rate limits by reason, over all objects. (02:L-21) */
  readonly limits?: Readonly<Record<string, Rate>>;
  /** Called for each event that could not be written. */
  readonly onError?: (error: unknown, record: EventRecord) => void;
}

const defaultDedupeMs = 2 * 60_000;
/** A repetition within this time increments the count of the earlier Event instead of creating another. */
const aggregationWindowMs = 10 * 60_000;
/** Rate limit of Events per object, as client-go has it. */
const perObjectRate: Rate = { perSecond: 1 / 300, burst: 25 };
/** When more than this wait, the oldest is dropped: the API server is not accepting Events. */
const maxQueued = 1_000;
const maxAttempts = 4;
const retries = { baseMs: 500, maxMs: 10_000 };

/** Writes Events in the background, deduplicated and rate limited. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #recentlyRecorded: ExpiringMap<true>;
  readonly #recentlySent: ExpiringMap<SentEvent>;
  readonly #objectBuckets: ExpiringMap<TokenBucket>;
  readonly #limits: ReadonlyMap<string, TokenBucket>;
  readonly #queue: EventRecord[] = [];
  #wake: () => void = () => {};

  constructor(options: EventRecorderOptions) {
    const { clock, limits = {} } = options;
    this.#options = options;
    this.#recentlyRecorded = new ExpiringMap(clock);
    this.#recentlySent = new ExpiringMap(clock);
    this.#objectBuckets = new ExpiringMap(clock);
    this.#limits = new Map(Object.entries(limits).map(([reason, rate]) => [reason, new TokenBucket(rate, clock)]));
  }

  /** Queues the event; false if it is a duplicate or over a rate limit. */
  record(record: EventRecord): boolean {
    // An event over a limit counts as recorded, so its repetitions are duplicates: as in upstream.
    if (this.#isDuplicate(record) || !this.#isWithinLimits(record)) return false;
    if (this.#queue.length >= maxQueued) this.#queue.shift();
    this.#queue.push(record);
    this.#wake();
    return true;
  }

  /** Sends queued events until the signal aborts; what is queued then is tried once more. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        await this.#send(next, signal);
      }
      await this.#untilQueuedOrAborted(signal);
    }
  }

  #untilQueuedOrAborted(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#queue.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#wake = () => {};
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  /**
   * The object is part of the key, unlike upstream: events of two objects are not duplicates of each other. (03 §6.2)
   */
  #isDuplicate({ involvedObject, reason, dedupe }: EventRecord): boolean {
    if (dedupe === undefined || dedupe.values.length === 0) return false;
    const key = JSON.stringify([reason.toLowerCase(), referenceKey(involvedObject), ...dedupe.values]);
    if (this.#recentlyRecorded.get(key) !== undefined) return true;
    this.#recentlyRecorded.set(key, true, dedupe.durationMs ?? defaultDedupeMs);
    return false;
  }

  #isWithinLimits({ involvedObject, reason }: EventRecord): boolean {
    const limit = this.#limits.get(reason);
    if (limit !== undefined && !limit.tryTake()) return false;
    const key = referenceKey(involvedObject);
    const bucket = this.#objectBuckets.get(key) ?? new TokenBucket(perObjectRate, this.#options.clock);
    this.#objectBuckets.set(key, bucket, (perObjectRate.burst / perObjectRate.perSecond) * 1000); // by then it is full again
    return bucket.tryTake();
  }

  async #send(record: EventRecord, signal: AbortSignal): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.#write(record);
      } catch (error) {
        const isOver = failures >= maxAttempts || signal.aborted || !isTransient(error);
        if (isOver) {
          this.#options.onError?.(error, record);
          return;
        }
        await this.#pause(error, { failures, signal });
      }
    }
  }

  async #pause(error: unknown, { failures, signal }: { readonly failures: number; readonly signal: AbortSignal }) {
    const { clock, random } = this.#options;
    const retryAfterMs = isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
    const ms = Math.max(retryAfterMs, backOffMs(failures, { ...retries, random }));
    await clock.sleep(ms, signal).catch(() => {}); // stopping: one more try, without waiting
  }

  /** Increments the count of the earlier Event; where that was deleted, creates a new one with the count. */
  async #write(record: EventRecord): Promise<void> {
    const { kube, clock } = this.#options;
    const key = aggregationKey(record);
    const earlier = this.#recentlySent.get(key);
    const count = (earlier?.count ?? 0) + 1;
    const lastTimestamp = rfc3339(clock.now());
    const name = earlier === undefined ? undefined : await this.#incrementCount(earlier, { count, lastTimestamp });
    const event = this.#event(record, { count, firstTimestamp: earlier?.firstTimestamp ?? lastTimestamp });
    if (name === undefined) await kube.create(builtInTypes.Event, event);
    const { namespace = "default", name: created = "" } = event.metadata;
    const sent = { namespace, name: name ?? created, count, firstTimestamp: event.firstTimestamp };
    this.#recentlySent.set(key, sent, aggregationWindowMs);
  }

  async #incrementCount(
    { name, namespace }: SentEvent,
    body: Pick<Event, "count" | "lastTimestamp">,
  ): Promise<string | undefined> {
    const patching = this.#options.kube.patch(builtInTypes.Event, { name, namespace }, { kind: "merge", body });
    return (await ignoreKubeErrors(patching, "not-found")) && name;
  }

  #event(record: EventRecord, times: Pick<Event, "count" | "firstTimestamp">): Event {
    const { involvedObject, type, reason, message } = record;
    const { clock, random, component } = this.#options;
    return {
      apiVersion: "v1",
      kind: "Event",
      // Cluster-wide objects have their events in `default`.
      metadata: {
        name: `${involvedObject.name.slice(0, 236)}.${random.hex(16)}`,
        namespace: involvedObject.namespace || "default",
      },
      involvedObject,
      type,
      reason,
      message,
      source: { component },
      reportingComponent: component,
      reportingInstance: "",
      ...times,
      lastTimestamp: rfc3339(clock.now()),
    };
  }
}

interface SentEvent {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly firstTimestamp: string;
}

function referenceKey({ uid, apiVersion, kind, namespace, name }: ObjectReference): string {
  return uid ?? JSON.stringify([apiVersion, kind, namespace, name]);
}

function aggregationKey({ involvedObject, type, reason, message }: EventRecord): string {
  return JSON.stringify([referenceKey(involvedObject), type, reason, message]);
}

/** Whether a retry may succeed. */
function isTransient(error: unknown): boolean {
  return !isKubeError(error) || isKubeError(error, "unavailable", "timeout", "too-many-requests", "server-error");
}
