import { describe, expect, it } from "vitest";
import { refusal, types } from "../../../test/contracts/api-objects.ts";
import { apiWorld } from "../../../test/world/api-world.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import { listAt } from "../object-fields.ts";

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 1 },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      },
    },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

function gadgets(changes: object = {}, version: object = {}): KubeObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "gadgets.example.com" },
    spec: {
      group: "example.com",
      names: { plural: "gadgets", kind: "Gadget", shortNames: ["gd"] },
      scope: "Cluster",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
      ...changes,
    },
  };
}

const type = (version: string): ResourceType => ({
  group: "example.com",
  version,
  kind: "Gadget",
  plural: "gadgets",
  namespaced: false,
});
const gadget = (spec: object = {}, metadata: object = { name: "g" }, version = "v1") =>
  ({ apiVersion: `example.com/${version}`, kind: "Gadget", metadata, spec }) as unknown as KubeObject;

describe("custom resource definitions (05 §3)", () => {
  it("are established with the names they request", async () => {
    const { client, api } = apiWorld();
    expect((await refusal(client.list(type("v1")))).code).toBe("not-found");
    const made = await client.create(types.definitions, gadgets());
    const conditions = listAt(made.status, "conditions").map(({ type: name, status }) => `${name}=${status}`);
    expect(conditions).toEqual(["NamesAccepted=True", "Established=True"]);
    expect(made.status).toMatchObject({
      acceptedNames: { plural: "gadgets", singular: "gadget", listKind: "GadgetList" },
      storedVersions: ["v1"],
    });
    expect(api.kinds.get(type("v1"))).toMatchObject({ shortNames: ["gd"], singular: "gadget" });
    expect((await client.list(type("v1"))).items).toEqual([]);
  });

  it("do not get a name another one has", async () => {
    const { client } = apiWorld();
    await client.create(types.definitions, gadgets());
    const other = gadgets({ names: { plural: "gizmos", kind: "Gizmo", shortNames: ["gd"] } });
    const made = await client.create(types.definitions, { ...other, metadata: { name: "gizmos.example.com" } });
    expect(listAt(made.status, "conditions").map(({ status }) => status)).toEqual(["False", "False"]);
    expect((await refusal(client.list({ ...type("v1"), plural: "gizmos" }))).code).toBe("not-found");
  });

  it.each([
    ["another name", { ...gadgets(), metadata: { name: "other.example.com" } }, "metadata.name"],
    ["no schema", gadgets({}, { schema: undefined }), "spec.versions[0].schema.openAPIV3Schema"],
    ["no storage version", gadgets({}, { storage: false }), "spec.versions"],
    ["an odd scope", gadgets({ scope: "Universe" }), "spec.scope"],
  ])("are refused with %s", async (_, definition, field) => {
    const { client } = apiWorld();
    const error = await refusal(client.create(types.definitions, definition as KubeObject));
    expect(error.status?.details?.causes?.[0]?.field).toBe(field);
  });

  it("change what is served while the server runs", async () => {
    const { client } = apiWorld();
    await client.create(types.definitions, gadgets());
    await client.create(type("v1"), gadget({ size: 1 }));
    const versions = [
      { name: "v1", served: true, storage: false, schema: { openAPIV3Schema: schema } },
      { name: "v2", served: true, storage: true, schema: { openAPIV3Schema: schema }, deprecated: false },
    ];
    const body = { spec: { versions } };
    const changed = await client.patch(types.definitions, { name: "gadgets.example.com" }, { kind: "merge", body });
    expect(changed.status).toMatchObject({ storedVersions: ["v1", "v2"] });
    expect(await client.get(type("v2"), { name: "g" })).toMatchObject({ spec: { size: 1 } });
    await client.create(type("v1"), gadget({ size: 2 }, { name: "h" }));
    expect(await client.get(type("v2"), { name: "h" })).toMatchObject({ apiVersion: "example.com/v2" });
    expect(await client.get(type("v1"), { name: "h" })).toMatchObject({ apiVersion: "example.com/v1" });
  });

  it("count generations of everything but metadata and status", async () => {
    const { client } = apiWorld();
    await client.create(types.definitions, gadgets({}, { subresources: { status: {} } }));
    const made = await client.create(type("v1"), { ...gadget({ size: 1 }), status: { ok: true } });
    expect(made).not.toHaveProperty("status");
    const patch = (body: object, subresource?: "status") =>
      client.patch(type("v1"), { name: "g" }, { kind: "merge", body }, { subresource });
    expect((await patch({ metadata: { labels: { a: "b" } } })).metadata.generation).toBe(1);
    expect((await patch({ spec: { size: 2 }, status: { ok: true } })).metadata.generation).toBe(2);
    const reported = await patch(
      { metadata: { labels: { c: "d" } }, spec: { size: 3 }, status: { ok: true } },
      "status",
    );
    expect(reported).toMatchObject({ spec: { size: 2 }, status: { ok: true }, metadata: { generation: 2 } });
    expect(reported.metadata.labels).toEqual({ a: "b" });
  });

  it("must name the version an update replaces", async () => {
    const { client } = apiWorld();
    await client.create(types.definitions, gadgets());
    await client.create(type("v1"), gadget({ size: 1 }));
    const error = await refusal(client.update(type("v1"), gadget({ size: 2 })));
    expect(error.status?.details?.causes?.[0]?.field).toBe("metadata.resourceVersion");
  });

  it("are deleted after their last object, and delete their objects", async () => {
    const { client } = apiWorld();
    await client.create(types.definitions, gadgets());
    await client.create(type("v1"), gadget({}, { name: "free" }));
    await client.create(type("v1"), gadget({}, { name: "held", finalizers: ["example.com/hold"] }));
    const terminating = await client.delete(types.definitions, { name: "gadgets.example.com" });
    expect(listAt(terminating?.status, "conditions").at(-1)).toMatchObject({ type: "Terminating", status: "True" });
    expect((await client.list(type("v1"))).items.map(({ metadata }) => metadata.name)).toEqual(["held"]);
    expect((await refusal(client.create(type("v1"), gadget({}, { name: "late" })))).code).toBe("method-not-allowed");
    await client.patch(type("v1"), { name: "held" }, { kind: "merge", body: { metadata: { finalizers: null } } });
    expect((await refusal(client.get(types.definitions, { name: "gadgets.example.com" }))).code).toBe("not-found");
    expect((await refusal(client.list(type("v1")))).code).toBe("not-found");
  });

  it("own list items by value where the schema says set", async () => {
    const { client } = apiWorld();
    await client.create(types.definitions, gadgets());
    const apply = (fieldManager: string, tags: readonly string[]) =>
      client.patch(type("v1"), { name: "g" }, { kind: "apply", body: gadget({ tags }), fieldManager });
    await apply("a", ["x", "y"]);
    await apply("b", ["y", "z"]);
    expect((await apply("a", [])).spec).toEqual({ tags: ["y", "z"] });
  });

  it("05:CP-S3 may not replace a built-in kind, by its plural or its kind", async () => {
    const { client, api } = apiWorld();
    const lease = api.kinds.get(types.leases);
    for (const names of [
      { plural: "leases", kind: "Rent" },
      { plural: "rents", kind: "Lease" },
    ]) {
      const definition = gadgets({ group: "coordination.k8s.io", names });
      const named = { ...definition, metadata: { name: `${names.plural}.coordination.k8s.io` } };
      const refused = await refusal(client.create(types.definitions, named));
      expect(refused.code).toBe("invalid");
      expect(refused.message).toContain("coordination.k8s.io has a built-in kind of this name");
    }
    expect(api.kinds.get(types.leases)).toBe(lease);
    await client.create(types.definitions, {
      ...gadgets({ group: "coordination.k8s.io", names: { plural: "gadgets", kind: "Gadget" } }),
      metadata: { name: "gadgets.coordination.k8s.io" },
    });
  });

  it("05:CP-S3 of a built-in kind in a data folder are not served, and deleting them deletes nothing else", async () => {
    const key = "leases.coordination.k8s.io";
    const definition = {
      ...gadgets({ group: "coordination.k8s.io", names: { plural: "leases", kind: "Lease" } }),
      metadata: { name: key, uid: "u", resourceVersion: "1" },
      status: { conditions: [{ type: "Established", status: "True" }] },
    };
    const entry = { op: "put", revision: 1, storage: "customresourcedefinitions.apiextensions.k8s.io", key } as const;
    const { client, api } = apiWorld({ restore: [{ ...entry, object: definition }] });
    expect(api.kinds.get(types.leases).custom).toBeUndefined();
    const made = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l", namespace: "default" } };
    await client.create(types.leases, made);
    await client.delete(types.definitions, { name: key });
    expect((await client.list(types.leases)).items).toHaveLength(1);
    expect((await client.list(types.definitions)).items).toEqual([]);
  });

  it("05 §3 are deleted only if the preconditions hold", async () => {
    const { client } = apiWorld();
    const made = await client.create(types.definitions, gadgets());
    await client.create(type("v1"), gadget({ size: 1 }));
    const key = { name: "gadgets.example.com" };
    for (const preconditions of [{ uid: "another" }, { resourceVersion: "1" }]) {
      expect((await refusal(client.delete(types.definitions, key, { preconditions }))).code).toBe("conflict");
    }
    expect(await client.get(types.definitions, key)).toEqual(made);
    expect((await client.list(type("v1"))).items).toHaveLength(1);
    const { uid = "" } = made.metadata;
    await client.delete(types.definitions, key, { preconditions: { uid } });
  });

  it("05:CP-S3 are refused if a rule could cost too much, with the words of Kubernetes", async () => {
    const { client } = apiWorld();
    const withRule = (rule: string, list: object = {}) => {
      const spec = {
        type: "object",
        properties: { a: { type: "array", items: { type: "integer" }, ...list } },
        "x-kubernetes-validations": [{ rule }],
      };
      const openAPIV3Schema = { type: "object", properties: { spec } };
      return gadgets({}, { schema: { openAPIV3Schema } });
    };
    const nested = "self.a.all(x, self.a.all(y, x + y >= 0))";
    const refused = await refusal(client.create(types.definitions, withRule(nested)));
    expect(refused.code).toBe("invalid");
    expect(refused.message).toContain(
      "Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule",
    );
    expect(refused.message).toContain("x-kubernetes-validations[0].rule");
    await client.create(types.definitions, withRule(nested, { maxItems: 100 }));
  });
});
