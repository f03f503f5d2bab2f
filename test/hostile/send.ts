import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { HostileRequest } from "./hostile-requests.ts";

export interface Target {
  readonly port: number;
  readonly token: string;
}

/** How many watches that are not read are open at a time; the oldest is given up for a new one. */
const maxUnread = 40;

/** Sends hostile requests over a few connections, and keeps some responses open without reading them. */
export class HostileClient {
  readonly #target: Target;
  readonly #agent: Agent;
  readonly #unread: ClientRequest[] = [];

  constructor(target: Target, { connections }: { readonly connections: number }) {
    this.#target = target;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** The status of the response; zero if the connection was lost. */
  send(hostile: HostileRequest): Promise<number> {
    return new Promise((resolve) => {
      const { port, token } = this.#target;
      const { method, path, body = "", type = "application/json", isUnread = false } = hostile;
      const length = Buffer.byteLength(body);
      const request = httpRequest({
        ...{ host: "127.0.0.1", port, method, path, agent: isUnread ? false : this.#agent },
        headers: { authorization: `Bearer ${token}`, "content-type": type, "content-length": String(length) },
      });
      request.on("error", () => resolve(0));
      request.on("response", (response) => {
        if (isUnread) this.#keepUnread(request, response);
        else response.resume();
        if (isUnread) resolve(response.statusCode ?? 0);
        else response.on("end", () => resolve(response.statusCode ?? 0)).on("error", () => resolve(0));
      });
      request.end(body);
    });
  }

  #keepUnread(request: ClientRequest, response: IncomingMessage): void {
    response.pause();
    response.on("error", () => {});
    this.#unread.push(request);
    if (this.#unread.length > maxUnread) this.#unread.shift()?.destroy();
  }

  close(): void {
    for (const request of this.#unread) request.destroy();
    this.#agent.destroy();
  }
}
