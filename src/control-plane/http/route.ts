/** What a request path addresses. */
export type Route =
  | { readonly kind: "health" }
  | { readonly kind: "root" }
  | { readonly kind: "version" }
  | { readonly kind: "core-versions" }
  | { readonly kind: "groups" }
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "resources"; readonly group: string; readonly version: string }
  | { readonly kind: "openapi-v2" }
  | { readonly kind: "openapi-index" }
  | { readonly kind: "openapi"; readonly group: string; readonly version: string }
  | ResourceRoute
  | { readonly kind: "not-found" }
  | { readonly kind: "malformed" };

export interface ResourceRoute {
  readonly kind: "resource";
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  /** Absent: the whole collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Subresources of namespaces; anything else after the name is a resource in the namespace. */
const namespaceSubresources: ReadonlySet<string> = new Set(["status", "finalize"]);

const healthPaths: ReadonlySet<string> = new Set(["healthz", "readyz", "livez"]);

/**
 * Parses the path of a request, without its query. Names are decoded after splitting, so that they may contain slashes.
 */
export function routeOf(path: string): Route {
  const segments = decodeSegments(path);
  if (segments === undefined) return { kind: "malformed" };
  const [first, ...rest] = segments;
  if (first === undefined) return { kind: "root" };
  if (healthPaths.has(first)) return { kind: "health" };
  switch (first) {
    case "version":
      return rest.length === 0 ? { kind: "version" } : { kind: "not-found" };
    case "api":
      return coreRoute(rest);
    case "apis":
      return groupRoute(rest);
    case "openapi":
      return openApiRoute(rest);
    default:
      return { kind: "not-found" };
  }
}

function decodeSegments(path: string): readonly string[] | undefined {
  const parts = path.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  try {
    const segments = parts.map(decodeURIComponent);
    return segments.includes("") ? undefined : segments;
  } catch {
    return undefined; // invalid percent-encoding
  }
}

function coreRoute([version, ...rest]: readonly string[]): Route {
  if (version === undefined) return { kind: "core-versions" };
  return rest.length === 0 ? { kind: "resources", group: "", version } : resourceRoute("", version, rest);
}

function groupRoute([group, version, ...rest]: readonly string[]): Route {
  if (group === undefined) return { kind: "groups" };
  if (version === undefined) return { kind: "group", group };
  return rest.length === 0 ? { kind: "resources", group, version } : resourceRoute(group, version, rest);
}

function resourceRoute(group: string, version: string, rest: readonly string[]): Route {
  const [first = "", second, third, ...more] = rest;
  const isInNamespace =
    first === "namespaces" && second !== undefined && third !== undefined && !namespaceSubresources.has(third);
  if (isInNamespace) {
    const [name, ...subresource] = more;
    return withNames({ group, version, plural: third, namespace: second, name, subresource });
  }
  const subresource = third === undefined ? [] : [third, ...more];
  return withNames({ group, version, plural: first, namespace: undefined, name: second, subresource });
}

interface RouteNames extends Omit<ResourceRoute, "kind" | "subresource"> {
  readonly subresource: readonly string[];
}

/** What follows a subresource (`proxy/any/path`) belongs to it; none of ours has such a path. */
function withNames({ subresource, ...names }: RouteNames): Route {
  return { kind: "resource", ...names, subresource: subresource[0] };
}

function openApiRoute([version, root, ...rest]: readonly string[]): Route {
  if (version === "v2" && root === undefined) return { kind: "openapi-v2" };
  if (version !== "v3") return { kind: "not-found" };
  if (root === undefined) return { kind: "openapi-index" };
  const [first, second] = rest;
  if (root === "api" && first !== undefined && second === undefined)
    return { kind: "openapi", group: "", version: first };
  if (root === "apis" && first !== undefined && second !== undefined && rest.length === 2)
    return { kind: "openapi", group: first, version: second };
  return { kind: "not-found" };
}
