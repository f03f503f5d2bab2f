import type { Random } from "../../../src/util/random.ts";

/** What can go wrong with a call. (05:CP-T4) */
const callFaults = [
  /** 409, the write refused. */
  "conflict",
  /** 429 with Retry-After, nothing done. */
  "too-many-requests",
  /** 500, nothing done. */
  "server-error",
  /** The write took effect, and its answer was lost. */
  "lost-answer",
] as const;
export type CallFault = (typeof callFaults)[number];

/** What can go wrong with a watch. */
const watchFaults = [
  /** The stream ends, as a connection does that is closed. */
  "cut",
  /** 410: history is gone, the client has to list again. */
  "expired",
] as const;
type WatchFault = (typeof watchFaults)[number];

/** How often things go wrong: chances from 0 to 1, each 0 unless given. */
export interface ClientFaultRates {
  readonly calls?: Partial<Readonly<Record<CallFault, number>>> | undefined;
  /** Instead of an event. */
  readonly watches?: Partial<Readonly<Record<WatchFault, number>>> | undefined;
  /** How late an event may arrive, for all kinds or by kind. Order is kept within a watch, not between watches. */
  readonly watchDelayMs?: number | Readonly<Record<string, number>> | undefined;
  /** A list takes up to so long. */
  readonly listDelayMs?: number | undefined;
  /** Any call takes up to so long: half of it before it takes effect, half until its answer arrives. */
  readonly callDelayMs?: number | undefined;
  /** What a 429 asks to wait: up to so many seconds. */
  readonly retryAfterSeconds?: number | undefined;
}

export interface FaultPlanOptions {
  readonly random: Random;
  readonly rates?: ClientFaultRates | undefined;
  /** The process dies at this call, counted from one. */
  readonly crashAtCall?: number | undefined;
}

/** Whether the crash comes before or after the call took effect. */
export type CrashMoment = "before" | "after";

/** Faults of one watch, drawn from its own random stream. */
export interface WatchFaultPlan {
  /** What happens instead of the next event. */
  next(): WatchFault | undefined;
  delayMs(): number;
}

const defaultRetryAfterSeconds = 5;

/**
 * What goes wrong, and when: drawn from a seed in the order of the calls, so that the same calls meet the same faults
 * on every run. (05:CP-T3, CP-T4)
 */
export class FaultPlan {
  readonly #random: Random;
  #rates: ClientFaultRates;
  readonly #crashAtCall: number | undefined;
  #calls = 0;
  #watches = 0;

  constructor({ random, rates = {}, crashAtCall }: FaultPlanOptions) {
    this.#random = random;
    this.#rates = rates;
    this.#crashAtCall = crashAtCall;
  }

  /** How many calls there were. */
  get calls(): number {
    return this.#calls;
  }

  /** Changes the rates, of open watches as well. */
  setRates(rates: ClientFaultRates): void {
    this.#rates = rates;
  }

  /** Every call counts, of whatever kind. */
  crashNow(): CrashMoment | undefined {
    if (++this.#calls !== this.#crashAtCall) return undefined;
    return this.#random.fork("crash").pick(["before", "after"]);
  }

  /** Reads cannot conflict, and losing their answer is a server error to them. */
  forCall({ isWrite }: { readonly isWrite: boolean }): CallFault | undefined {
    const { calls = {} } = this.#rates;
    const known = isWrite ? callFaults : (["too-many-requests", "server-error"] as const);
    return drawFault(this.#random, known, calls);
  }

  forWatch(kind: string): WatchFaultPlan {
    const random = this.#random.fork(`watch-${this.#watches++}`);
    return {
      next: () => drawFault(random, watchFaults, this.#rates.watches ?? {}),
      delayMs: () => {
        const { watchDelayMs = 0 } = this.#rates;
        return drawUpTo(random, typeof watchDelayMs === "number" ? watchDelayMs : (watchDelayMs[kind] ?? 0));
      },
    };
  }

  listDelayMs(): number {
    return drawUpTo(this.#random, this.#rates.listDelayMs ?? 0);
  }

  callDelayMs(): number {
    return drawUpTo(this.#random, this.#rates.callDelayMs ?? 0);
  }

  retryAfterSeconds(): number {
    return 1 + this.#random.int(Math.max(1, this.#rates.retryAfterSeconds ?? defaultRetryAfterSeconds));
  }
}

/** One random draw for all faults. */
function drawFault<Fault extends string>(
  random: Random,
  faults: readonly Fault[],
  rates: Partial<Readonly<Record<Fault, number>>>,
): Fault | undefined {
  let left = random.next();
  for (const fault of faults) {
    left -= rates[fault] ?? 0;
    if (left < 0) return fault;
  }
  return undefined;
}

function drawUpTo(random: Random, ms: number): number {
  return ms > 0 ? random.int(Math.floor(ms) + 1) : 0;
}
