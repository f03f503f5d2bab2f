import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { isKubeError, type KubeError, type KubeStatus } from "../../kube/kube-error.ts";
import { apiError } from "../api/api-errors.ts";

/** A complete response. */
export interface HttpReply {
  readonly code: number;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `Warning` headers, which kubectl prints. */
  readonly warnings?: readonly string[];
}

export const jsonMediaType = "application/json";

export function jsonReply(value: unknown, { code = 200, warnings }: JsonReplyOptions = {}): HttpReply {
  const body = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));
  return { code, contentType: jsonMediaType, body, ...(warnings !== undefined && { warnings }) };
}

interface JsonReplyOptions {
  readonly code?: number;
  readonly warnings?: readonly string[];
}

export function textReply(text: string): HttpReply {
  return { code: 200, contentType: "text/plain; charset=utf-8", body: Buffer.from(text) };
}

/** Any error as a Status response; errors other than KubeError are 500. */
export function statusReply(error: unknown): HttpReply {
  const status = statusOf(error);
  const retryAfter = status.details?.retryAfterSeconds;
  return {
    ...jsonReply(status, { code: status.code }),
    ...(retryAfter !== undefined && { headers: { "retry-after": String(retryAfter) } }),
  };
}

function statusOf(error: unknown): KubeStatus {
  const known: KubeError = isKubeError(error) ? error : apiError("server-error", "Internal error occurred");
  return known.status ?? apiError(known.code, known.message).status ?? unreachable(known);
}

function unreachable(error: KubeError): never {
  throw new Error("a KubeError without a status", { cause: error });
}

export function sendReply(response: ServerResponse, reply: HttpReply): void {
  if (response.headersSent || response.destroyed) {
    response.end();
    return;
  }
  const headers: OutgoingHttpHeaders = {
    "content-type": reply.contentType,
    "content-length": reply.body.length,
    "cache-control": "no-cache, private",
    ...reply.headers,
    ...warningHeaders(reply.warnings),
  };
  response.writeHead(reply.code, headers);
  response.end(reply.body);
}

/** Warnings beyond this size are left out, because headers are limited. */
const maxWarningBytes = 4096;

function warningHeaders(warnings: readonly string[] = []): { readonly warning?: string } {
  const written: string[] = [];
  let size = 0;
  for (const warning of new Set(warnings)) {
    const header = `299 - "${quoted(warning)}"`;
    size += header.length;
    if (size > maxWarningBytes) break;
    written.push(header);
  }
  return written.length === 0 ? {} : { warning: written.join(", ") };
}

/** Headers may contain printable ASCII only; other characters become question marks. */
function quoted(text: string): string {
  return text
    .slice(0, 1000)
    .replace(/[\r\n\t]+/g, " ")
    .replace(/[^\x20-\x7e]/g, "?")
    .replace(/["\\]/g, "\\$&");
}
