import type { ServerResponse } from "node:http";
import type { KubeObject } from "../../api/object.ts";
import { badRequest } from "../api/failures.ts";
import type { Key } from "../api/request.ts";
import type { ApiServer } from "../api/server.ts";
import type { ServedKind } from "../kinds/kind.ts";
import { listAt, textAt } from "../tables/read.ts";
import { logRequest } from "./query.ts";

interface LogOptions {
  readonly api: ApiServer;
  readonly kind: ServedKind;
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

/** The output of one container as plain text, for as long as it comes. */
export async function streamLog(key: Key, { api, kind, query, response }: LogOptions): Promise<void> {
  const { object } = await api.get(kind, key);
  const container = containerOf(object, query.get("container") ?? "");
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const lines = api.log(key, { ...logRequest(query), container, signal: gone.signal });
  response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-cache, private" });
  response.flushHeaders();
  for await (const line of lines) {
    if (response.destroyed) break;
    response.write(line);
  }
  response.end();
}

/** Where there are several, one has to be named. */
function containerOf(pod: KubeObject, asked: string): string {
  const names = [...listAt(pod, "spec", "initContainers"), ...listAt(pod, "spec", "containers")].map((one) =>
    textAt(one, "name"),
  );
  const name = textAt(pod, "metadata", "name");
  if (asked !== "" && names.includes(asked)) return asked;
  if (asked !== "") throw badRequest(`container ${asked} is not valid for pod ${name}`);
  const [only, another] = names;
  if (only !== undefined && another === undefined) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`);
}
