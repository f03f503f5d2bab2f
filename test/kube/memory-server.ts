import type { KubeObject } from "../../src/api/object.ts";
import type { Transport, TransportRequest, TransportResponse } from "../../src/kube/transport.ts";

/** An answer of bytes that are all there. */
export function reply(status: number, body: unknown, headers: TransportResponse["headers"] = {}): TransportResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers, body: chunks(new TextEncoder().encode(text)) };
}

export async function* chunks(...all: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* all;
}

export function failure(
  code: number,
  reason: string,
  details: Readonly<Record<string, unknown>> = {},
): TransportResponse {
  const rest = { apiVersion: "v1", metadata: {}, status: "Failure", message: `it is ${reason}`, details };
  return reply(code, { kind: "Status", reason, code, ...rest });
}

/** Never answers; ends with its signal. */
export function silence({ signal }: TransportRequest): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

export interface MemoryServer {
  readonly transport: Transport;
  /** By path. */
  readonly objects: Map<string, KubeObject>;
  readonly requests: TransportRequest[];
}

/** What is answered instead, if anything. */
export type Interference = (request: TransportRequest) => TransportResponse | Promise<TransportResponse> | undefined;

/**
 * The least an API server does for writers that compete: create, get, replace with optimistic concurrency, merge
 * top-level fields. Requests take effect before an interference answers for them only if it says so itself.
 */
export function memoryServer(interfere: Interference = () => undefined): MemoryServer {
  const objects = new Map<string, KubeObject>();
  const requests: TransportRequest[] = [];
  let version = 0;
  const store = (path: string, object: KubeObject): KubeObject => {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    objects.set(path, stored);
    return stored;
  };
  const transport: Transport = async (request) => {
    requests.push(request);
    const instead = interfere(request);
    if (instead !== undefined) return instead;
    const path = request.path.split("?", 1)[0] ?? "";
    const body = request.body === undefined ? undefined : (JSON.parse(request.body) as KubeObject);
    if (request.method === "POST" && body !== undefined) {
      const target = `${path}/${body.metadata.name}`;
      return objects.has(target) ? failure(409, "AlreadyExists") : reply(201, store(target, body));
    }
    const old = objects.get(path);
    if (old === undefined) return failure(404, "NotFound");
    if (request.method === "PATCH") return reply(200, store(path, { ...old, ...body }));
    if (request.method === "PUT" && body !== undefined) {
      const isStale = body.metadata.resourceVersion !== old.metadata.resourceVersion;
      return isStale ? failure(409, "Conflict") : reply(200, store(path, body));
    }
    return reply(200, old);
  };
  return { transport, objects, requests };
}
