import type { IncomingMessage, ServerResponse } from "node:http";
import { failure, noSuchResource } from "../api/failures.ts";
import type { ApiServer } from "../api/server.ts";
import { OpenApiCatalogue } from "../openapi/catalogue.ts";
import { Messages } from "../protobuf/messages.ts";
import { representation } from "./accept.ts";
import { aggregatedDiscovery, groupAnswer, groupList, groupsOf, resourceList, type ServedGroup } from "./discovery.ts";
import { json, jsonReply, type Reply, send, textReply } from "./reply.ts";
import { handleResource } from "./resource.ts";
import { type Route, routeOf } from "./route.ts";
import type { Handler } from "./server.ts";
import { tokenCheck } from "./token.ts";
import { versionAnswer } from "./version.ts";

export interface HandlerOptions {
  readonly api: ApiServer;
  /** Milliseconds since the epoch, on the clock of the cluster: ages are told by it. */
  readonly now: () => number;
  readonly token: string;
}

/** What all requests share. */
export interface Context {
  readonly api: ApiServer;
  readonly now: () => number;
  readonly messages: () => Messages;
}

/** One request, taken apart. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly query: URLSearchParams;
}

/** The API over HTTP. Health can be asked by anyone, everything else needs the token. (05:CP-S2) */
export function apiHandler({ api, now, token }: HandlerOptions): Handler {
  const isAllowed = tokenCheck(token);
  const catalogue = new OpenApiCatalogue();
  let messages: Messages | undefined;
  const context: Context = {
    api,
    now,
    messages: () => {
      messages ??= new Messages();
      return messages;
    },
  };
  return async (request, response) => {
    const { method = "GET", url = "/" } = request;
    const mark = url.indexOf("?");
    const route = routeOf(mark < 0 ? url : url.slice(0, mark));
    if (route.kind === "health") return send(response, textReply("ok"));
    if (!isAllowed(request.headers.authorization)) throw failure("unauthorized", "Unauthorized");
    const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
    if (route.kind === "resource") return handleResource(route, { request, response, method, query }, context);
    if (route.kind === "unreadable") throw failure("bad-request", "the path of the request cannot be read");
    const reply = metaReply(route, { request, api, catalogue });
    if (method !== "GET" && method !== "HEAD") {
      throw failure("method-not-allowed", "the server does not allow this method on the requested resource");
    }
    send(response, reply);
  };
}

interface MetaOptions {
  readonly request: IncomingMessage;
  readonly api: ApiServer;
  readonly catalogue: OpenApiCatalogue;
}

type MetaRoute = Exclude<Route, { kind: "resource" | "health" | "unreadable" }>;

/** What the server says about itself. */
function metaReply(route: MetaRoute, { request, api, catalogue }: MetaOptions): Reply {
  const kinds = api.kinds.all();
  switch (route.kind) {
    case "nowhere":
      throw noSuchResource();
    case "version":
      return jsonReply(versionAnswer);
    case "root":
      return jsonReply({ paths: ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"] });
    case "core-versions":
      return discoveryReply(request, {
        groups: groupsOf(kinds).filter(({ group }) => group === ""),
        legacy: () => ({ kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] }),
      });
    case "groups": {
      const groups = groupsOf(kinds).filter(({ group }) => group !== "");
      return discoveryReply(request, { groups, legacy: () => groupList(groups) });
    }
    case "group":
      return jsonReply(groupAnswer(found(groupsOf(kinds).find(({ group }) => group === route.group && group !== ""))));
    case "resources": {
      const group = found(groupsOf(kinds).find(({ group }) => group === route.group));
      const version = found(group.versions.find((one) => one.version === route.version));
      return jsonReply(resourceList({ group: group.group, ...version }));
    }
    case "openapi-index":
      return jsonReply(catalogue.index(kinds));
    case "openapi": {
      const { bytes, hash } = found(catalogue.document(route, kinds));
      return { ...jsonReply(bytes), headers: { etag: `"${hash}"` } };
    }
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw noSuchResource();
  return value;
}

/** The reply must name the representation it is in, or kubectl asks again the old way. (05 §1) */
function discoveryReply(
  request: IncomingMessage,
  { groups, legacy }: { readonly groups: readonly ServedGroup[]; readonly legacy: () => unknown },
): Reply {
  const asked = representation(request.headers.accept);
  if (asked?.kind !== "discovery") return jsonReply(legacy());
  return {
    ...jsonReply(aggregatedDiscovery(groups, asked.version)),
    contentType: `${json};g=apidiscovery.k8s.io;v=${asked.version};as=APIGroupDiscoveryList`,
  };
}
