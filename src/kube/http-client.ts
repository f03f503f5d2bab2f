import { isRecord, type KubeObject } from "../api/object.ts";
import { deepFreeze } from "../util/freeze.ts";
import {
  type DeleteOptions,
  type KubeClient,
  type ListOptions,
  type ObjectKey,
  type ObjectList,
  patchMediaTypes,
  type ResourceType,
  type WatchEvent,
  type WatchOptions,
} from "./client.ts";
import { KubeError } from "./kube-error.ts";
import { collectionPath, listQuery, objectPath, watchQuery, writeQuery } from "./request-path.ts";
import { apiVersionOf } from "./resources.ts";
import { type ApiRequest, type HttpClientOptions, RestClient } from "./rest-client.ts";
import { watchEvents } from "./watch-decoder.ts";

export type { HttpClientOptions, RequestOutcome } from "./rest-client.ts";

/** A client of any Kubernetes API server. */
export function httpClient(options: HttpClientOptions): KubeClient {
  const restClient = new RestClient(options);
  const json = async <T>(request: ApiRequest): Promise<T> => deepFreeze(await restClient.json(request)) as T;

  return {
    get: async <T extends KubeObject>(type: ResourceType, key: ObjectKey) =>
      json<T>({ type, method: "GET", path: objectPath(type, key) }),

    list: async <T extends KubeObject>(type: ResourceType, listOptions: ListOptions = {}) => {
      const path = collectionPath(type, listOptions.namespace) + listQuery(listOptions);
      return objectList<T>(type, await restClient.json({ type, method: "GET", path }, listOptions.signal));
    },

    watch: (type, watchOptions) => watch(restClient, type, watchOptions),

    create: async (type, object, { name, subresource, ...write } = {}) => {
      const { namespace } = object.metadata;
      const on = name ?? object.metadata.name;
      const path =
        subresource === undefined
          ? collectionPath(type, namespace ?? "default")
          : objectPath(type, { namespace, name: on, subresource });
      return json({ type, method: "POST", path: path + writeQuery(write), subresource, body: object });
    },

    update: async (type, object, { subresource, ...write } = {}) => {
      const path = objectPath(type, { ...object.metadata, subresource });
      return json({ type, method: "PUT", path: path + writeQuery(write), subresource, body: object });
    },

    patch: async (type, key, patch, { subresource, ...write } = {}) => {
      const isApply = patch.kind === "apply";
      const query = isApply
        ? writeQuery({ ...write, fieldManager: patch.fieldManager }, patch.force)
        : writeQuery(write);
      const path = objectPath(type, { ...key, subresource }) + query;
      const contentType = patchMediaTypes[patch.kind];
      return json({ type, method: "PATCH", path, subresource, body: patch.body, contentType });
    },

    delete: async <T extends KubeObject>(type: ResourceType, key: ObjectKey, deleteOptions: DeleteOptions = {}) => {
      const { dryRun, propagation, gracePeriodSeconds, preconditions } = deleteOptions;
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: propagation,
        gracePeriodSeconds,
        preconditions,
        dryRun: dryRun ? ["All"] : undefined,
      };
      const left = await json<T>({ type, method: "DELETE", path: objectPath(type, key), body });
      return isStillThere(left) ? left : undefined;
    },
  };
}

/**
 * A server answers a delete with a Status, with the object that now waits for deletion, or with the object it just
 * deleted. Only one that still has finalizers or a grace period exists.
 */
function isStillThere({ kind, metadata }: KubeObject): boolean {
  if (kind === "Status" || metadata.deletionTimestamp === undefined) return false;
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = metadata;
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0;
}

/** Lists of built-in kinds leave out kind and apiVersion of their items. */
function objectList<T extends KubeObject>(type: ResourceType, body: unknown): ObjectList<T> {
  const metadata = isRecord(body) ? body["metadata"] : undefined;
  if (!isRecord(body) || !isRecord(metadata) || typeof metadata["resourceVersion"] !== "string") {
    throw new KubeError("server-error", `listing ${type.plural}: the response is not a list`);
  }
  const named = { apiVersion: apiVersionOf(type), kind: type.kind };
  const items = Array.isArray(body["items"]) ? body["items"] : []; // Go writes an empty list as null
  const next = metadata["continue"];
  return {
    items: items.map((item: T) => (isRecord(item) && item["kind"] === undefined ? { ...named, ...item } : item)),
    resourceVersion: metadata["resourceVersion"],
    ...(typeof next === "string" && next !== "" ? { continue: next } : {}),
  };
}

async function* watch<T extends KubeObject>(
  restClient: RestClient,
  type: ResourceType,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { signal } = options;
  const path = collectionPath(type, options.namespace) + watchQuery(options);
  try {
    yield* watchEvents<T>(await restClient.stream({ type, method: "GET", path }, signal));
  } catch (error) {
    if (signal.aborted) return; // aborted by the caller, who is no longer reading
    throw error;
  }
}
