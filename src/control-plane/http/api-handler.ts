import type { IncomingMessage } from "node:http";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import { apiError, methodNotAllowed, noSuchResource, notAcceptable } from "../api/api-errors.ts";
import type { ApiServer } from "../api/server.ts";
import { OpenApiCatalogue } from "../openapi/openapi-catalogue.ts";
import { ProtobufMessages } from "../protobuf/protobuf-messages.ts";
import {
  aggregatedDiscovery,
  apiGroup,
  apiGroupList,
  apiResourceList,
  groupsOf,
  type ServedGroup,
} from "./discovery.ts";
import type { HttpHandler } from "./http-listener.ts";
import { acceptedOpenApiV2, acceptedRepresentation } from "./media-type.ts";
import { type HttpReply, jsonMediaType, jsonReply, sendReply, textReply } from "./reply.ts";
import { RequestBodies } from "./request-bodies.ts";
import { type HandlerContext, handleResource } from "./resource-handler.ts";
import { type Route, routeOf } from "./route.ts";
import { tokenChecker } from "./token.ts";
import { versionInfo } from "./version.ts";

export interface HandlerOptions {
  readonly api: ApiServer;
  /** Milliseconds since the epoch, cluster time. */
  readonly now: () => number;
  readonly token: string;
}

/** Serves the API over HTTP. Health checks need no token, everything else does. (05:CP-S2) */
export function apiHandler({ api, now, token }: HandlerOptions): HttpHandler {
  const isAllowed = tokenChecker(token);
  const catalogue = new OpenApiCatalogue();
  let messages: ProtobufMessages | undefined;
  const context: HandlerContext = {
    api,
    now,
    bodies: new RequestBodies(),
    messages: () => {
      messages ??= new ProtobufMessages(new BuiltInFields());
      return messages;
    },
  };
  return async (request, response) => {
    const { method = "GET", url = "/" } = request;
    const queryStart = url.indexOf("?");
    const route = routeOf(queryStart < 0 ? url : url.slice(0, queryStart));
    if (route.kind === "health") return sendReply(response, textReply("ok"));
    if (!isAllowed(request.headers.authorization)) throw apiError("unauthorized", "Unauthorized");
    const query = new URLSearchParams(queryStart < 0 ? "" : url.slice(queryStart + 1));
    if (route.kind === "resource") return handleResource(route, { request, response, method, query }, context);
    if (route.kind === "malformed") throw apiError("bad-request", "the request path is malformed");
    const reply = metaReply(route, { request, api, catalogue });
    if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
    sendReply(response, reply);
  };
}

interface MetaOptions {
  readonly request: IncomingMessage;
  readonly api: ApiServer;
  readonly catalogue: OpenApiCatalogue;
}

type MetaRoute = Exclude<Route, { kind: "resource" | "health" | "malformed" }>;

/** Discovery, version and OpenAPI. */
function metaReply(route: MetaRoute, { request, api, catalogue }: MetaOptions): HttpReply {
  const kinds = api.kinds.all();
  switch (route.kind) {
    case "not-found":
      throw noSuchResource();
    case "version":
      return jsonReply(versionInfo);
    case "root":
      return jsonReply({
        paths: ["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"],
      });
    case "core-versions":
      return discoveryReply(request, {
        groups: groupsOf(kinds).filter(({ group }) => group === ""),
        legacy: () => ({ kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] }),
      });
    case "groups": {
      const groups = groupsOf(kinds).filter(({ group }) => group !== "");
      return discoveryReply(request, { groups, legacy: () => apiGroupList(groups) });
    }
    case "group":
      return jsonReply(
        apiGroup(orNotFound(groupsOf(kinds).find(({ group }) => group === route.group && group !== ""))),
      );
    case "resources": {
      const group = orNotFound(groupsOf(kinds).find(({ group }) => group === route.group));
      const version = orNotFound(group.versions.find((one) => one.version === route.version));
      return jsonReply(apiResourceList({ group: group.group, ...version }));
    }
    case "openapi-index":
      return jsonReply(catalogue.index(kinds));
    case "openapi":
      return documentReply(request, orNotFound(catalogue.document(route, kinds)), jsonMediaType);
    case "openapi-v2": {
      const format = acceptedOpenApiV2(request.headers.accept);
      if (format === undefined) throw notAcceptable([jsonMediaType, openApiV2MediaTypes.protobuf]);
      return documentReply(request, catalogue.v2Document(format, kinds), openApiV2MediaTypes[format]);
    }
  }
}

const openApiV2MediaTypes = {
  json: jsonMediaType,
  protobuf: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
} as const;

/** A client that has the document already gets no second copy. */
function documentReply(
  request: IncomingMessage,
  { bytes, hash }: { readonly bytes: Uint8Array; readonly hash: string },
  contentType: string,
): HttpReply {
  const etag = `"${hash}"`;
  const isKnown = request.headers["if-none-match"] === etag;
  const headers = { etag, vary: "Accept" };
  return { code: isKnown ? 304 : 200, contentType, body: isKnown ? [] : [bytes], headers };
}

function orNotFound<T>(value: T | undefined): T {
  if (value === undefined) throw noSuchResource();
  return value;
}

/** The content type must name the representation, else kubectl falls back to legacy discovery. (05 §1) */
function discoveryReply(
  request: IncomingMessage,
  { groups, legacy }: { readonly groups: readonly ServedGroup[]; readonly legacy: () => unknown },
): HttpReply {
  const accepted = acceptedRepresentation(request.headers.accept);
  if (accepted?.kind !== "discovery") return jsonReply(legacy());
  return {
    ...jsonReply(aggregatedDiscovery(groups, accepted.version)),
    contentType: `${jsonMediaType};g=apidiscovery.k8s.io;v=${accepted.version};as=APIGroupDiscoveryList`,
  };
}
