import type { Clock } from "../util/clock.ts";
import type { ResourceType } from "./client.ts";
import { KubeError } from "./error.ts";
import { refusalError } from "./status-error.ts";
import { headerValues, type Transport, type TransportReply, type TransportRequest, textOf } from "./transport.ts";
import { warningTexts } from "./warnings.ts";

export interface HttpClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** `karpenter/<version>`. (03 §6.5) */
  readonly userAgent: string;
  /** How long an answer may take, and how long a watch may take to open. */
  readonly timeoutMs?: number;
  /** What the server wants people to know, such as that a version is deprecated. */
  readonly onWarning?: (text: string) => void;
  /** Told of every request, for metrics. */
  readonly onRequest?: (outcome: RequestOutcome) => void;
  /** Waited for before each request: the client's own rate limit. (03 §7: --kube-client-qps) */
  readonly admit?: () => Promise<void>;
}

/** One request of the API, before it is bytes. */
export interface Call {
  readonly type: ResourceType;
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly subresource?: string | undefined;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
}

/** What metrics want to know of a request. */
export interface RequestOutcome {
  readonly type: ResourceType;
  readonly method: TransportRequest["method"];
  readonly subresource: string | undefined;
  readonly isWatch: boolean;
  /** Absent where no answer came. */
  readonly httpStatus: number | undefined;
  readonly durationMs: number;
}

const defaultTimeoutMs = 30_000;

/** Requests and answers as JSON, refusals as errors, on the clock. */
export class Exchange {
  readonly #options: HttpClientOptions;
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  }

  /** The whole answer. */
  async json(call: Call): Promise<unknown> {
    const deadline = this.#deadline(call);
    try {
      const reply = await this.#open(call, deadline);
      const body = parsed(await textOf(reply.body));
      if (reply.status >= 300) throw refused(call, reply, body);
      if (typeof body === "string") throw new KubeError("server-error", `${what(call)}: the answer is not JSON`);
      return body;
    } catch (error) {
      throw deadline.explain(error);
    } finally {
      deadline.cancel();
    }
  }

  /** The answer as it arrives; only its beginning is waited for with a deadline. */
  async stream(call: Call, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const deadline = this.#deadline(call, signal);
    try {
      const reply = await this.#open(call, deadline);
      if (reply.status >= 300) throw refused(call, reply, parsed(await textOf(reply.body)));
      return explained(reply.body, deadline);
    } catch (error) {
      throw deadline.explain(error);
    } finally {
      deadline.cancel();
    }
  }

  async #open(call: Call, { signal, isWatch }: Deadline): Promise<TransportReply> {
    const { type, method, subresource } = call;
    await this.#options.admit?.();
    const startedAt = this.#clock.now();
    let httpStatus: number | undefined;
    try {
      const reply = await this.#options.transport({ ...this.#request(call), isStream: isWatch, signal });
      httpStatus = reply.status;
      if (this.#options.onWarning !== undefined) {
        for (const text of warningTexts(headerValues(reply, "warning"))) this.#options.onWarning(text);
      }
      return reply;
    } finally {
      const durationMs = this.#clock.now() - startedAt;
      this.#options.onRequest?.({ type, method, subresource, isWatch, httpStatus, durationMs });
    }
  }

  #request({ method, path, body, contentType = "application/json" }: Call): Omit<TransportRequest, "signal"> {
    const headers = { accept: "application/json", "user-agent": this.#options.userAgent };
    if (body === undefined) return { method, path, headers };
    return { method, path, headers: { ...headers, "content-type": contentType }, body: JSON.stringify(body) };
  }

  #deadline(call: Call, outer?: AbortSignal): Deadline {
    return startDeadline({ clock: this.#clock, ms: this.#timeoutMs, what: what(call), outer });
  }
}

interface Deadline {
  readonly signal: AbortSignal;
  readonly isWatch: boolean;
  readonly cancel: () => void;
  /** What went wrong, as callers know it. */
  readonly explain: (error: unknown) => unknown;
}

interface DeadlineOptions {
  readonly clock: Clock;
  readonly ms: number;
  readonly what: string;
  readonly outer: AbortSignal | undefined;
}

/** Aborts when the time is over, or when the outer signal does. */
function startDeadline({ clock, ms, what, outer }: DeadlineOptions): Deadline {
  const late = new AbortController();
  const timer = clock.setTimer(ms, () => late.abort());
  const explain = (cause: unknown): unknown => {
    if (cause instanceof KubeError) return cause;
    if (late.signal.aborted) return new KubeError("timeout", `${what}: no answer within ${ms / 1000} s`, { cause });
    return new KubeError("unavailable", `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  };
  const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]);
  return { signal, isWatch: outer !== undefined, cancel: () => timer.cancel(), explain };
}

/** A body whose breaking off is an error callers know. */
async function* explained(body: AsyncIterable<Uint8Array>, { explain }: Deadline): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw explain(error);
  }
}

function refused(call: Call, reply: TransportReply, body: unknown): KubeError {
  const seconds = Number(headerValues(reply, "retry-after")[0]);
  const retryAfterSeconds = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
  return refusalError({ httpStatus: reply.status, body, retryAfterSeconds, what: what(call) });
}

function what({ method, path }: Call): string {
  return `${method} ${path.split("?", 1)[0]}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
