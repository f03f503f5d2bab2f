import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { ApiServer } from "../../src/control-plane/api/server.ts";
import type { LogSource } from "../../src/control-plane/api/subresources/log.ts";
import { type ServedApi, serveApi } from "../../src/control-plane/http/serve-api.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import { systemClock } from "../../src/util/clock.ts";
import { apiOn } from "../world/api-world.ts";

interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined when it is no JSON. */
  readonly body: unknown;
}

interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Instead of the token of the server. */
  readonly token?: string;
}

/** An API server on a loopback socket, with a small client of its own. */
export interface Served extends ServedApi {
  readonly api: ApiServer;
  readonly faults: unknown[];
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** A response that goes on; the caller reads and destroys it. */
  open(path: string, headers?: Readonly<Record<string, string>>): Promise<IncomingMessage>;
}

export interface ServedOptions {
  readonly withCrds?: boolean;
  readonly logs?: LogSource;
}

export async function startServed({ withCrds = false, logs }: ServedOptions = {}): Promise<Served> {
  const { api } = apiOn(systemClock(), { seed: "served", logs });
  const faults: unknown[] = [];
  const served = await serveApi(api, {
    token: "token",
    host: "127.0.0.1",
    port: 0,
    onInternalError: (error) => faults.push(error),
  });
  if (withCrds) await installCrds(api, "all");
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const begin = (method: string, path: string, { headers = {}, body, token = served.token }: AskOptions) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const all = {
        ...(token !== "" && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }), // Node does not say it for DELETE
        ...headers,
      };
      const request = httpRequest({ agent, port: served.port, host: "127.0.0.1", method, path, headers: all }, resolve);
      request.on("error", reject);
      request.end(body);
    });
  return {
    ...served,
    api,
    faults,
    ask: async (method, path, options = {}) => {
      const response = await begin(method, path, options);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString("utf8");
      return { code: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) };
    },
    open: (path, headers = {}) => begin("GET", path, { headers }),
    close: async () => {
      agent.destroy();
      await served.close();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
