import { namespaceOf } from "../api/object.ts";
import type { ListOptions, ResourceType, WatchOptions, WriteOptions } from "./client.ts";
import { KubeError } from "./kube-error.ts";

export interface ObjectAddress {
  /** Left out for a whole collection in all namespaces. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Where objects of the type live; in all namespaces when none is named. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const within = type.namespaced && namespace !== undefined ? `/namespaces/${pathSegment(namespace)}` : "";
  return `${root}${within}/${type.plural}`;
}

/** Where one object lives; what is written without a namespace is in `default`. */
export function objectPath(type: ResourceType, { namespace, name = "", subresource }: ObjectAddress): string {
  const suffix = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(type, namespaceOf({ namespace }))}/${pathSegment(name)}${suffix}`;
}

/** One name as part of a path. An empty one would ask for the whole collection, a dotted one for another place. */
function pathSegment(name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/")) {
    throw new KubeError("bad-request", `${JSON.stringify(name)} cannot name an object`);
  }
  return encodeURIComponent(name);
}

export function listQuery(options: ListOptions): string {
  const { labelSelector, fieldSelector, limit, resourceVersion } = options;
  // A page token carries its own version; the server refuses both together.
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
    allowWatchBookmarks: bookmarks || sendInitialEvents || undefined, // the initial events end with one
    timeoutSeconds,
    sendInitialEvents: sendInitialEvents || undefined,
    resourceVersionMatch: sendInitialEvents ? "NotOlderThan" : undefined, // the server insists on it
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
