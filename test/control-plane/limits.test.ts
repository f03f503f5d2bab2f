import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiServer } from "../../src/control-plane/api/server.ts";
import { InProcessClient } from "../../src/control-plane/in-process-client.ts";
import { Random } from "../../src/util/random.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { configMap, refusal, types } from "../contracts/api-objects.ts";
import { customDefinition } from "./custom-definition.ts";
import { type Served, startServed } from "./served.ts";

let server: Served;
beforeAll(async () => {
  server = await startServed();
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", customDefinition());
});
afterAll(() => server.close());

const maps = "/api/v1/namespaces/default/configmaps";
const widgets = "/apis/example.com/v1/widgets";
const mebibyte = 1024 * 1024;

async function send(method: string, path: string, body: unknown, type = "application/json") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await server.ask(method, path, { headers: { "content-type": type }, body: text });
  return { code: answer.code, message: (answer.body as { message?: string }).message ?? "", body: answer.body };
}

const jsonPatch = "application/json-patch+json";
const strategicPatch = "application/strategic-merge-patch+json";
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("05:CP-S3 limits of patches", () => {
  it("05:CP-S3 a JSON patch whose copies double is refused, with the words of Kubernetes", async () => {
    await send("POST", maps, configMap("bomb", { a: "x".repeat(30) }));
    const copies = numbers(40).map((index) => ({ op: "copy", from: "/data", path: `/data/k${index}` }));
    expect(JSON.stringify(copies).length).toBeLessThan(2_500);
    const refused = await send("PATCH", `${maps}/bomb`, copies, jsonPatch);
    expect(refused.code).toBe(422);
    expect(refused.message).toMatch(
      /Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728/,
    );
  });

  it("05:CP-S3 a JSON patch that nests copies and moves more and more deeply is refused", async () => {
    await send("POST", widgets, { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "deep" }, a: {} });
    const nested = numbers(2_000).flatMap((index) => [
      { op: "add", path: `/k${index + 1}`, value: {} },
      { op: "move", from: index === 0 ? "/a" : `/k${index}`, path: `/k${index + 1}/k` },
    ]);
    const copied = [...nested, { op: "copy", from: "/k2000", path: "/b" }];
    for (const operations of [nested, copied]) {
      expect(await send("PATCH", `${widgets}/deep`, operations, jsonPatch)).toMatchObject({ code: 400 });
    }
  });

  it("05:CP-S3 a JSON patch that shifts a long list again and again is refused", async () => {
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "long" }, list: numbers(40_000) };
    expect(await send("POST", widgets, widget)).toMatchObject({ code: 201 });
    const shifts = numbers(10_000).map(() => ({ op: "add", path: "/list/0", value: 1 }));
    const refused = await send("PATCH", `${widgets}/long`, shifts, jsonPatch);
    expect(refused).toMatchObject({ code: 413, message: "The JSON patch shifts more than 50000000 items of lists" });
  });

  it("05:CP-S3 more than 10,000 operations are refused", async () => {
    const tests = numbers(10_001).map(() => ({ op: "test", path: "/kind", value: "ConfigMap" }));
    const refused = await send("PATCH", `${maps}/bomb`, tests, jsonPatch);
    expect(refused.code).toBe(413);
  });

  it("05:CP-S3 strategic merge of long lists takes linear time", async () => {
    const container = { name: "main", image: "main:1", env: numbers(15_000).map((one) => ({ name: `k${one}` })) };
    const pod = {
      apiVersion: "v1",
      kind: "PodTemplate",
      metadata: { name: "long" },
      template: { spec: { containers: [container] } },
    };
    const templates = "/api/v1/namespaces/default/podtemplates";
    expect(await send("POST", templates, pod)).toMatchObject({ code: 201 });
    const env = numbers(15_000).map((one) => ({ name: `k${one * 2}`, ...(one % 3 === 0 ? { $patch: "delete" } : {}) }));
    const finalizers = numbers(9_000).map((one) => `example.com/f${one}`);
    const cpu = process.cpuUsage();
    const body = { metadata: { finalizers }, template: { spec: { containers: [{ name: "main", env }] } } };
    expect(await send("PATCH", `${templates}/long`, body, strategicPatch)).toMatchObject({ code: 200 });
    const removal = { metadata: { "$deleteFromPrimitiveList/finalizers": finalizers.toReversed() } };
    expect(await send("PATCH", `${templates}/long`, removal, strategicPatch)).toMatchObject({ code: 200 });
    const { user } = process.cpuUsage(cpu);
    expect(user / 1_000).toBeLessThan(2_500); // milliseconds; comparing all pairs took ten times that
  }, 30_000);
});

describe("05:CP-S3 limits of objects", () => {
  it("05:CP-S3 a ConfigMap may hold 1 MiB, in text and binary data together", async () => {
    const half = "x".repeat(mebibyte / 2);
    const binary = Buffer.alloc(mebibyte / 2).toString("base64");
    const fits = { ...configMap("full", { half }), binaryData: { binary } };
    expect(await send("POST", maps, fits)).toMatchObject({ code: 201 });
    const refused = await send("POST", maps, { ...fits, ...configMap("over", { half: `${half}x` }) });
    expect(refused).toMatchObject({
      code: 422,
      message: 'ConfigMap "over" is invalid: []: Too long: may not be more than 1048576 bytes',
      body: { details: { causes: [{ reason: "FieldValueTooLong", field: "[]" }] } },
    });
  });

  it("05:CP-S3 a Secret may hold 1 MiB of decoded data", async () => {
    const secret = (name: string, bytes: number) => ({
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name } },
      data: { a: Buffer.alloc(bytes).toString("base64") },
    });
    const secrets = "/api/v1/namespaces/default/secrets";
    expect(await send("POST", secrets, secret("full", mebibyte))).toMatchObject({ code: 201 });
    expect(await send("POST", secrets, secret("over", mebibyte + 1))).toMatchObject({
      code: 422,
      message: 'Secret "over" is invalid: data: Too long: may not be more than 1048576 bytes',
    });
    const plain = { ...secret("plain", 0), data: {}, stringData: { a: "x".repeat(mebibyte + 1) } };
    expect(await send("POST", secrets, plain)).toMatchObject({ code: 422 });
  });

  it("05:CP-S3 any object may have 1.5 MiB, as in etcd, however it got so large", async () => {
    const widget = (bytes: number) => ({
      ...{ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "large" } },
      text: "x".repeat(bytes),
    });
    const refused = await send("POST", widgets, widget(1.5 * mebibyte));
    expect(refused.code).toBe(413);
    expect(refused.message).toMatch(/^etcdserver: request is too large: /);
    expect(await send("POST", widgets, widget(mebibyte))).toMatchObject({ code: 201 });
    const more = { more: "x".repeat(mebibyte) };
    const grown = await send("PATCH", `${widgets}/large`, more, "application/merge-patch+json");
    expect(grown).toMatchObject({ code: 413, message: expect.stringMatching(/^etcdserver: request is too large/) });
  });

  it("05:CP-S3 a body may have 50,000 fields and items", async () => {
    const widget = (count: number) => ({
      ...{ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "many" } },
      list: numbers(count),
    });
    expect(await send("POST", widgets, widget(49_000))).toMatchObject({ code: 201 });
    const message = "Request entity too large: limit is 50000 fields and items";
    expect(await send("POST", widgets, widget(51_000))).toMatchObject({ code: 413, message });
    const more = { another: numbers(10_000) };
    expect(await send("PATCH", `${widgets}/many`, more, "application/merge-patch+json")).toMatchObject({
      code: 413,
      message,
    });
  });

  it.each([
    ["flow lists", `[${"[1],".repeat(200_000)}]`, 413],
    [
      "keys",
      numbers(60_000)
        .map((one) => `k${one}: v\n`)
        .join(""),
      413,
    ],
    ["comments", "# c\n".repeat(500_000), 413],
    [
      "aliases",
      `a: &a [1,1,1,1,1,1,1,1,1]\n${[..."bcdefgh"].map((key, at) => `${key}: &${key} [${numbers(9).map(() => `*${"abcdefgh"[at]}`)}]\n`).join("")}`,
      400,
    ],
    ["nesting", "[".repeat(5_000), 400],
  ])("05:CP-S3 YAML bodies of many %s are refused before they take long", async (_what, text, code) => {
    const cpu = process.cpuUsage();
    expect(await send("POST", maps, text, "application/yaml")).toMatchObject({ code });
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(2_000); // milliseconds; megabytes of them took many seconds
  });

  it("05:CP-S3 a full store takes nothing that grows, and goes on once there is room", async () => {
    const api = new ApiServer({
      ...{ clock: new VirtualClock({ startAt: 0 }), random: new Random("quota") },
      maxMemory: 300_000,
    });
    const client = new InProcessClient(api);
    const text = "x".repeat(20_000);
    let refused = 0;
    for (const index of numbers(20)) {
      await client.create(types.configMaps, configMap(`m${index}`, { text })).catch(() => refused++);
    }
    expect(refused).toBeGreaterThan(0);
    const last = await refusal(client.create(types.configMaps, configMap("last", { text })));
    expect(last).toMatchObject({ code: "forbidden", message: expect.stringContaining("database space exceeded") });
    const key = { name: "m0", namespace: "default" };
    await client.patch(types.configMaps, key, { kind: "merge", body: { data: { text: "y" } } });
    for (const index of [1, 2]) await client.delete(types.configMaps, { ...key, name: `m${index}` });
    await client.create(types.configMaps, configMap("last", { text }));
  });
});
