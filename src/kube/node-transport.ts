import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Connection, Identity } from "./connection.ts";
import type { TransportReply, TransportRequest } from "./transport.ts";

/** A transport over sockets, and the end of them. */
export interface NodeTransport {
  (request: TransportRequest): Promise<TransportReply>;
  /** Closes the sockets that nobody uses; those in use close with their requests. */
  close(): void;
}

/** A watch holds its socket, so their number is not limited; of those at rest a few stay open. */
const keepAlive = { keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 32, scheduling: "lifo" } as const;

/** HTTP/1.1 with kept-alive sockets and the connection's credentials. */
export function nodeTransport({ server, tls, credentials }: Connection): NodeTransport {
  const base = new URL(server);
  const prefix = base.pathname.replace(/\/+$/, "");
  const agents = agentsFor(base, tls);

  const send = async (request: TransportRequest): Promise<TransportReply> => {
    const identity = await credentials.current();
    const agent = agents.of(identity);
    const path = prefix + request.path;
    return exchange({ ...request, path, headers: { ...request.headers, ...identity.headers } }, { base, agent });
  };
  const transport = async (request: TransportRequest): Promise<TransportReply> => {
    const reply = await send(request);
    if (reply.status !== 401 || !credentials.refused()) return reply;
    for await (const _ of reply.body); // read it, so that its socket is free again
    return send(request);
  };
  return Object.assign(transport, { close: agents.close });
}

type Agent = HttpAgent | HttpsAgent;

/** Sockets belong to whoever opened them: a new client certificate needs new ones. */
function agentsFor(base: URL, { ca, serverName, skipVerify }: Connection["tls"]) {
  let current: { readonly certificate: Identity["certificate"]; readonly agent: Agent } | undefined;
  const open = (certificate: Identity["certificate"]): Agent =>
    base.protocol === "http:"
      ? new HttpAgent(keepAlive)
      : new HttpsAgent({
          ...keepAlive,
          ...certificate,
          ...(ca === undefined ? {} : { ca }),
          ...(serverName === undefined ? {} : { servername: serverName }),
          rejectUnauthorized: !skipVerify,
        });
  return {
    of: ({ certificate }: Identity): Agent => {
      if (current === undefined || !isSame(current.certificate, certificate)) {
        closeIdle(current?.agent);
        current = { certificate, agent: open(certificate) };
      }
      return current.agent;
    },
    close: () => closeIdle(current?.agent),
  };
}

function isSame(a: Identity["certificate"], b: Identity["certificate"]): boolean {
  return a?.cert === b?.cert && a?.key === b?.key;
}

/** `destroy` would also cut the watches that still run. */
function closeIdle(agent: Agent | undefined): void {
  for (const sockets of Object.values(agent?.freeSockets ?? {})) for (const socket of sockets ?? []) socket.destroy();
}

interface Route {
  readonly base: URL;
  readonly agent: Agent;
}

function exchange(request: TransportRequest, route: Route): Promise<TransportReply> {
  const { method, path, headers, body, signal } = request;
  const { hostname, port, protocol } = route.base;
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const settings = {
    agent: route.agent,
    host: hostname.replace(/^\[|\]$/g, ""), // an IPv6 address stands in brackets only in URLs
    port: port || (protocol === "http:" ? 80 : 443),
    method,
    path,
    headers: { ...headers, ...length },
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent = protocol === "http:" ? httpRequest(settings) : httpsRequest(settings);
    sent.on("response", (response) => resolve(replyOf(response)));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // The server closed a resting socket just as we took it. Only what changes nothing is sent again unasked.
      const wasStale = sent.reusedSocket && error.code === "ECONNRESET" && method === "GET";
      if (wasStale && !signal.aborted) exchange(request, route).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });
}

function replyOf(response: IncomingMessage): TransportReply {
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}
