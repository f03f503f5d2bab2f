import type { Clock } from "../util/clock.ts";
import { errorMessage } from "../util/error-text.ts";
import { Semaphore } from "../util/semaphore.ts";
import type { ResourceType } from "./client.ts";
import { KubeError } from "./kube-error.ts";
import { errorFromResponse } from "./status-error.ts";
import {
  headerValues,
  maxConcurrentCalls,
  readText,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "./transport.ts";
import { warningTexts } from "./warnings.ts";

export interface HttpClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** `karpenter/<version>`. (03 §6.5) */
  readonly userAgent: string;
  /** Deadline of a response; for a watch, of its headers. */
  readonly timeoutMs?: number;
  /** Called with warnings of the server, such as about a deprecated version. */
  readonly onWarning?: (text: string) => void;
  /** Called after every request, for metrics. */
  readonly onRequest?: (outcome: RequestOutcome) => void;
  /** Awaited before each request and before its deadline starts: client-side rate limit. (03 §6.4: --kube-client-qps) */
  readonly waitForRateLimit?: (signal?: AbortSignal) => Promise<void>;
}

/** An API request before encoding. */
export interface ApiRequest {
  readonly type: ResourceType;
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly subresource?: string | undefined;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
}

/** What metrics record of a request. */
export interface RequestOutcome {
  readonly type: ResourceType;
  readonly method: TransportRequest["method"];
  readonly subresource: string | undefined;
  readonly isWatch: boolean;
  /** Absent if no response arrived. */
  readonly httpStatus: number | undefined;
  readonly durationMs: number;
}

const defaultTimeoutMs = 30_000;

/** Sends API requests as JSON with a deadline; non-2xx responses become KubeErrors. */
export class RestClient {
  readonly #options: HttpClientOptions;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** Calls wait here and not in the socket pool, where their deadline would run. */
  readonly #calls = new Semaphore(maxConcurrentCalls);

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  }

  /** The complete response body. */
  async json(request: ApiRequest, signal?: AbortSignal): Promise<unknown> {
    await this.#options.waitForRateLimit?.(signal);
    const release = await this.#calls.acquire(signal);
    const deadline = this.#deadline(request, signal);
    try {
      const response = await this.#open(request, deadline, { isWatch: false });
      const body = parseJsonOrText(await readText(response.body));
      if (response.status >= 300) throw responseError(request, response, body);
      if (typeof body === "string")
        throw new KubeError("server-error", `${describeRequest(request)}: the response is not JSON`);
      return body;
    } catch (error) {
      throw deadline.toKubeError(error);
    } finally {
      deadline.cancel();
      release();
    }
  }

  /** The response as a stream; the deadline covers only the response headers. */
  async stream(request: ApiRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    await this.#options.waitForRateLimit?.(signal);
    const deadline = this.#deadline(request, signal);
    try {
      const response = await this.#open(request, deadline, { isWatch: true });
      if (response.status >= 300)
        throw responseError(request, response, parseJsonOrText(await readText(response.body)));
      return withKubeErrors(response.body, deadline);
    } catch (error) {
      throw deadline.toKubeError(error);
    } finally {
      deadline.cancel();
    }
  }

  async #open(
    request: ApiRequest,
    { signal }: Deadline,
    { isWatch }: Pick<RequestOutcome, "isWatch">,
  ): Promise<TransportResponse> {
    const { type, method, subresource } = request;
    const startedAt = this.#clock.now();
    let httpStatus: number | undefined;
    try {
      const response = await this.#options.transport({ ...this.#request(request), isStream: isWatch, signal });
      httpStatus = response.status;
      if (this.#options.onWarning !== undefined) {
        for (const text of warningTexts(headerValues(response, "warning"))) this.#options.onWarning(text);
      }
      return response;
    } finally {
      const durationMs = this.#clock.now() - startedAt;
      this.#options.onRequest?.({ type, method, subresource, isWatch, httpStatus, durationMs });
    }
  }

  #request({ method, path, body, contentType = "application/json" }: ApiRequest): Omit<TransportRequest, "signal"> {
    const headers = { accept: "application/json", "user-agent": this.#options.userAgent };
    if (body === undefined) return { method, path, headers };
    return { method, path, headers: { ...headers, "content-type": contentType }, body: JSON.stringify(body) };
  }

  #deadline(request: ApiRequest, parentSignal?: AbortSignal): Deadline {
    return startDeadline({ clock: this.#clock, ms: this.#timeoutMs, what: describeRequest(request), parentSignal });
  }
}

interface Deadline {
  readonly signal: AbortSignal;
  readonly cancel: () => void;
  /** Turns any failure of the request into a KubeError. */
  readonly toKubeError: (error: unknown) => unknown;
}

interface DeadlineOptions {
  readonly clock: Clock;
  readonly ms: number;
  readonly what: string;
  readonly parentSignal: AbortSignal | undefined;
}

/** Aborts after the time, or when the parent signal aborts. */
function startDeadline({ clock, ms, what, parentSignal }: DeadlineOptions): Deadline {
  const timeout = new AbortController();
  const timer = clock.setTimer(ms, () => timeout.abort());
  const toKubeError = (cause: unknown): unknown => {
    if (cause instanceof KubeError) return cause;
    if (timeout.signal.aborted)
      return new KubeError("timeout", `${what}: no response within ${ms / 1000} s`, { cause });
    return new KubeError("unavailable", `${what}: ${errorMessage(cause)}`, {
      cause,
    });
  };
  const signal = parentSignal === undefined ? timeout.signal : AbortSignal.any([parentSignal, timeout.signal]);
  return { signal, cancel: () => timer.cancel(), toKubeError };
}

/** The body; a connection that breaks becomes a KubeError. */
async function* withKubeErrors(body: AsyncIterable<Uint8Array>, { toKubeError }: Deadline): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw toKubeError(error);
  }
}

function responseError(request: ApiRequest, response: TransportResponse, body: unknown): KubeError {
  const seconds = Number(headerValues(response, "retry-after")[0]);
  const retryAfterSeconds = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
  return errorFromResponse({ httpStatus: response.status, body, retryAfterSeconds, what: describeRequest(request) });
}

function describeRequest({ method, path }: ApiRequest): string {
  return `${method} ${path.split("?", 1)[0]}`;
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
