/** One HTTP request to an API server; the transport adds host and credentials. */
export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
  /** Whether the response is a stream that stays open. */
  readonly isStream?: boolean | undefined;
  /** Aborts the request, and the response body if it is still being received. */
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Must be read to its end or returned, because it holds a connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** How many calls, as opposed to streams, are open at a time: a hundred TLS handshakes at once would block the process. */
export const maxConcurrentCalls = 32;

/** Sends requests. Rejects only where no response arrived. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** All values of a header that may be repeated. */
export function headerValues({ headers }: TransportResponse, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}
