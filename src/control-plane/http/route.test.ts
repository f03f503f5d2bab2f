import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";

const pods = { kind: "resource", group: "", version: "v1", plural: "pods" };

describe("routes", () => {
  it.each([
    ["/", { kind: "root" }],
    ["/version", { kind: "version" }],
    ["/readyz", { kind: "health" }],
    ["/livez/ping", { kind: "health" }],
    ["/api", { kind: "core-versions" }],
    ["/apis", { kind: "groups" }],
    ["/apis/apps", { kind: "group", group: "apps" }],
    ["/api/v1", { kind: "resources", group: "", version: "v1" }],
    ["/apis/apps/v1/", { kind: "resources", group: "apps", version: "v1" }],
    ["/api/v1/pods", { ...pods, namespace: undefined, name: undefined, subresource: undefined }],
    ["/api/v1/namespaces/a/pods", { ...pods, namespace: "a", name: undefined, subresource: undefined }],
    ["/api/v1/namespaces/a/pods/p", { ...pods, namespace: "a", name: "p", subresource: undefined }],
    ["/api/v1/namespaces/a/pods/p/eviction", { ...pods, namespace: "a", name: "p", subresource: "eviction" }],
    [
      "/api/v1/namespaces/a",
      { ...pods, plural: "namespaces", namespace: undefined, name: "a", subresource: undefined },
    ],
    [
      "/api/v1/namespaces/a/finalize",
      { ...pods, plural: "namespaces", namespace: undefined, name: "a", subresource: "finalize" },
    ],
    [
      "/api/v1/nodes/n%2Fm/status",
      { ...pods, plural: "nodes", namespace: undefined, name: "n/m", subresource: "status" },
    ],
    ["/openapi/v3", { kind: "openapi-index" }],
    ["/openapi/v3/api/v1", { kind: "openapi", group: "", version: "v1" }],
    ["/openapi/v3/apis/apps/v1", { kind: "openapi", group: "apps", version: "v1" }],
    ["/openapi/v2", { kind: "openapi-v2" }],
    ["/openapi/v2/api", { kind: "not-found" }],
    ["/metrics", { kind: "not-found" }],
    ["/api/v1/%E0%A4%A", { kind: "malformed" }],
    ["/api//pods", { kind: "malformed" }],
  ])("05 §1 reads %s", (path, route) => {
    expect(routeOf(path)).toEqual(route);
  });
});
