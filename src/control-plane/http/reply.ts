import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { isKubeError, type KubeError, type KubeStatus } from "../../kube/kube-error.ts";
import { apiError } from "../api/api-errors.ts";
import { chunksOf } from "../chunks.ts";
import { untilDrained } from "./until-drained.ts";

/** A complete response. */
export interface HttpReply {
  readonly code: number;
  readonly contentType: string;
  /** Its parts, which follow one another; read once. */
  readonly body: Iterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `Warning` headers, which kubectl prints. */
  readonly warnings?: readonly string[];
}

export const jsonMediaType = "application/json";

export function jsonReply(value: unknown, { code = 200, warnings }: JsonReplyOptions = {}): HttpReply {
  const body = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));
  return jsonPartsReply([body], { code, warnings });
}

/** JSON that is encoded already. */
export function jsonPartsReply(body: Iterable<Uint8Array>, { code = 200, warnings }: JsonReplyOptions = {}): HttpReply {
  return { code, contentType: jsonMediaType, body, ...(warnings !== undefined && { warnings }) };
}

interface JsonReplyOptions {
  readonly code?: number;
  readonly warnings?: readonly string[] | undefined;
}

export function textReply(text: string): HttpReply {
  return { code: 200, contentType: "text/plain; charset=utf-8", body: [Buffer.from(text)] };
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
  sendBody(response, reply).catch((error: Error) => response.destroy(error));
}

/** Up to this size a body is sent at once, with its length. */
const maxBytesAtOnce = 1024 * 1024;

/** A large body is encoded and sent as fast as the client reads it, and not all at once before others. (05:CP-S3) */
async function sendBody(response: ServerResponse, { code, contentType, body, ...reply }: HttpReply): Promise<void> {
  const headers: OutgoingHttpHeaders = {
    "content-type": contentType,
    "cache-control": "no-cache, private",
    ...reply.headers,
    ...warningHeaders(reply.warnings),
  };
  let isLarge = false;
  for (const chunk of chunksOf(body, maxBytesAtOnce)) {
    const isLast = chunk.length < maxBytesAtOnce;
    if (!isLarge) response.writeHead(code, isLast ? { ...headers, "content-length": chunk.length } : headers);
    if (isLast) {
      response.end(chunk);
      return;
    }
    isLarge = true;
    response.write(chunk);
    await untilDrained(response);
    await new Promise(setImmediate);
    if (response.destroyed) return;
  }
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
