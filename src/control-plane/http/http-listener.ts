import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { apiError, methodNotAllowed } from "../api/api-errors.ts";
import type { ServerCertificate } from "../certificate.ts";
import { jsonMediaType, sendReply, statusReply } from "./reply.ts";

/** Answers a request; exceptions become a `Status`. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface ListenOptions {
  /** The address to listen on. */
  readonly host: string;
  /** Zero: any free port. */
  readonly port: number;
  /** Absent: plain HTTP, only allowed on loopback. (05:CP-S1) */
  readonly certificate?: ServerCertificate | undefined;
  readonly handler: HttpHandler;
  /** Internal errors; clients only see "Internal error occurred". */
  readonly onInternalError: (error: unknown) => void;
}

export interface HttpListener {
  readonly url: string;
  readonly port: number;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** kubectl and informers reuse connections for minutes; the default of 5 s would close them. (05 §4) */
const keepAliveMs = 120_000;

/** How much of a refused body is read. */
const maxDroppedBytes = 64 * 1024 * 1024;

const loopback: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** A server that listens on all addresses is reached by this one from the same machine. */
export const loopbackOf: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/** Serves HTTPS, or HTTP on loopback. */
export async function listenHttp(options: ListenOptions): Promise<HttpListener> {
  const { host, port, certificate } = options;
  if (certificate === undefined && !loopback.has(host)) {
    throw new Error(
      `cannot serve plain HTTP on ${host}: it is allowed on loopback only; use --listen 127.0.0.1, or TLS without --plain-http`,
    );
  }
  const server: Server = certificate === undefined ? createHttpServer() : createTlsServer(certificate);
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = 0; // watches stay open
  server.on("request", (request, response) => void handleRequest(request, response, options));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(error, socket));
  server.on("connect", (_request, socket: Socket) => refuseConnection({ code: "CONNECT" }, socket));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = (server.address() as AddressInfo).port;
  const reached = loopbackOf.get(host) ?? host;
  const name = reached.includes(":") ? `[${reached}]` : reached;
  return {
    url: `${certificate === undefined ? "http" : "https"}://${name}:${bound}`,
    port: bound,
    close: () => close(server),
  };
}

function createTlsServer({ key, certificate }: ServerCertificate): Server {
  return createHttpsServer({ key, cert: certificate, minVersion: "TLSv1.2" });
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { handler, onInternalError }: ListenOptions,
): Promise<void> {
  request.on("error", () => {}); // the client disconnected
  response.on("error", () => {});
  try {
    await handler(request, response);
  } catch (error) {
    const reply = statusReply(error);
    if (reply.code === 500) onInternalError(error);
    if (!request.complete) dropRest(request);
    sendReply(response, reply);
  }
}

/**
 * Reads the rest of a body that was refused, without keeping it: a connection that is closed while data arrives is reset, and the
 * client may lose the reply. Whoever sends on and on is cut off. (05:CP-S3)
 */
function dropRest(request: IncomingMessage): void {
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDroppedBytes) request.socket.destroy();
  });
  request.resume();
}

/** Malformed HTTP also gets a Status. (05:CP-S3) */
function refuseConnection({ code }: { readonly code?: string | undefined }, socket: Socket): void {
  if (!socket.writable || code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const isLarge = code === "HPE_HEADER_OVERFLOW";
  const reply = statusReply(
    isLarge
      ? apiError("bad-request", "the headers of the request are too large")
      : code === "CONNECT"
        ? methodNotAllowed()
        : apiError("bad-request", "the request is not valid HTTP"),
  );
  const status = isLarge ? "431 Request Header Fields Too Large" : `${reply.code} Refused`;
  const body = Buffer.concat([...reply.body]);
  const head = [
    `HTTP/1.1 ${status}`,
    `content-type: ${jsonMediaType}`,
    `content-length: ${body.length}`,
    "connection: close",
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]));
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
