import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configMap, pod, refusal, types } from "../../../../test/contracts/api-objects.ts";
import { runs } from "../../../../test/runs.ts";
import { apiWorld } from "../../../../test/world/api-world.ts";
import type { KubeObject } from "../../../api/object.ts";
import { isKubeError } from "../../../kube/kube-error.ts";

const at = (name: string) => ({ name, namespace: "default" });
const managers = (object: KubeObject) => (object.metadata as { managedFields?: readonly unknown[] }).managedFields;

/** What a manager owns of the object, under "", and of its subresources. */
function ownedBy(object: KubeObject, manager: string): Readonly<Record<string, unknown>> {
  const entries = (managers(object) ?? []) as readonly Readonly<Record<string, unknown>>[];
  const own = entries.filter((entry) => entry["manager"] === manager);
  return Object.fromEntries(own.map(({ subresource, fieldsV1 }) => [subresource ?? "", fieldsV1]));
}

function deployment(spec: object, meta: object = {}): KubeObject {
  const metadata = { name: "web", namespace: "default", ...meta };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec };
}

const template = (containers: readonly object[]) => ({
  selector: { matchLabels: { app: "web" } },
  template: { metadata: { labels: { app: "web" } }, spec: { containers } },
});

describe("server-side apply (05 §3)", () => {
  it("records who owns which fields, and how", async () => {
    const { client } = apiWorld();
    const apply = {
      kind: "apply",
      body: configMap("m", { a: "1" }, { labels: { x: "y" } }),
      fieldManager: "alice",
    } as const;
    await client.patch(types.configMaps, at("m"), apply);
    const body = { data: { b: "2" } };
    const made = await client.patch(types.configMaps, at("m"), { kind: "merge", body }, { fieldManager: "bob" });
    expect(managers(made)).toEqual([
      {
        manager: "alice",
        operation: "Apply",
        apiVersion: "v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { "f:a": {} }, "f:metadata": { "f:labels": { "f:x": {} } } },
      },
      {
        manager: "bob",
        operation: "Update",
        apiVersion: "v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { "f:b": {} } },
      },
    ]);
  });

  it("changes nothing, not even the version, when it is repeated", async () => {
    const { client, clock } = apiWorld();
    const patch = {
      kind: "apply",
      body: deployment(template([{ name: "c", image: "c:1" }])),
      fieldManager: "a",
    } as const;
    const first = await client.patch(types.deployments, at("web"), patch);
    await clock.advance(60_000);
    expect(await client.patch(types.deployments, at("web"), patch)).toBe(first);
  });

  it("owns list items by their keys: each manager its container, its port, its variable", async () => {
    const { client } = apiWorld();
    const apply = (fieldManager: string, containers: readonly object[]) =>
      client.patch(types.deployments, at("web"), {
        kind: "apply",
        body: deployment(template(containers)),
        fieldManager,
      });
    await apply("a", [
      { name: "main", image: "main:1", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] },
    ]);
    await apply("b", [
      { name: "main", image: "main:1", env: [{ name: "B", value: "2" }] },
      { name: "side", image: "side:1" },
    ]);
    const both = await apply("a", [{ name: "main", image: "main:1", env: [{ name: "A", value: "3" }] }]);
    const spec = both.spec as { template: { spec: { containers: Record<string, unknown>[] } } };
    const [main, side] = spec.template.spec.containers;
    expect(main?.["env"]).toEqual([
      { name: "A", value: "3" },
      { name: "B", value: "2" },
    ]);
    expect(main).not.toHaveProperty("ports"); // only a owned it, and a no longer applies it
    expect(side?.["image"]).toBe("side:1");
    const conflict = await refusal(apply("b", [{ name: "main", image: "main:2" }]));
    expect(conflict.status?.message).toBe(
      'Apply failed with 1 conflict: conflict with "a": .spec.template.spec.containers[name="main"].image',
    );
  });

  it("lists all conflicts by manager", async () => {
    const { client } = apiWorld();
    const apply = (fieldManager: string, data: Record<string, string>) =>
      client.patch(types.configMaps, at("m"), { kind: "apply", body: configMap("m", data), fieldManager });
    await apply("a", { x: "1", y: "1" });
    await apply("b", { z: "1" });
    const { status } = await refusal(apply("c", { x: "2", y: "2", z: "2" }));
    expect(status?.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "a":\n- .data.x\n- .data.y\nconflicts with "b":\n- .data.z',
    );
    expect(status?.details?.causes).toHaveLength(3);
  });

  it("attributes unowned fields to before-first-apply", async () => {
    const { client } = apiWorld();
    await client.create(types.configMaps, configMap("m", { a: "1" }));
    const apply = (a: string) =>
      client.patch(types.configMaps, at("m"), { kind: "apply", body: configMap("m", { a }), fieldManager: "x" });
    expect((await refusal(apply("2"))).status?.message).toContain('"before-first-apply" using v1');
    expect(await apply("1")).toMatchObject({ data: { a: "1" } });
  });

  it("lets kubectl take over what it wrote by client-side apply", async () => {
    const { client } = apiWorld();
    const lastApplied = JSON.stringify(configMap("m", { a: "1" }));
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": lastApplied };
    const csa = { fieldManager: "kubectl-client-side-apply" };
    await client.create(types.configMaps, configMap("m", { a: "1" }, { annotations }), csa);
    const apply = (fieldManager: string) =>
      client.patch(types.configMaps, at("m"), { kind: "apply", body: configMap("m", { a: "2" }), fieldManager });
    expect((await refusal(apply("argocd"))).code).toBe("conflict");
    expect(await apply("kubectl")).toMatchObject({ data: { a: "2" } });
  });

  it("keeps status to the status endpoint", async () => {
    const { client } = apiWorld();
    await client.create(types.pods, pod("p"), { fieldManager: "creator" });
    const body = { apiVersion: "v1", kind: "Pod", metadata: at("p"), status: { phase: "Running" } };
    const patch = { kind: "apply", body, fieldManager: "kubelet", force: true } as const;
    const made = await client.patch(types.pods, at("p"), patch, { subresource: "status" });
    expect(made.status).toMatchObject({ phase: "Running" });
    expect(managers(made)).toContainEqual(
      expect.objectContaining({
        manager: "kubelet",
        subresource: "status",
        fieldsV1: { "f:status": { "f:phase": {} } },
      }),
    );
  });

  it("keeps what a manager owns of the object apart from what it owns of the status", async () => {
    const { client } = apiWorld();
    const by = { fieldManager: "operator" };
    await client.create(types.pods, pod("p"), { fieldManager: "maker" });
    const write = (body: object, subresource?: "status") =>
      client.patch(types.pods, at("p"), { kind: "merge", body }, { ...by, ...(subresource && { subresource }) });
    await write({ metadata: { labels: { a: "1" } } });
    await write({ status: { phase: "Running" } }, "status");
    await write({ status: { message: "fine" } }, "status");
    const made = await write({ metadata: { labels: { b: "2" } } });
    expect(ownedBy(made, "operator")).toEqual({
      "": { "f:metadata": { "f:labels": { ".": {}, "f:a": {}, "f:b": {} } } },
      status: { "f:status": { "f:message": {}, "f:phase": {} } },
    });
    expect(ownedBy(await write({ status: { message: null } }, "status"), "operator")).toEqual({
      "": { "f:metadata": { "f:labels": { ".": {}, "f:a": {}, "f:b": {} } } },
      status: { "f:status": { "f:phase": {} } },
    });
  });

  it("requires a manager, and refuses managedFields", async () => {
    const { client } = apiWorld();
    const nobody = { kind: "apply", body: configMap("m"), fieldManager: "" } as const;
    expect((await refusal(client.patch(types.configMaps, at("m"), nobody))).code).toBe("bad-request");
    const forged = configMap("m", {}, { managedFields: [{ manager: "x" }] } as never);
    const patch = { kind: "apply", body: forged, fieldManager: "a" } as const;
    expect((await refusal(client.patch(types.configMaps, at("m"), patch))).code).toBe("bad-request");
  });

  it("the first writer of a map owns it, even when it is empty, as in a real server", async () => {
    const { client } = apiWorld();
    const apply = (manager: string, data: Record<string, string>, force = false) =>
      client.patch(types.configMaps, at("m"), {
        kind: "apply",
        body: configMap("m", data),
        fieldManager: manager,
        force,
      });
    await client.patch(types.configMaps, at("m"), { kind: "apply", body: configMap("m"), fieldManager: "zero" });
    await client.patch(
      types.configMaps,
      at("m"),
      { kind: "merge", body: { data: { a: "1" } } },
      { fieldManager: "alice" },
    );
    await apply("bob", { a: "2" }, true);
    await apply("bob", {});
    const causes = (await refusal(apply("carol", { a: "1" }))).status?.details?.causes ?? [];
    expect(causes.map(({ field }) => field)).toContain(".data");
  });

  it("agrees with a slow model of shared keys", async () => {
    const data = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"), { maxKeys: 3 });
    const step = fc.record({
      manager: fc.constantFrom("alice", "bob", "carol"),
      op: fc.constantFrom("apply", "force", "update"),
      data,
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const { client } = apiWorld();
      const model = new Model();
      // One key stays, so that the map itself is never added or removed, which would be another conflict: see above.
      const kept = { keep: "0" };
      model.apply("zero", kept, false);
      await client.patch(types.configMaps, at("m"), {
        kind: "apply",
        body: configMap("m", kept),
        fieldManager: "zero",
      });
      for (const { manager, op, data: wanted } of steps) {
        const expected = op === "update" ? model.update(manager, wanted) : model.apply(manager, wanted, op === "force");
        const patch =
          op === "update"
            ? ({ kind: "merge", body: { data: wanted } } as const)
            : ({ kind: "apply", body: configMap("m", wanted), fieldManager: manager, force: op === "force" } as const);
        const outcome = await client.patch(types.configMaps, at("m"), patch, { fieldManager: manager }).then(
          () => "done",
          (error: unknown) => {
            if (!isKubeError(error, "conflict")) throw error;
            return error.status?.details?.causes
              ?.map(({ field, message }) => `${field} ${message.split('"')[1]}`)
              .sort();
          },
        );
        expect(outcome).toEqual(expected);
        const now = await client.get<KubeObject & { data?: object }>(types.configMaps, at("m"));
        expect(now.data ?? {}).toEqual(Object.fromEntries(model.data));
      }
    });
    await fc.assert(property, { numRuns: runs(5000) });
  }, 300_000);
});

/** Server-side apply of a flat map, one key at a time. */
class Model {
  readonly data = new Map<string, string>();
  /** By manager and operation. */
  readonly owned = new Map<string, Set<string>>();

  apply(manager: string, wanted: Readonly<Record<string, string>>, force: boolean): "done" | readonly string[] {
    const self = `${manager} Apply`;
    const conflicts: string[] = [];
    for (const [key, value] of Object.entries(wanted)) {
      if (this.data.get(key) === value) continue;
      for (const [other, keys] of this.owned) {
        if (other !== self && keys.has(key)) conflicts.push(`.data.${key} ${other.split(" ")[0]}`);
      }
    }
    if (conflicts.length > 0 && !force) return conflicts.sort();
    for (const [key, value] of Object.entries(wanted)) if (this.data.get(key) !== value) this.#take(key, self);
    const before = this.owned.get(self) ?? new Set();
    this.owned.set(self, new Set(Object.keys(wanted)));
    for (const key of before) if (![...this.owned.values()].some((keys) => keys.has(key))) this.data.delete(key);
    for (const [key, value] of Object.entries(wanted)) this.data.set(key, value);
    return "done";
  }

  update(manager: string, wanted: Readonly<Record<string, string>>): "done" {
    const self = `${manager} Update`;
    for (const [key, value] of Object.entries(wanted)) {
      if (this.data.get(key) === value) continue;
      this.#take(key, self);
      this.owned.set(self, (this.owned.get(self) ?? new Set()).add(key));
      this.data.set(key, value);
    }
    return "done";
  }

  #take(key: string, self: string): void {
    for (const [other, keys] of this.owned) if (other !== self) keys.delete(key);
  }
}
