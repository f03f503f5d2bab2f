import type { Clock } from "../util/clock.ts";
import type { Random } from "../util/random.ts";
import { backOffMs } from "./back-off.ts";
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./error.ts";
import type { Event, EventType, ObjectReference } from "./event.ts";
import { Recently } from "./recently.ts";
import { builtIn } from "./resources.ts";
import { type Rate, TokenBucket } from "./token-bucket.ts";

/** Something a person should read with `kubectl describe`. */
export interface Happening {
  readonly about: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  /** Told once in a while for the same values (with the reason and the object); without values each time. (03 §6.2) */
  readonly dedupe?: { readonly values: readonly string[]; readonly forMs?: number } | undefined;
}

export interface EventRecorderOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Who reports. */
  readonly component: string;
  /** Reasons that are told only so often, over all objects. (02:L-21) */
  readonly limits?: Readonly<Record<string, Rate>>;
  /** An event was lost. */
  readonly onError?: (error: unknown, happening: Happening) => void;
}

const defaultDedupeMs = 2 * 60_000;
/** The same happening again within this time raises the count of its event instead of making another. */
const repeatMs = 10 * 60_000;
/** How much one object may say, whatever happens to it: as Go's client lets it. */
const perObject: Rate = { perSecond: 1 / 300, burst: 25 };
/** Beyond this the cluster is not taking events, and old ones say less than new ones. */
const maxWaiting = 1_000;
const attempts = 4;
const retries = { baseMs: 500, maxMs: 10_000 };

/** Writes Events, in the background and never too many. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #told: Recently<true>;
  readonly #sent: Recently<Sent>;
  readonly #objects: Recently<TokenBucket>;
  readonly #limits: ReadonlyMap<string, TokenBucket>;
  readonly #waiting: Happening[] = [];
  #wake: () => void = () => {};

  constructor(options: EventRecorderOptions) {
    const { clock, limits = {} } = options;
    this.#options = options;
    this.#told = new Recently(clock);
    this.#sent = new Recently(clock);
    this.#objects = new Recently(clock);
    this.#limits = new Map(Object.entries(limits).map(([reason, rate]) => [reason, new TokenBucket(rate, clock)]));
  }

  /** Takes note; says whether it will be told. */
  record(happening: Happening): boolean {
    if (this.#wasTold(happening) || !this.#mayTell(happening)) return false;
    if (this.#waiting.length >= maxWaiting) this.#waiting.shift();
    this.#waiting.push(happening);
    this.#wake();
    return true;
  }

  /** Sends what is recorded until the signal aborts, and what waits by then once. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        await this.#send(next, signal);
      }
      await this.#moreOrEnd(signal);
    }
  }

  #moreOrEnd(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#waiting.length > 0) return Promise.resolve();
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

  /** The object is part of the key: two objects of one name are two stories. (03 §6.2, upstream's defect fixed) */
  #wasTold({ about, reason, dedupe }: Happening): boolean {
    if (dedupe === undefined || dedupe.values.length === 0) return false;
    const key = JSON.stringify([reason.toLowerCase(), identity(about), ...dedupe.values]);
    if (this.#told.get(key) !== undefined) return true;
    this.#told.set(key, true, dedupe.forMs ?? defaultDedupeMs);
    return false;
  }

  #mayTell({ about, reason }: Happening): boolean {
    const limit = this.#limits.get(reason);
    if (limit !== undefined && !limit.tryTake()) return false;
    const key = identity(about);
    const own = this.#objects.get(key) ?? new TokenBucket(perObject, this.#options.clock);
    this.#objects.set(key, own, (perObject.burst / perObject.perSecond) * 1000); // by then it is full again
    return own.tryTake();
  }

  async #send(happening: Happening, signal: AbortSignal): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.#write(happening);
      } catch (error) {
        const isOver = failures >= attempts || signal.aborted || !mayPass(error);
        if (isOver) {
          this.#options.onError?.(error, happening);
          return;
        }
        await this.#pause(error, { failures, signal });
      }
    }
  }

  async #pause(error: unknown, { failures, signal }: { readonly failures: number; readonly signal: AbortSignal }) {
    const { clock, random } = this.#options;
    const askedMs = isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
    const ms = Math.max(askedMs, backOffMs(failures, { ...retries, random }));
    await clock.sleep(ms, signal).catch(() => {}); // told to stop: one more try, without waiting
  }

  /** A repetition raises the count of its event; where that one is gone by now, a new event takes the count over. */
  async #write(happening: Happening): Promise<void> {
    const { kube, clock } = this.#options;
    const key = storyOf(happening);
    const earlier = this.#sent.get(key);
    const count = (earlier?.count ?? 0) + 1;
    const lastTimestamp = wholeSeconds(clock.now());
    const name = earlier === undefined ? undefined : await this.#raise(earlier, { count, lastTimestamp });
    const event = this.#event(happening, { count, firstTimestamp: earlier?.firstTimestamp ?? lastTimestamp });
    if (name === undefined) await kube.create(builtIn.Event, event);
    const { namespace = "default", name: created = "" } = event.metadata;
    this.#sent.set(key, { namespace, name: name ?? created, count, firstTimestamp: event.firstTimestamp }, repeatMs);
  }

  async #raise({ name, namespace }: Sent, body: Pick<Event, "count" | "lastTimestamp">): Promise<string | undefined> {
    try {
      await this.#options.kube.patch(builtIn.Event, { name, namespace }, { kind: "merge", body });
      return name;
    } catch (error) {
      if (isKubeError(error, "not-found")) return undefined;
      throw error;
    }
  }

  #event({ about, type, reason, message }: Happening, times: Pick<Event, "count" | "firstTimestamp">): Event {
    const { clock, random, component } = this.#options;
    return {
      apiVersion: "v1",
      kind: "Event",
      // Cluster-wide objects have their events in `default`.
      metadata: { name: `${about.name.slice(0, 236)}.${random.hex(16)}`, namespace: about.namespace || "default" },
      involvedObject: about,
      type,
      reason,
      message,
      source: { component },
      reportingComponent: component,
      reportingInstance: "",
      ...times,
      lastTimestamp: wholeSeconds(clock.now()),
    };
  }
}

interface Sent {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly firstTimestamp: string;
}

function identity({ uid, apiVersion, kind, namespace, name }: ObjectReference): string {
  return uid ?? JSON.stringify([apiVersion, kind, namespace, name]);
}

function storyOf({ about, type, reason, message }: Happening): string {
  return JSON.stringify([identity(about), type, reason, message]);
}

/** What time may heal; an event the server does not want it will not want later either. */
function mayPass(error: unknown): boolean {
  return !isKubeError(error) || isKubeError(error, "unavailable", "timeout", "too-many-requests", "server-error");
}

/** RFC 3339 as Kubernetes writes it. */
function wholeSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
