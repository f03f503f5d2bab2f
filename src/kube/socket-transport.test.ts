import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { bearerHeaders, type Credentials, fixedCredentials } from "./connection.ts";
import { type SocketTransport, socketTransport } from "./socket-transport.ts";
import { readText, type TransportResponse } from "./transport.ts";

const signal = new AbortController().signal;
setMaxListeners(0, signal);
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void, credentials?: Credentials) {
  const sockets = new Set<Socket>();
  const server: Server = createServer(handle);
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const transport = socketTransport({
    server: `http://127.0.0.1:${port}/proxied/`,
    tls: {},
    credentials: credentials ?? fixedCredentials({ headers: bearerHeaders("secret") }),
    namespace: "default",
  });
  closing.push(async () => {
    transport.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { transport, sockets };
}

const get = (transport: SocketTransport, path = "/api"): Promise<TransportResponse> =>
  transport({ method: "GET", path, headers: { accept: "application/json" }, signal });

describe("socketTransport", () => {
  it("sends method, prefix and path, headers, credentials and body, and reuses its socket", async () => {
    const seen: unknown[] = [];
    const { transport, sockets } = await serve(async (request, response) => {
      const { method, url, headers } = request;
      seen.push([method, url, headers.authorization, headers["content-type"], await readText(request)]);
      response.writeHead(201, { warning: '299 - "hm"' }).end("ünïcode");
    });
    for (let i = 0; i < 3; i++) {
      const headers = { "content-type": "application/json" };
      const response = await transport({ method: "POST", path: "/api/v1/x?y=1", headers, body: '"日本"', signal });
      expect([response.status, response.headers["warning"], await readText(response.body)]).toEqual([
        201,
        '299 - "hm"',
        "ünïcode",
      ]);
    }
    expect(seen).toEqual(
      Array(3).fill(["POST", "/proxied/api/v1/x?y=1", "Bearer secret", "application/json", '"日本"']),
    );
    expect(sockets.size).toBe(1);
  });

  it("streams the response, and closes the connection when aborted", async () => {
    const closed = new Promise<void>((resolve) => {
      void serve((_, response) => {
        response.on("close", resolve);
        response.write("one\n");
      }).then(async ({ transport }) => {
        const stop = new AbortController();
        const { body } = await transport({ method: "GET", path: "/", headers: {}, signal: stop.signal });
        const read = async () => {
          for await (const chunk of body) {
            expect(new TextDecoder().decode(chunk)).toBe("one\n");
            stop.abort();
          }
        };
        await expect(read()).rejects.toThrow();
      });
    });
    await closed;
  });

  it("rejects without a response, and when the response breaks off", async () => {
    const { transport } = await serve((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setImmediate(() => response.destroy());
    });
    const { body } = await get(transport);
    await expect(readText(body)).rejects.toThrow("aborted");
    const credentials = fixedCredentials({ headers: {} });
    const nobody = socketTransport({ server: "http://127.0.0.1:1", tls: {}, credentials, namespace: "default" });
    await expect(get(nobody)).rejects.toThrow("ECONNREFUSED");
  });

  it("retries once with new credentials when they are rejected", async () => {
    let tokens = 0;
    const credentials: Credentials = {
      current: async () => ({ headers: bearerHeaders(`token-${tokens}`) }),
      invalidate: () => {
        tokens += 1;
        return true;
      },
    };
    const seen: unknown[] = [];
    const { transport, sockets } = await serve(({ headers, url }, response) => {
      seen.push(headers.authorization);
      response.writeHead(url?.endsWith("closed") || headers.authorization !== "Bearer token-1" ? 401 : 200).end("{}");
    }, credentials);
    expect((await get(transport)).status).toBe(200);
    expect((await get(transport, "/closed")).status).toBe(401);
    expect(seen).toEqual(["Bearer token-0", "Bearer token-1", "Bearer token-1", "Bearer token-2"]);
    expect(sockets.size).toBeLessThan(4);
  });

  it("retries when an idle socket was closed, but only requests that change nothing", async () => {
    const seen: unknown[] = [];
    const { transport } = await serve(({ method, socket }, response) => {
      seen.push(method);
      const isFirst = (socket as Socket & { used?: boolean }).used === undefined;
      (socket as Socket & { used?: boolean }).used = true;
      if (isFirst) response.end("{}");
      else socket.resetAndDestroy(); // a request on a reused socket
    });
    for (let i = 0; i < 2; i++) await readText((await get(transport)).body);
    expect(seen).toEqual(["GET", "GET", "GET"]);
    const post = transport({ method: "POST", path: "/", headers: {}, body: "{}", signal });
    await expect(post).rejects.toThrow("ECONNRESET");
  });

  it("opens a limited number of sockets for requests, and one more for each stream", async () => {
    const { transport, sockets } = await serve((request, response) => {
      if (request.url?.includes("watch")) response.write("one\n");
      else setImmediate(() => response.end("{}"));
    });
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const watch = { method: "GET", path: "/watch", headers: {}, isStream: true, signal: stop.signal } as const;
    for (let i = 0; i < 40; i++) await transport(watch);
    expect(sockets.size).toBe(40);
    await Promise.all(Array.from({ length: 200 }, async () => readText((await get(transport)).body)));
    expect(sockets.size).toBeLessThanOrEqual(40 + 32);
    stop.abort();
  });
});
