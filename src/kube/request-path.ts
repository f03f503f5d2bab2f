import { namespaceOf } from "../api/object.ts";
import type { ListOptions, ResourceType, WatchOptions, WriteOptions } from "./client.ts";
import { KubeError } from "./kube-error.ts";

export interface ObjectAddress {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The path of a collection; of all namespaces, unless one is given. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const within = type.namespaced && namespace !== undefined ? `/namespaces/${pathSegment(namespace)}` : "";
  return `${root}${within}/${type.plural}`;
}

/** The path of an object; namespaced objects without a namespace are in `default`. */
export function objectPath(type: ResourceType, { namespace, name = "", subresource }: ObjectAddress): string {
  const suffix = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(type, namespaceOf({ namespace }))}/${pathSegment(name)}${suffix}`;
}

/** One path segment. Empty or dotted names would address something else. */
function pathSegment(name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/")) {
    throw new KubeError("bad-request", `${JSON.stringify(name)} cannot name an object`);
  }
  return encodeURIComponent(name);
}

export function listQuery(options: ListOptions): string {
  const { labelSelector, fieldSelector, limit, resourceVersion } = options;
  // A continue token contains the version; the server rejects both together.
  const version = options.continue === undefined ? resourceVersion : undefined;
  return queryString({ labelSelector, fieldSelector, limit, continue: options.continue, resourceVersion: version });
}

export function watchQuery(options: WatchOptions): string {
  const { labelSelector, fieldSelector, resourceVersion, bookmarks, timeoutSeconds, sendInitialEvents } = options;
  return queryString({
    watch: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    allowWatchBookmarks: bookmarks || sendInitialEvents || undefined, // the initial events end with a bookmark
    timeoutSeconds,
    sendInitialEvents: sendInitialEvents || undefined,
    resourceVersionMatch: sendInitialEvents ? "NotOlderThan" : undefined, // required by the server
  });
}

export function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions, force?: boolean): string {
  return queryString({ dryRun: dryRun ? "All" : undefined, fieldManager, fieldValidation, force });
}

function queryString(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const present = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined) present.append(key, String(value));
  }
  return present.size === 0 ? "" : `?${present}`;
}
