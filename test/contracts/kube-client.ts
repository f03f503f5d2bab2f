import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject, ObjectMeta } from "../../src/api/object.ts";
import type { KubeClient, ResourceType, WatchEvent } from "../../src/kube/client.ts";
import { isKubeError, type KubeErrorCode } from "../../src/kube/kube-error.ts";

/** A server under test, as seen through one implementation of `KubeClient`. */
interface ClientUnderTest {
  readonly client: KubeClient;
  close?(): Promise<void>;
}

export interface ContractOptions {
  /** Opens it once for the whole suite. */
  readonly open: () => Promise<ClientUnderTest>;
  /** Told apart from earlier runs on the same server. */
  readonly suffix?: string;
}

const namespaces = type("", "v1", "Namespace", "namespaces", false);
const configMaps = type("", "v1", "ConfigMap", "configmaps");
const pods = type("", "v1", "Pod", "pods");
const accounts = type("", "v1", "ServiceAccount", "serviceaccounts");
const deployments = type("apps", "v1", "Deployment", "deployments");
const definitions = type("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false);

function type(group: string, version: string, kind: string, plural: string, namespaced = true): ResourceType {
  return { group, version, kind, plural, namespaced };
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** What every `KubeClient` does, whatever is behind it: the embedded server, in process or by HTTP, or a real one. */
export function kubeClientContract(title: string, { open, suffix = "" }: ContractOptions): void {
  describe(`KubeClient contract: ${title}`, () => {
    const namespace = `contract${suffix}`;
    let under: ClientUnderTest;
    let client: KubeClient;

    beforeAll(async () => {
      under = await open();
      client = under.client;
      await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    });
    afterAll(async () => {
      await client.delete(namespaces, { name: namespace });
      await under.close?.();
    });

    const map = (name: string, data: Readonly<Record<string, string>> = {}, meta: ObjectMeta = {}): ConfigMap => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, ...meta },
      data,
    });

    describe("objects", () => {
      it("05 §3 creates, and gives the object a uid, a version and a time", async () => {
        const made = await client.create<ConfigMap>(configMaps, map("create", { a: "1" }));
        expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
        expect(made.metadata.resourceVersion).toMatch(/^\d+$/);
        expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(await client.get(configMaps, { name: "create", namespace })).toEqual(made);
      });

      it("hands out frozen objects", async () => {
        const made = await client.create<ConfigMap>(configMaps, map("frozen", { a: "1" }));
        expect(Object.isFrozen(made) && Object.isFrozen(made.metadata) && Object.isFrozen(made.data)).toBe(true);
        const got = await client.get<ConfigMap>(configMaps, { name: "frozen", namespace });
        expect(Object.isFrozen(got.data)).toBe(true);
      });

      it("05 §3 refuses a second object of the same name", async () => {
        await client.create(configMaps, map("twice"));
        await expectRefused(client.create(configMaps, map("twice")), "already-exists", 409);
      });

      it("05 §3 draws a name from generateName", async () => {
        const { name: _, ...meta } = map("").metadata;
        const object = { ...map(""), metadata: { ...meta, generateName: "drawn-" } };
        const [one, two] = [await client.create(configMaps, object), await client.create(configMaps, object)];
        expect(one.metadata.name).toMatch(/^drawn-[a-z0-9]{5}$/);
        expect(two.metadata.name).not.toBe(one.metadata.name);
      });

      it("05 §3 does not create in a namespace that is not there", async () => {
        const object = { ...map("lost"), metadata: { name: "lost", namespace: "nowhere-at-all" } };
        await expectRefused(client.create(configMaps, object), "not-found", 404);
      });

      it("05 §3 says what is missing", async () => {
        const error = await refusal(client.get(configMaps, { name: "nobody", namespace }));
        expect(error.code).toBe("not-found");
        expect(error.status?.message).toBe('configmaps "nobody" not found');
        expect(error.status?.details).toEqual({ name: "nobody", kind: "configmaps" });
      });

      it("05 §3 refuses what is invalid, with causes", async () => {
        const error = await refusal(client.create(configMaps, map("Not_A_Name")));
        expect(error.code).toBe("invalid");
        expect(error.status?.code).toBe(422);
        expect(error.status?.details?.causes?.map(({ field }) => field)).toContain("metadata.name");
      });

      it("05 §3 stores nothing on a dry run", async () => {
        const made = await client.create(configMaps, map("dry"), { dryRun: true });
        expect(made.metadata.name).toBe("dry");
        await expectRefused(client.get(configMaps, { name: "dry", namespace }), "not-found", 404);
      });

      it("05 §3 refuses unknown fields when asked to be strict", async () => {
        const odd = { ...map("odd"), colour: "blue" };
        await expectRefused(client.create(configMaps, odd, { fieldValidation: "Strict" }), "bad-request", 400);
        const made = await client.create(configMaps, odd, { fieldValidation: "Ignore" });
        expect(made).not.toHaveProperty("colour");
      });
    });

    describe("updates", () => {
      it("05 §3 replaces, and refuses who has not seen the latest version", async () => {
        const first = await client.create<ConfigMap>(configMaps, map("replace", { a: "1" }));
        const second = await client.update<ConfigMap>(configMaps, { ...first, data: { a: "2" } } as KubeObject);
        expect(second.data).toEqual({ a: "2" });
        expect(second.metadata.uid).toBe(first.metadata.uid);
        expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
        await expectRefused(client.update(configMaps, { ...first, data: { a: "3" } } as KubeObject), "conflict", 409);
      });

      it("05 §3 keeps the version when nothing changes", async () => {
        const first = await client.create<ConfigMap>(configMaps, map("same", { a: "1" }));
        const second = await client.update(configMaps, first);
        expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      });

      it("05 §3 counts generations of the spec, and keeps status to its subresource", async () => {
        const made = await client.create(deployments, deployment("generations"));
        expect(made.metadata.generation).toBe(1);
        const key = { name: "generations", namespace };
        const labelled = await patch(deployments, key, { metadata: { labels: { a: "b" } } });
        expect(labelled.metadata.generation).toBe(1);
        const changed = await patch(deployments, key, { spec: { paused: true }, status: { replicas: 7 } });
        expect(changed.metadata.generation).toBe(2);
        expect(changed.status).not.toHaveProperty("replicas");
        const body = { spec: { paused: false }, status: { observedGeneration: 2 } };
        const reported = await client.patch(deployments, key, { kind: "merge", body }, { subresource: "status" });
        expect(reported.spec).toMatchObject({ paused: true });
        expect(reported.status).toMatchObject({ observedGeneration: 2 });
        expect(reported.metadata.generation).toBe(2);
      });

      it("05 §3 refuses to change what cannot be changed", async () => {
        await client.create(deployments, deployment("immutable"));
        const body = {
          spec: { selector: { matchLabels: { app: "other" } }, template: { metadata: { labels: { app: "other" } } } },
        };
        const change = client.patch(deployments, { name: "immutable", namespace }, { kind: "merge", body });
        const error = await refusal(change);
        expect(error.code).toBe("invalid");
        expect(error.status?.details?.causes?.[0]?.field).toBe("spec.selector");
      });
    });

    describe("patches", () => {
      it("05 §3 merges, and null deletes", async () => {
        await client.create(configMaps, map("merge", { a: "1", b: "2" }));
        const body = { data: { a: null, c: "3" } };
        const made = await client.patch<ConfigMap>(configMaps, at("merge"), { kind: "merge", body });
        expect(made.data).toEqual({ b: "2", c: "3" });
      });

      it("05 §3 runs JSON patches, all or nothing", async () => {
        await client.create(configMaps, map("json", { a: "1" }));
        const good = [
          { op: "test", path: "/data/a", value: "1" },
          { op: "add", path: "/data/b", value: "2" },
          { op: "remove", path: "/data/a" },
        ];
        const made = await client.patch<ConfigMap>(configMaps, at("json"), { kind: "json", body: good });
        expect(made.data).toEqual({ b: "2" });
        const bad = [
          { op: "add", path: "/data/c", value: "3" },
          { op: "test", path: "/data/b", value: "no" },
        ];
        await expectRefused(client.patch(configMaps, at("json"), { kind: "json", body: bad }), "invalid", 422);
        expect((await client.get<ConfigMap>(configMaps, at("json"))).data).toEqual({ b: "2" });
      });

      it("05 §3 merges lists of built-in kinds by their keys", async () => {
        await client.create(deployments, deployment("strategic"));
        const body = { spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } } };
        const made = await client.patch(deployments, at("strategic"), { kind: "strategic", body });
        const { containers } = (made.spec as { template: { spec: { containers: { name: string }[] } } }).template.spec;
        expect(containers.map(({ name }) => name).sort()).toEqual(["main", "side"]);
      });

      it("05 §3 refuses a patch of what is not there", async () => {
        const body = { data: {} };
        await expectRefused(client.patch(configMaps, at("never"), { kind: "merge", body }), "not-found", 404);
      });
    });

    describe("server-side apply", () => {
      const apply = (name: string, data: Readonly<Record<string, string>>, fieldManager: string, force = false) =>
        client.patch<ConfigMap>(configMaps, at(name), { kind: "apply", body: map(name, data), fieldManager, force });

      it("05 §3 creates what is not there, and removes what is no longer applied", async () => {
        await apply("applied", { a: "1", b: "1" }, "alice");
        const second = await apply("applied", { a: "2" }, "alice");
        expect(second.data).toEqual({ a: "2" });
      });

      it("05 §3 refuses to take another's field, naming both, unless forced", async () => {
        await apply("fought", { a: "1" }, "alice");
        const error = await refusal(apply("fought", { a: "2", b: "2" }, "bob"));
        expect(error.code).toBe("conflict");
        expect(error.status?.message).toBe('Apply failed with 1 conflict: conflict with "alice": .data.a');
        expect(error.status?.details?.causes).toEqual([
          { reason: "FieldManagerConflict", message: 'conflict with "alice"', field: ".data.a" },
        ]);
        expect((await apply("fought", { a: "2", b: "2" }, "bob", true)).data).toEqual({ a: "2", b: "2" });
        // What bob took by force is no longer alice's to remove.
        expect((await apply("fought", {}, "alice")).data).toEqual({ a: "2", b: "2" });
      });

      it("05 §3 lets two own what they agree on", async () => {
        await apply("shared", { a: "1" }, "alice");
        await apply("shared", { a: "1" }, "bob");
        expect((await apply("shared", {}, "alice")).data).toEqual({ a: "1" });
        expect((await apply("shared", {}, "bob")).data ?? {}).toEqual({});
      });

      it("05 §3 counts a plain update as its writer's", async () => {
        await apply("updated", { a: "1" }, "alice");
        const body = { data: { a: "2" } };
        await client.patch(configMaps, at("updated"), { kind: "merge", body }, { fieldManager: "carol" });
        const error = await refusal(apply("updated", { a: "1" }, "alice"));
        expect(error.code).toBe("conflict");
        expect(error.status?.details?.causes?.[0]?.message).toMatch(/^conflict with "carol" using v1/);
      });
    });

    describe("lists", () => {
      it("05 §3 selects by labels and by fields", async () => {
        const names = ["l1", "l2", "l3"];
        for (const [index, name] of names.entries()) {
          const labels = { group: "listed", tier: index === 0 ? "a" : "b" };
          await client.create(configMaps, map(name, {}, { name, namespace, labels }));
        }
        const select = async (labelSelector: string, fieldSelector?: string) =>
          (await client.list(configMaps, { namespace, labelSelector, fieldSelector })).items.map(
            ({ metadata }) => metadata.name,
          );
        expect(await select("group=listed")).toEqual(names);
        expect(await select("group=listed,tier!=a")).toEqual(["l2", "l3"]);
        expect(await select("group in (listed, other),tier notin (b)")).toEqual(["l1"]);
        expect(await select("group,!tier")).toEqual([]);
        expect(await select("group=listed", "metadata.name=l2")).toEqual(["l2"]);
        expect(await select("group=listed", "metadata.name!=l2")).toEqual(["l1", "l3"]);
      });

      it("05 §3 refuses selectors it cannot read, and fields it cannot select by", async () => {
        await expectRefused(client.list(configMaps, { namespace, labelSelector: "a in (" }), "bad-request", 400);
        await expectRefused(client.list(configMaps, { namespace, fieldSelector: "data.a=1" }), "bad-request", 400);
      });

      it("05 §3 pages show one moment, whatever is written meanwhile", async () => {
        const labels = { group: "paged" };
        for (let i = 0; i < 7; i++) await client.create(configMaps, map(`page-${i}`, {}, meta(`page-${i}`, labels)));
        const options = { namespace, labelSelector: "group=paged", limit: 3 };
        const first = await client.list(configMaps, options);
        expect(first.items).toHaveLength(3);
        await client.create(configMaps, map("page-9", {}, meta("page-9", labels)));
        await client.delete(configMaps, at("page-5"));
        const names = first.items.map(({ metadata }) => metadata.name);
        let token = first.continue;
        while (token !== undefined) {
          const page = await client.list(configMaps, { ...options, continue: token });
          expect(page.resourceVersion).toBe(first.resourceVersion);
          names.push(...page.items.map(({ metadata }) => metadata.name));
          token = page.continue;
        }
        expect(names).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => `page-${i}`));
      });
    });

    describe("watches", () => {
      it("05 §3 continues where a list ended", async () => {
        const labels = { group: "watched" };
        const select = { namespace, labelSelector: "group=watched" };
        await client.create(configMaps, map("w0", {}, meta("w0", labels)));
        const { resourceVersion } = await client.list(configMaps, select);
        await client.create(configMaps, map("w1", { a: "1" }, meta("w1", labels)));
        const seen = collect(client, { ...select, resourceVersion }, 3);
        await client.patch(configMaps, at("w1"), { kind: "merge", body: { data: { a: "2" } } });
        await client.delete(configMaps, at("w0"));
        expect((await seen).map(nameAndType)).toEqual(["ADDED w1", "MODIFIED w1", "DELETED w0"]);
      });

      it("05 §3 shows entering a selection as an addition and leaving it as a deletion", async () => {
        const { resourceVersion } = await client.list(configMaps, { namespace });
        const seen = collect(client, { namespace, labelSelector: "in=yes", resourceVersion }, 3);
        await client.create(configMaps, map("mover", { a: "1" }));
        const label = (value: string | null) => ({ metadata: { labels: { in: value } } });
        await client.patch(configMaps, at("mover"), { kind: "merge", body: label("yes") });
        await client.patch(configMaps, at("mover"), { kind: "merge", body: label(null) });
        await client.patch(configMaps, at("mover"), { kind: "merge", body: label("yes") });
        expect((await seen).map(nameAndType)).toEqual(["ADDED mover", "DELETED mover", "ADDED mover"]);
      });

      it("05 §3 begins with all there is when no version is given", async () => {
        await client.create(configMaps, map("there", {}, meta("there", { group: "initial" })));
        const seen = await collect(client, { namespace, labelSelector: "group=initial" }, 1);
        expect(seen.map(nameAndType)).toEqual(["ADDED there"]);
      });

      it("05 §3 sends the initial events on request, and says when they end", async () => {
        await client.create(configMaps, map("streamed", {}, meta("streamed", { group: "streamed" })));
        const options = { namespace, labelSelector: "group=streamed", sendInitialEvents: true, bookmarks: true };
        const [added, end] = await collect(client, options, 2);
        expect(added && nameAndType(added)).toBe("ADDED streamed");
        expect(end).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
      });

      it("05 §3 ends after its timeout", async () => {
        const { resourceVersion } = await client.list(configMaps, { namespace });
        const signal = new AbortController().signal;
        const seen: unknown[] = [];
        for await (const event of client.watch(configMaps, { namespace, resourceVersion, timeoutSeconds: 1, signal })) {
          seen.push(event);
        }
        expect(seen).toEqual([]);
      });

      it("ends when it is aborted", async () => {
        const controller = new AbortController();
        const { resourceVersion } = await client.list(configMaps, { namespace });
        const watch = client.watch(configMaps, { namespace, resourceVersion, signal: controller.signal });
        const iterator = watch[Symbol.asyncIterator]();
        const next = iterator.next();
        controller.abort();
        expect((await next).done).toBe(true);
      });
    });

    describe("deletion", () => {
      it("05 §3 deletes at once what nothing holds", async () => {
        await client.create(configMaps, map("gone"));
        expect(await client.delete(configMaps, at("gone"))).toBeUndefined();
        await expectRefused(client.get(configMaps, at("gone")), "not-found", 404);
        await expectRefused(client.delete(configMaps, at("gone")), "not-found", 404);
      });

      it("05 §3 waits for finalizers, and accepts no new ones", async () => {
        const finalizers = ["example.com/hold"];
        await client.create(configMaps, map("held", {}, { ...meta("held"), finalizers }));
        const marked = await client.delete(configMaps, at("held"));
        expect(marked?.metadata.deletionTimestamp).toBeDefined();
        const more = { metadata: { finalizers: [...finalizers, "example.com/more"] } };
        await expectRefused(client.patch(configMaps, at("held"), { kind: "merge", body: more }), "invalid", 422);
        await client.patch(configMaps, at("held"), { kind: "merge", body: { metadata: { finalizers: null } } });
        await expectRefused(client.get(configMaps, at("held")), "not-found", 404);
      });

      it("05 §3 deletes only the object that was meant", async () => {
        const { metadata } = await client.create(configMaps, map("meant"));
        const wrong = { preconditions: { uid: "00000000-0000-4000-8000-000000000000" } };
        await expectRefused(client.delete(configMaps, at("meant"), wrong), "conflict", 409);
        const right = { preconditions: { uid: metadata.uid ?? "" } };
        expect(await client.delete(configMaps, at("meant"), right)).toBeUndefined();
      });

      it("05 §3 deletes nothing on a dry run", async () => {
        await client.create(configMaps, map("spared"));
        await client.delete(configMaps, at("spared"), { dryRun: true });
        expect((await client.get(configMaps, at("spared"))).metadata.name).toBe("spared");
      });
    });

    describe("subresources", () => {
      it("05 §3 scales", async () => {
        await client.create(deployments, deployment("scaled"));
        const body = { spec: { replicas: 3 } };
        const options = { subresource: "scale" } as const;
        const scale = await client.patch(deployments, at("scaled"), { kind: "merge", body }, options);
        expect(scale.kind).toBe("Scale");
        expect(scale.spec).toEqual({ replicas: 3 });
        expect((await client.get(deployments, at("scaled"))).spec).toMatchObject({ replicas: 3 });
      });

      it("05 §3 binds a pod to a node once, and evicts it", async () => {
        await client.create(accounts, {
          apiVersion: "v1",
          kind: "ServiceAccount",
          metadata: { name: "pods", namespace },
        });
        await client.create(pods, pod("bound"));
        const target = { apiVersion: "v1", kind: "Node", name: "node-1" };
        const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "bound", namespace }, target };
        const options = { subresource: "binding", name: "bound" } as const;
        await client.create(pods, binding, options);
        expect((await client.get(pods, at("bound"))).spec).toMatchObject({ nodeName: "node-1" });
        await expectRefused(client.create(pods, binding, options), "conflict", 409);

        const eviction = {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name: "bound", namespace },
          deleteOptions: { gracePeriodSeconds: 0 },
        };
        await client.create(pods, eviction, { subresource: "eviction", name: "bound" });
        await expectRefused(client.get(pods, at("bound")), "not-found", 404);
      });
    });

    describe("custom resources", () => {
      it("05 §3 serves, defaults, validates and prunes a kind from its definition", async () => {
        const group = `contract${suffix}.example.com`;
        await client.create(definitions, definition(group));
        const widgets = type(group, "v1", "Widget", "widgets");
        const widget = (name: string, spec: unknown) =>
          ({
            apiVersion: `${group}/v1`,
            kind: "Widget",
            metadata: { name, namespace },
            spec,
            status: { ok: true },
          }) as const;
        const made = await eventually(() => client.create(widgets, widget("one", { size: 3, extra: 1 })));
        expect(made.spec).toEqual({ size: 3, colour: "red" });
        expect(made).not.toHaveProperty("status");
        const error = await refusal(client.create(widgets, widget("two", { size: 11 })));
        expect(error.code).toBe("invalid");
        expect(error.status?.details?.causes?.map(({ field }) => field)).toEqual(["spec.size"]);
        const shrink = client.patch(widgets, at("one"), { kind: "merge", body: { spec: { size: 2 } } });
        expect((await refusal(shrink)).status?.message).toContain("may not shrink");
        const strategic = client.patch(widgets, at("one"), { kind: "strategic", body: { spec: { size: 4 } } });
        await expectRefused(strategic, "unsupported-media-type", 415);
        await client.delete(widgets, at("one"));
        await client.delete(definitions, { name: `widgets.${group}` });
      });
    });

    function at(name: string) {
      return { name, namespace };
    }

    function meta(name: string, labels: Readonly<Record<string, string>> = {}): ObjectMeta {
      return { name, namespace, labels };
    }

    function patch(of: ResourceType, key: { name: string; namespace: string }, body: unknown) {
      return client.patch(of, key, { kind: "merge", body });
    }

    function deployment(name: string): KubeObject {
      const labels = { app: name };
      return {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name, namespace },
        spec: {
          // None, so that no controller of a real cluster has anything to do.
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "main:1" }] } },
        },
      };
    }

    function pod(name: string): KubeObject {
      const spec = {
        serviceAccountName: "pods",
        automountServiceAccountToken: false,
        schedulerName: "nobody",
        containers: [{ name: "main", image: "main:1" }],
      };
      return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
    }
  });
}

function definition(group: string): KubeObject {
  const spec = {
    type: "object",
    required: ["size"],
    properties: {
      size: {
        type: "integer",
        maximum: 10,
        "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "may not shrink" }],
      },
      colour: { type: "string", default: "red" },
    },
  };
  const status = { type: "object", properties: { ok: { type: "boolean" } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      names: { plural: "widgets", kind: "Widget" },
      scope: "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
        },
      ],
    },
  };
}

async function refusal(promise: Promise<unknown>) {
  try {
    await promise;
  } catch (error) {
    if (isKubeError(error)) return error;
    throw error;
  }
  throw new Error("expected a refusal");
}

async function expectRefused(promise: Promise<unknown>, code: KubeErrorCode, http: number): Promise<void> {
  const error = await refusal(promise);
  expect([error.code, error.status?.code]).toEqual([code, http]);
}

/** A real server needs a moment to serve a new kind. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries >= 50 || !isKubeError(error, "not-found")) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

type WatchedOptions = Omit<Parameters<KubeClient["watch"]>[1], "signal">;

/** The first events of a watch, bookmarks only where they were asked for. */
async function collect(
  client: KubeClient,
  options: WatchedOptions,
  count: number,
): Promise<readonly WatchEvent<KubeObject>[]> {
  const controller = new AbortController();
  const events: WatchEvent<KubeObject>[] = [];
  for await (const event of client.watch(configMaps, { ...options, signal: controller.signal })) {
    events.push(event);
    if (events.length === count) break;
  }
  controller.abort();
  return events;
}

function nameAndType(event: WatchEvent<KubeObject>): string {
  return event.type === "BOOKMARK" ? "BOOKMARK" : `${event.type} ${event.object.metadata.name}`;
}
