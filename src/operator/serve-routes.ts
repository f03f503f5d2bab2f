import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorText } from "../util/error-text.ts";

export interface RouteReply {
  readonly status: number;
  readonly contentType?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string | AsyncIterable<string>;
}

/** What a handler may want to know of a request beside its URL. */
interface RouteRequest {
  /** The header of that name. */
  readonly authorization?: string | undefined;
}

/** Handlers by path; a path ending in `/` also serves the paths below it. */
export type Routes = Readonly<Record<string, (url: URL, request: RouteRequest) => RouteReply | Promise<RouteReply>>>;

export interface ServeRoutesOptions {
  readonly host?: string | undefined;
  /** Zero picks a free port. */
  readonly port: number;
  readonly routes: Routes;
  readonly onError: (error: unknown) => void;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A small HTTP server for Prometheus, kubelet probes and profiling. (03 §6.5) */
export async function serveRoutes({ host, port, routes, onError }: ServeRoutesOptions): Promise<RunningServer> {
  const server = createServer((request, response) => {
    sendReply(request, response, routes).catch((error: unknown) => {
      onError(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function sendReply(request: IncomingMessage, response: ServerResponse, routes: Routes): Promise<void> {
  const { status, contentType = "text/plain; charset=utf-8", headers, body } = await replyTo(request, routes);
  response.writeHead(status, { "content-type": contentType, ...headers });
  if (request.method === "HEAD" || typeof body === "string") {
    response.end(request.method === "HEAD" ? "" : body);
    return;
  }
  try {
    await pipeline(Readable.from(body), response);
  } catch (error) {
    if (!response.destroyed || (error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}

async function replyTo({ method, url = "/", headers }: IncomingMessage, routes: Routes): Promise<RouteReply> {
  if (method !== "GET" && method !== "HEAD") return { status: 405, body: "method not allowed\n" };
  const asked = new URL(url, "http://localhost");
  const route = routeOf(asked.pathname, routes);
  if (route === undefined) return { status: 404, body: "not found\n" };
  try {
    return await route(asked, { authorization: headers.authorization });
  } catch (error) {
    return { status: 500, body: `${errorText(error)}\n` };
  }
}

function routeOf(path: string, routes: Routes): Routes[string] | undefined {
  if (Object.hasOwn(routes, path)) return routes[path];
  for (let end = path.lastIndexOf("/", path.length - 2); end >= 0; end = path.lastIndexOf("/", end - 1)) {
    const above = path.slice(0, end + 1);
    if (Object.hasOwn(routes, above)) return routes[above];
    if (end === 0) return undefined;
  }
  return undefined;
}
