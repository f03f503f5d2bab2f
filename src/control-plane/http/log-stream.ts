import type { ServerResponse } from "node:http";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectKey } from "../../kube/client.ts";
import { badRequest } from "../api/api-errors.ts";
import type { ApiServer } from "../api/server.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { itemsAt, textAt } from "../object-fields.ts";
import { logRequest } from "./query.ts";
import { untilDrained } from "./until-drained.ts";

interface LogOptions {
  readonly api: ApiServer;
  readonly kind: ServedKind;
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

/** Streams the log of one container as plain text. */
export async function streamLog(key: ObjectKey, { api, kind, query, response }: LogOptions): Promise<void> {
  const { object } = await api.get(kind, key);
  const container = containerOf(object, query.get("container") ?? "");
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const lines = api.log(key, { ...logRequest(query), container, signal: gone.signal });
  response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-cache, private" });
  response.flushHeaders();
  for await (const line of lines) {
    if (response.destroyed) break;
    if (!response.write(line)) await untilDrained(response);
  }
  response.end();
}

/** A pod with several containers needs a name. */
function containerOf(pod: KubeObject, requestedContainer: string): string {
  const names = [...itemsAt(pod, "spec", "initContainers"), ...itemsAt(pod, "spec", "containers")].map((one) =>
    textAt(one, "name"),
  );
  const name = textAt(pod, "metadata", "name");
  if (requestedContainer !== "" && names.includes(requestedContainer)) return requestedContainer;
  if (requestedContainer !== "") throw badRequest(`container ${requestedContainer} is not valid for pod ${name}`);
  const [only, another] = names;
  if (only !== undefined && another === undefined) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`);
}
