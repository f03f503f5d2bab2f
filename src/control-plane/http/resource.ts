import { isRecord, type KubeObject } from "../../api/object.ts";
import type { Patch } from "../../kube/client.ts";
import type { Status } from "../../kube/error.ts";
import { badRequest, failure, noSuchResource } from "../api/failures.ts";
import type { Key, WriteRequest } from "../api/request.ts";
import { type ServedKind, type Subresource, subresources } from "../kinds/kind.ts";
import { parseMediaType } from "./accept.ts";
import { type ParsedBody, parseBody, readBody } from "./body.ts";
import type { Context, Incoming } from "./handler.ts";
import { streamLog } from "./log-stream.ts";
import { deleteOptions, flag, listRequest, watchRequest, writeOptions } from "./query.ts";
import { jsonReply, type Reply, send } from "./reply.ts";
import type { ResourceRoute } from "./route.ts";
import { acceptedView, eventView, includeObjectOf, showList, showObject, type View } from "./show.ts";
import { streamWatch } from "./watch-stream.ts";

/** A request for objects of a kind, with all that answers it. */
interface Asked extends Incoming, Context {
  readonly route: ResourceRoute;
  readonly kind: ServedKind;
}

/** Subresources that would need a second protocol on the connection. (05 §1) */
const upgrades: ReadonlySet<string> = new Set(["exec", "attach", "portforward", "proxy"]);

/** Answers for objects and collections. */
export async function handleResource(route: ResourceRoute, incoming: Incoming, context: Context): Promise<void> {
  const kind = context.api.kinds.find(route);
  if (kind === undefined) throw noSuchResource();
  if (route.namespace !== undefined && !kind.namespaced) throw noSuchResource();
  const asked: Asked = { ...incoming, ...context, route, kind };
  if (isWatch(asked)) return streamed(asked);
  if (isLog(asked)) return streamLog({ name: route.name ?? "", namespace: route.namespace }, asked);
  send(incoming.response, await replyTo(asked));
}

/** Watching one object by its path is a watch of the collection by its name. */
function isWatch({ method, query, route }: Asked): boolean {
  return method === "GET" && flag(query, "watch") && route.subresource === undefined;
}

function isLog({ method, route, kind }: Asked): boolean {
  return method === "GET" && route.subresource === "log" && kind.subresources.includes("log");
}

async function streamed(asked: Asked): Promise<void> {
  const { api, kind, query, route, response } = asked;
  const request = watchRequest(query, route.namespace);
  const byName = route.name === undefined ? {} : { fieldSelector: `metadata.name=${route.name}` };
  const show = eventView(viewOf(asked));
  await streamWatch(api.watch(kind, { ...request, ...byName }), { response, show });
}

function replyTo(asked: Asked): Promise<Reply> {
  const { method, route } = asked;
  const { name, subresource } = route;
  if (subresource !== undefined && name !== undefined) return onSubresource(asked, { name, subresource });
  if (name === undefined) return onCollection(asked);
  const key = { name, namespace: route.namespace };
  switch (method) {
    case "GET":
    case "HEAD":
      return read(asked, key);
    case "PUT":
      return update(asked, { key });
    case "PATCH":
      return patch(asked, { key });
    case "DELETE":
      return remove(asked, key);
    default:
      throw methodNotAllowed();
  }
}

function onCollection(asked: Asked): Promise<Reply> {
  switch (asked.method) {
    case "GET":
    case "HEAD":
      return list(asked);
    case "POST":
      return create(asked, {});
    case "DELETE":
      return removeAll(asked);
    default:
      throw methodNotAllowed();
  }
}

function onSubresource(
  asked: Asked,
  { name, subresource: written }: { readonly name: string; readonly subresource: string },
): Promise<Reply> {
  if (upgrades.has(written) && asked.kind.kind === "Pod") {
    throw failure("not-implemented", `${written} is not supported: pods here are simulated, nothing runs in them`);
  }
  const subresource = subresources.find((one) => one === written);
  if (subresource === undefined || !asked.kind.subresources.includes(subresource)) throw noSuchResource();
  const key = { name, namespace: asked.route.namespace };
  if (subresource === "log") throw methodNotAllowed();
  switch (asked.method) {
    case "GET":
      return read(asked, key, subresource);
    case "POST":
      return create(asked, { name, subresource });
    case "PUT":
      return update(asked, { key, subresource });
    case "PATCH":
      return patch(asked, { key, subresource });
    default:
      throw methodNotAllowed();
  }
}

function methodNotAllowed(): Error {
  return failure("method-not-allowed", "the server does not allow this method on the requested resource");
}

function viewOf({ kind, request, query, now, api }: Asked): View {
  const as = acceptedView(request.headers.accept);
  return { kind, as, includeObject: includeObjectOf(query), now, serialised: api.serialised };
}

async function read(asked: Asked, key: Key, subresource?: Subresource): Promise<Reply> {
  const view = viewOf(asked);
  const resourceVersion = asked.query.get("resourceVersion") ?? undefined;
  const { object, warnings } = await asked.api.get(asked.kind, key, { subresource, resourceVersion });
  return jsonReply(showObject(object, view), { warnings });
}

async function list(asked: Asked): Promise<Reply> {
  const { api, kind, query, route } = asked;
  const view = viewOf(asked);
  const { items, warnings, ...metadata } = await api.list(kind, listRequest(query, route.namespace));
  return jsonReply(showList(items, metadata, view), { warnings });
}

interface Target {
  readonly key: Key;
  readonly subresource?: Subresource;
}

async function create(
  asked: Asked,
  { name, subresource }: { readonly name?: string; readonly subresource?: Subresource },
): Promise<Reply> {
  const { api, kind, route } = asked;
  const view = viewOf(asked);
  const body = await bodyOf(asked);
  const request = { ...writeRequest(asked, body), subresource, name, namespace: route.namespace };
  const { object, warnings } = await api.create(kind, body.value, request);
  return jsonReply(showObject(object, view), { code: 201, warnings });
}

async function update(asked: Asked, { key, subresource }: Target): Promise<Reply> {
  const view = viewOf(asked);
  const body = await bodyOf(asked);
  const request = { ...writeRequest(asked, body), subresource };
  const { object, warnings } = await asked.api.update(asked.kind, key, body.value, request);
  return jsonReply(showObject(object, view), { warnings });
}

async function patch(asked: Asked, { key, subresource }: Target): Promise<Reply> {
  const view = viewOf(asked);
  const kind = patchKind(asked);
  const body = await bodyOf(asked);
  const request = { ...writeRequest(asked, body), subresource };
  const { object, warnings, isNew } = await asked.api.patch(asked.kind, key, patchOf(kind, body, asked), request);
  return jsonReply(showObject(object, view), { code: isNew ? 201 : 200, warnings });
}

const patchKinds: Readonly<Record<string, Patch["kind"]>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

function patchKind({ request, kind }: Asked): Patch["kind"] {
  const { type } = parseMediaType(request.headers["content-type"] ?? "");
  const found = Object.hasOwn(patchKinds, type) ? patchKinds[type] : undefined;
  const isForTyped = found === "strategic" && kind.custom !== undefined; // custom kinds have no merge rules
  if (found !== undefined && !isForTyped) return found;
  const known = Object.keys(patchKinds).filter((one) => kind.custom === undefined || !one.includes("strategic"));
  throw failure(
    "unsupported-media-type",
    `the body of the request was in an unknown format - accepted media types include: ${known.join(", ")}`,
  );
}

function patchOf(kind: Patch["kind"], { value }: ParsedBody, { query }: Asked): Patch {
  switch (kind) {
    case "json":
      if (!Array.isArray(value)) throw badRequest("a JSON patch is a list of operations");
      return { kind, body: value };
    case "apply":
      return { kind, body: value, fieldManager: query.get("fieldManager") ?? "", force: flag(query, "force") };
    default:
      if (!isRecord(value)) throw badRequest("a patch is an object");
      return { kind, body: value };
  }
}

async function remove(asked: Asked, key: Key): Promise<Reply> {
  const { api, kind, query } = asked;
  const view = viewOf(asked);
  const { value } = await bodyOf(asked);
  const { object, warnings, isGone } = await api.delete(kind, key, deleteOptions(query, value));
  return jsonReply(isGone && kind.kind !== "Pod" ? gone(kind, object) : showObject(object, view), { warnings });
}

/** What is left to say of an object that was there. */
function gone({ group, plural }: ServedKind, { metadata }: KubeObject): Status {
  const { name = "", uid = "" } = metadata;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name, ...(group !== "" && { group }), kind: plural, uid },
  } as Status; // a success carries neither message nor code
}

async function removeAll(asked: Asked): Promise<Reply> {
  const { api, kind, query, route } = asked;
  const { value } = await bodyOf(asked);
  const selected = listRequest(query, route.namespace);
  const { items, warnings, ...metadata } = await api.deleteCollection(kind, selected, deleteOptions(query, value));
  return jsonReply(showList(items, metadata, viewOf(asked)), { warnings });
}

async function bodyOf({ request, messages }: Asked): Promise<ParsedBody> {
  const body = await readBody(request);
  if (body.length === 0) return { value: undefined, problems: [] };
  return parseBody(body, { contentType: request.headers["content-type"], messages });
}

function writeRequest({ query }: Asked, { problems }: ParsedBody): WriteRequest {
  return { ...writeOptions(query), decodingProblems: problems };
}
