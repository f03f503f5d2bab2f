import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { type ObjectKey, type Patch, patchMediaTypes } from "../../kube/client.ts";
import type { KubeError } from "../../kube/kube-error.ts";
import { apiError, badRequest, methodNotAllowed, noSuchResource } from "../api/api-errors.ts";
import { unknownPatchFormat } from "../api/patch-object.ts";
import { type SuccessStatus, successStatus, type WriteRequest } from "../api/request.ts";
import type { ApiServer } from "../api/server.ts";
import { type ServedKind, type Subresource, subresources } from "../kinds/served-kind.ts";
import type { ProtobufMessages } from "../protobuf/protobuf-messages.ts";
import { type ParsedBody, parseBody } from "./body.ts";
import { streamLog } from "./log-stream.ts";
import { parseMediaType } from "./media-type.ts";
import { booleanParameter, deleteOptions, listRequest, watchRequest, writeOptions } from "./query.ts";
import { type HttpReply, jsonPartsReply, jsonReply, sendReply } from "./reply.ts";
import type { RequestBodies } from "./request-bodies.ts";
import {
  acceptedFormat,
  encodeList,
  encodeObject,
  eventEncoder,
  includeObjectOf,
  type ResponseFormat,
} from "./response-format.ts";
import type { ResourceRoute } from "./route.ts";
import { streamWatch } from "./watch-stream.ts";

/** What all requests share. */
export interface HandlerContext {
  readonly api: ApiServer;
  readonly now: () => number;
  readonly messages: () => ProtobufMessages;
  readonly bodies: RequestBodies;
}

/** A request with its method and query. */
export interface HttpRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly query: URLSearchParams;
}

/** A request for objects of a kind, with everything needed to answer it. */
interface ResourceRequest extends HttpRequest, HandlerContext {
  readonly route: ResourceRoute;
  readonly kind: ServedKind;
}

/** Subresources that need a protocol upgrade, which we do not support. (05 §1) */
const upgradeSubresources: ReadonlySet<string> = new Set(["exec", "attach", "portforward", "proxy"]);

/** Handles requests for objects and collections. */
export async function handleResource(
  route: ResourceRoute,
  incoming: HttpRequest,
  context: HandlerContext,
): Promise<void> {
  const kind = context.api.kinds.find(route);
  if (kind === undefined) throw noSuchResource();
  if (route.namespace !== undefined && !kind.namespaced) throw noSuchResource();
  const call: ResourceRequest = { ...incoming, ...context, route, kind };
  if (isWatch(call)) return streamResourceWatch(call);
  if (isLog(call)) return streamLog({ name: route.name ?? "", namespace: route.namespace }, call);
  sendReply(incoming.response, await objectReply(call));
}

/** Watching a single object is a watch of the collection with a field selector. */
function isWatch({ method, query, route }: ResourceRequest): boolean {
  return method === "GET" && booleanParameter(query, "watch") && route.subresource === undefined;
}

function isLog({ method, route, kind }: ResourceRequest): boolean {
  return method === "GET" && route.subresource === "log" && kind.subresources.includes("log");
}

/** Events that wait for a client which reads slowly or not at all. (05:CP-S3) */
const maxStreamBacklogBytes = 8 * 1024 * 1024;

async function streamResourceWatch(call: ResourceRequest): Promise<void> {
  const { api, kind, query, route, response } = call;
  const request = watchRequest(query, route.namespace);
  const byName = route.name === undefined ? {} : { fieldSelector: `metadata.name=${route.name}` };
  const encodeEvent = eventEncoder(formatOf(call));
  await api.settled();
  await streamWatch(api.watch(kind, { ...request, ...byName, maxBacklogBytes: maxStreamBacklogBytes }), {
    response,
    encodeEvent,
  });
}

function objectReply(call: ResourceRequest): Promise<HttpReply> {
  const { method, route } = call;
  const { name, subresource } = route;
  if (subresource !== undefined && name !== undefined) return subresourceReply(call, { name, subresource });
  if (name === undefined) return collectionReply(call);
  const key = { name, namespace: route.namespace };
  switch (method) {
    case "GET":
    case "HEAD":
      return read(call, key);
    case "PUT":
      return update(call, { key });
    case "PATCH":
      return patch(call, { key });
    case "DELETE":
      return remove(call, key);
    default:
      throw methodNotAllowed();
  }
}

function collectionReply(call: ResourceRequest): Promise<HttpReply> {
  switch (call.method) {
    case "GET":
    case "HEAD":
      return list(call);
    case "POST":
      return create(call, {});
    case "DELETE":
      return removeAll(call);
    default:
      throw methodNotAllowed();
  }
}

function subresourceReply(
  call: ResourceRequest,
  { name, subresource: written }: { readonly name: string; readonly subresource: string },
): Promise<HttpReply> {
  if (upgradeSubresources.has(written) && call.kind.kind === "Pod") {
    throw apiError("not-implemented", `${written} is not supported: pods are simulated`);
  }
  if (written === "ephemeralcontainers" && call.kind.kind === "Pod") throw ephemeralContainersRefused();
  const subresource = subresources.find((one) => one === written);
  if (subresource === undefined || !call.kind.subresources.includes(subresource)) throw noSuchResource();
  const key = { name, namespace: call.route.namespace };
  if (subresource === "log") throw methodNotAllowed();
  switch (call.method) {
    case "GET":
      return read(call, key, subresource);
    case "POST":
      return create(call, { name, subresource });
    case "PUT":
      return update(call, { key, subresource });
    case "PATCH":
      return patch(call, { key, subresource });
    default:
      throw methodNotAllowed();
  }
}

/** Without these words kubectl says that they are disabled in this cluster. */
function ephemeralContainersRefused(): KubeError {
  return apiError(
    "not-implemented",
    "ephemeral containers are not supported: pods are simulated, so there is no process to debug. " +
      "A copy of the pod can be made with kubectl debug POD --copy-to=NAME --image=IMAGE",
  );
}

function formatOf({ kind, request, query, now, api }: ResourceRequest): ResponseFormat {
  const as = acceptedFormat(request.headers.accept);
  return { kind, as, includeObject: includeObjectOf(query), now, objectBytes: api.objectBytes };
}

async function read(call: ResourceRequest, key: ObjectKey, subresource?: Subresource): Promise<HttpReply> {
  const format = formatOf(call);
  const resourceVersion = call.query.get("resourceVersion") ?? undefined;
  const { object, warnings } = await call.api.get(call.kind, key, { subresource, resourceVersion });
  return jsonReply(encodeObject(object, format), { warnings });
}

async function list(call: ResourceRequest): Promise<HttpReply> {
  const { api, kind, query, route } = call;
  const format = formatOf(call);
  const { items, warnings, ...metadata } = await api.list(kind, listRequest(query, route.namespace));
  return jsonPartsReply(encodeList(items, metadata, format), { warnings });
}

interface WriteTarget {
  readonly key: ObjectKey;
  readonly subresource?: Subresource;
}

async function create(
  call: ResourceRequest,
  { name, subresource }: { readonly name?: string; readonly subresource?: Subresource },
): Promise<HttpReply> {
  const { api, kind, route } = call;
  const format = formatOf(call);
  const body = await bodyOf(call);
  const request = { ...writeRequest(call, body), subresource, name, namespace: route.namespace };
  const { object, warnings } = await api.create(kind, body.value, request);
  return jsonReply(encodeObject(object, format), { code: 201, warnings });
}

async function update(call: ResourceRequest, { key, subresource }: WriteTarget): Promise<HttpReply> {
  const format = formatOf(call);
  const body = await bodyOf(call);
  const request = { ...writeRequest(call, body), subresource };
  const { object, warnings } = await call.api.update(call.kind, key, body.value, request);
  return jsonReply(encodeObject(object, format), { warnings });
}

async function patch(call: ResourceRequest, { key, subresource }: WriteTarget): Promise<HttpReply> {
  const format = formatOf(call);
  const kind = patchKind(call);
  const body = await bodyOf(call);
  const request = { ...writeRequest(call, body), subresource };
  const { object, warnings, isNew } = await call.api.patch(call.kind, key, patchOf(kind, body, call), request);
  return jsonReply(encodeObject(object, format), { code: isNew ? 201 : 200, warnings });
}

const patchKinds: ReadonlyMap<string, Patch["kind"]> = new Map(
  Object.entries(patchMediaTypes).map(([kind, type]) => [type, kind as Patch["kind"]]),
);

function patchKind({ request, kind }: ResourceRequest): Patch["kind"] {
  const { type } = parseMediaType(request.headers["content-type"] ?? "");
  const found = patchKinds.get(type);
  if (found === undefined || (found === "strategic" && kind.custom !== undefined)) throw unknownPatchFormat(kind);
  return found;
}

function patchOf(kind: Patch["kind"], { value }: ParsedBody, { query }: ResourceRequest): Patch {
  switch (kind) {
    case "json":
      if (!Array.isArray(value)) throw badRequest("error decoding patch: a JSON patch must be a list of operations");
      return { kind, body: value };
    case "apply":
      return {
        kind,
        body: value,
        fieldManager: query.get("fieldManager") ?? "",
        force: booleanParameter(query, "force"),
      };
    default:
      if (!isRecord(value)) throw badRequest("error decoding patch: a patch must be an object");
      return { kind, body: value };
  }
}

async function remove(call: ResourceRequest, key: ObjectKey): Promise<HttpReply> {
  const { api, kind, query } = call;
  const format = formatOf(call);
  const { value } = await bodyOf(call);
  const { object, warnings, isGone } = await api.delete(kind, key, deleteOptions(query, value));
  return jsonReply(isGone && kind.kind !== "Pod" ? deletedStatus(kind, object) : encodeObject(object, format), {
    warnings,
  });
}

/** The Status of a completed delete. */
function deletedStatus({ group, plural }: ServedKind, { metadata }: KubeObject): SuccessStatus {
  const { name = "", uid = "" } = metadata;
  return { ...successStatus, details: { name, ...(group !== "" && { group }), kind: plural, uid } };
}

async function removeAll(call: ResourceRequest): Promise<HttpReply> {
  const { api, kind, query, route } = call;
  const { value } = await bodyOf(call);
  const selected = listRequest(query, route.namespace);
  const options = { ...deleteOptions(query, value), betweenBatches: () => yieldToEventLoop() };
  const { items, warnings, ...metadata } = await api.deleteCollection(kind, selected, options);
  return jsonPartsReply(encodeList(items, metadata, formatOf(call)), { warnings });
}

async function bodyOf({ request, messages, bodies }: ResourceRequest): Promise<ParsedBody> {
  const body = await bodies.read(request);
  if (body.length === 0) return { value: undefined, problems: [] };
  return parseBody(body, { contentType: request.headers["content-type"], messages });
}

function writeRequest({ query }: ResourceRequest, { problems }: ParsedBody): WriteRequest {
  return { ...writeOptions(query), decodingProblems: problems };
}
