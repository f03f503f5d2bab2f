import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { createObjects } from "../../src/control-plane/load-objects.ts";
import { reviewTypes } from "../../src/kube/resources.ts";
import { apiWorld } from "../world/api-world.ts";

const group = "rbac.authorization.k8s.io";
const role = (kind: "Role" | "ClusterRole", name: string, ...rules: readonly object[]) => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name, ...(kind === "Role" && { namespace: "shop" }) },
  rules,
});
const binding = (kind: "RoleBinding" | "ClusterRoleBinding", name: string, roleKind: string, subject: object) => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name, ...(kind === "RoleBinding" && { namespace: "shop" }) },
  roleRef: { apiGroup: group, kind: roleKind, name },
  subjects: [subject],
});

async function reviewing() {
  const world = apiWorld();
  await world.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await createObjects(world.api, [
    role("ClusterRole", "paths", { nonResourceURLs: ["/metrics", "/explain/*"], verbs: ["get"] }),
    binding("ClusterRoleBinding", "paths", "ClusterRole", { kind: "Group", name: "viewers" }),
    role("Role", "logs", { apiGroups: [""], resources: ["pods/log"], verbs: ["get"], resourceNames: ["web"] }),
    binding("RoleBinding", "logs", "Role", { kind: "User", name: "ann" }),
    role("ClusterRole", "scaling", { apiGroups: ["apps"], resources: ["*/scale"], verbs: ["*"] }),
    binding("RoleBinding", "scaling", "ClusterRole", { kind: "ServiceAccount", name: "bot", namespace: "shop" }),
  ]);
  return async (spec: object): Promise<boolean | undefined> => {
    const made = await world.client.create<KubeObject & { status: { allowed?: boolean } }>(
      reviewTypes.SubjectAccessReview,
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: {},
        spec,
      } as unknown as KubeObject,
    );
    return made.status.allowed;
  };
}

describe("05 §5 SubjectAccessReview", () => {
  const log = { group: "", resource: "pods", subresource: "log", verb: "get", name: "web", namespace: "shop" };
  const scale = { group: "apps", resource: "deployments", subresource: "scale", verb: "patch", namespace: "shop" };
  it.each<[string, boolean, object]>([
    ["a path of a rule", true, { groups: ["viewers"], nonResourceAttributes: { path: "/metrics", verb: "get" } }],
    [
      "a path below one",
      true,
      { groups: ["viewers"], nonResourceAttributes: { path: "/explain/node/n", verb: "get" } },
    ],
    ["another verb", false, { groups: ["viewers"], nonResourceAttributes: { path: "/metrics", verb: "post" } }],
    ["another path", false, { groups: ["viewers"], nonResourceAttributes: { path: "/metricsx", verb: "get" } }],
    ["another group", false, { groups: ["others"], nonResourceAttributes: { path: "/metrics", verb: "get" } }],
    ["a subresource by name", true, { user: "ann", resourceAttributes: log }],
    ["of another name", false, { user: "ann", resourceAttributes: { ...log, name: "db" } }],
    ["in another namespace", false, { user: "ann", resourceAttributes: { ...log, namespace: "default" } }],
    ["the resource itself", false, { user: "ann", resourceAttributes: { ...log, subresource: "" } }],
    ["a subresource of all", true, { user: "system:serviceaccount:shop:bot", resourceAttributes: scale }],
    ["the masters", true, { user: "x", groups: ["system:masters"], resourceAttributes: scale }],
    ["nobody", false, { user: "x", resourceAttributes: scale }],
  ])("%s: %s", async (_, expected, spec) => {
    expect(await (await reviewing())(spec)).toBe(expected);
  });
});
