/** One HTTP request to an API server; host and credentials are the transport's. */
export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
  /** Whether the answer goes on for as long as somebody listens. */
  readonly isStream?: boolean | undefined;
  /** Ends the request, and the answer's body if it is still coming. */
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Must be read to its end, or returned: it holds a connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Carries requests. Rejects only where no answer came. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** All values of a header that may come several times. */
export function headerValues({ headers }: TransportResponse, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}
