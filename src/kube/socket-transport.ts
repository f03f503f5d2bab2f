import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { createSecureContext } from "node:tls";
import type { ClientIdentity, Connection } from "./connection.ts";
import { maxConcurrentCalls, type TransportRequest, type TransportResponse } from "./transport.ts";

/** A transport over HTTP sockets that can be closed. */
export interface SocketTransport {
  (request: TransportRequest): Promise<TransportResponse>;
  /** Closes idle sockets; those in use close with their requests. */
  close(): void;
}

const keepAlive = { keepAlive: true, keepAliveMsecs: 30_000, scheduling: "lifo" } as const;
/** A watch holds its socket, so streams are not limited. */
const socketLimits = { calls: { maxSockets: maxConcurrentCalls }, streams: {} } as const;

/** HTTP/1.1 with kept-alive sockets and the connection's credentials. */
export function socketTransport({ server, tls, credentials }: Connection): SocketTransport {
  const base = new URL(server);
  const prefix = base.pathname.replace(/\/+$/, "");
  const agents = agentsFor(base, tls);

  const send = async (request: TransportRequest, identity: ClientIdentity): Promise<TransportResponse> => {
    const agent = agents.of(identity)[request.isStream ? "streams" : "calls"];
    const path = prefix + request.path;
    return sendRequest({ ...request, path, headers: { ...request.headers, ...identity.headers } }, { base, agent });
  };
  const transport = async (request: TransportRequest): Promise<TransportResponse> => {
    const identity = await credentials.current();
    const response = await send(request, identity);
    if (response.status !== 401 || !credentials.invalidate(identity)) return response;
    for await (const _ of response.body); // read to the end, which frees the socket
    return send(request, await credentials.current());
  };
  return Object.assign(transport, { close: agents.close });
}

type Agent = HttpAgent | HttpsAgent;
type Agents = Readonly<Record<keyof typeof socketLimits, Agent>>;

/** Connections belong to a client certificate: a new certificate needs new agents. */
function agentsFor(base: URL, { ca, serverName, skipVerify }: Connection["tls"]) {
  let current: { readonly certificate: ClientIdentity["certificate"]; readonly agents: Agents } | undefined;
  const open = (certificate: ClientIdentity["certificate"]): Agents => {
    if (base.protocol === "http:") return agentsBy((limit) => new HttpAgent({ ...keepAlive, ...limit }));
    // Created once, because it takes a millisecond per socket.
    const secureContext = createSecureContext({ ...certificate, ...(ca === undefined ? {} : { ca }) });
    const servername = serverName === undefined ? {} : { servername: serverName };
    const secured = { ...keepAlive, secureContext, ...servername, rejectUnauthorized: !skipVerify };
    return agentsBy((limit) => new HttpsAgent({ ...secured, ...limit }));
  };
  return {
    of: ({ certificate }: ClientIdentity): Agents => {
      if (current === undefined || !isSame(current.certificate, certificate)) {
        closeIdle(current?.agents);
        current = { certificate, agents: open(certificate) };
      }
      return current.agents;
    },
    close: () => closeIdle(current?.agents),
  };
}

function agentsBy(make: (limit: { readonly maxSockets?: number }) => Agent): Agents {
  return { calls: make(socketLimits.calls), streams: make(socketLimits.streams) };
}

function isSame(a: ClientIdentity["certificate"], b: ClientIdentity["certificate"]): boolean {
  return a?.cert === b?.cert && a?.key === b?.key;
}

/** `destroy` would also close running watches. */
function closeIdle(agents: Agents | undefined): void {
  for (const { freeSockets } of Object.values(agents ?? {})) {
    for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}

interface SocketRoute {
  readonly base: URL;
  readonly agent: Agent;
}

function sendRequest(request: TransportRequest, route: SocketRoute): Promise<TransportResponse> {
  const { method, path, headers, body, signal } = request;
  const { hostname, port, protocol } = route.base;
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const settings = {
    agent: route.agent,
    host: hostname.replace(/^\[|\]$/g, ""), // only URLs have brackets around IPv6 addresses
    port: port || (protocol === "http:" ? 80 : 443),
    method,
    path,
    headers: { ...headers, ...length },
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent = protocol === "http:" ? httpRequest(settings) : httpsRequest(settings);
    sent.on("response", (response) => resolve(responseOf(response)));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // The server closed an idle socket just as we reused it. Only GET is retried without asking.
      const wasStale = sent.reusedSocket && error.code === "ECONNRESET" && method === "GET";
      if (wasStale && !signal.aborted) sendRequest(request, route).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });
}

function responseOf(response: IncomingMessage): TransportResponse {
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}
