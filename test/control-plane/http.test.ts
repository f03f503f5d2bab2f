import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Served, startServed } from "./served.ts";

let server: Served;
beforeAll(async () => {
  server = await startServed({ withCrds: true });
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.close();
});

const json = { "content-type": "application/json" };
const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, rest: object = {}) =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...rest });

function status(code: number, reason: string): unknown {
  return { code, body: expect.objectContaining({ kind: "Status", status: "Failure", reason, code }) };
}

describe("who is let in", () => {
  it("05:CP-S2 answers 401 without the token, or with another", async () => {
    expect(await server.ask("GET", "/api", { token: "" })).toMatchObject(status(401, "Unauthorized") as object);
    expect(await server.ask("GET", "/api", { token: "wrong" })).toMatchObject(status(401, "Unauthorized") as object);
    const basic = { headers: { authorization: `Basic ${server.token}` }, token: "" };
    expect((await server.ask("POST", configMaps, { ...basic, body: configMap("sneaky") })).code).toBe(401);
  });

  it("05:CP-S2 tells its health to anyone", async () => {
    for (const path of ["/healthz", "/readyz", "/livez"]) {
      expect(await server.ask("GET", path, { token: "" })).toMatchObject({ code: 200, text: "ok" });
    }
  });
});

describe("what it refuses", () => {
  it.each([
    ["GET", "/nowhere", 404, "NotFound"],
    ["GET", "/apis/example.com/v1/things", 404, "NotFound"],
    ["GET", "/api/v1/namespaces/default/nodes", 404, "NotFound"],
    ["GET", "/api/v1/namespaces/default/pods/none", 404, "NotFound"],
    ["GET", "/api/v1/%zz", 400, "BadRequest"],
    ["POST", "/api/v1", 405, "MethodNotAllowed"],
    ["PUT", configMaps, 405, "MethodNotAllowed"],
    ["TRACE", configMaps, 405, "MethodNotAllowed"],
    ["GET", `${configMaps}?limit=many`, 400, "BadRequest"],
    ["GET", `${configMaps}?labelSelector=%28`, 400, "BadRequest"],
    ["GET", `${configMaps}?continue=nonsense`, 400, "BadRequest"],
    ["GET", `${configMaps}?watch=true&resourceVersion=x`, 400, "BadRequest"],
    ["GET", "/api/v1/namespaces/default/pods/p/exec?command=ls", 501, "NotImplemented"],
    ["POST", "/api/v1/namespaces/default/pods/p/attach", 501, "NotImplemented"],
    ["GET", "/api/v1/namespaces/default/pods/p/portforward", 501, "NotImplemented"],
  ])("05 answers %s %s with %d %s", async (method, path, code, reason) => {
    expect(await server.ask(method, path)).toMatchObject(status(code, reason) as object);
  });

  it.each([
    ["nothing", "", json, 400],
    ["half of an object", "{", json, 400],
    ["a list", "[]", json, 400],
    ["another kind", JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" } }), json, 400],
    ["nesting without end", `${"[".repeat(100_000)}`, json, 400],
    ["bytes that are no text", Buffer.from([0x7b, 0xff, 0x7d]), json, 400],
    ["an unknown format", "x", { "content-type": "text/csv" }, 415],
    ["broken protobuf", "k8s\0x", { "content-type": "application/vnd.kubernetes.protobuf" }, 400],
    ["something called protobuf", "{}", { "content-type": "application/vnd.kubernetes.protobuf" }, 400],
    ["a YAML bomb", `a: &a [x,x,x]\n${"b: [*a,*a,*a]\n".repeat(3)}`, { "content-type": "application/yaml" }, 400],
  ])("05:CP-S3 refuses a body of %s", async (_, body, headers, code) => {
    expect(await server.ask("POST", configMaps, { body, headers })).toMatchObject({
      code,
      body: { kind: "Status", code },
    });
  });

  it("05:CP-S3 refuses a body above 3 MiB", async () => {
    const body = configMap("large", { data: { a: "x".repeat(3 * 1024 * 1024) } });
    expect(await server.ask("POST", configMaps, { body, headers: json })).toMatchObject(
      status(413, "RequestEntityTooLarge") as object,
    );
  });

  /** Sends pieces of a body without end, one after another as long as the server takes them, and reads nothing before the pause is over. */
  async function sendWithoutEnd({ pieces, pauseMs }: { readonly pieces: number; readonly pauseMs: number }) {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => {}); // then it is closed
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const head = `POST ${configMaps} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\n`;
    socket.write(`${head}content-type: application/json\r\ncontent-length: ${2 ** 40}\r\n\r\n`);
    let sent = 0;
    while (sent < pieces && !socket.destroyed) {
      sent++;
      await Promise.race([closed, new Promise((resolve) => socket.write(Buffer.alloc(1024 * 1024, "x"), resolve))]);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    socket.write("x");
    let reply = "";
    socket.on("data", (chunk) => {
      reply += String(chunk);
    });
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, pauseMs))]);
    const isCutOff = socket.destroyed;
    socket.destroy();
    return { reply, sent, isCutOff };
  }

  it("05:CP-S3 whoever sends too much gets to read why, also while still sending", async () => {
    const { reply, isCutOff } = await sendWithoutEnd({ pieces: 6, pauseMs: 50 });
    expect(reply).toContain("HTTP/1.1 413");
    expect(isCutOff).toBe(false);
  });

  it("05:CP-S3 whoever sends on and on is cut off", async () => {
    const { sent, isCutOff } = await sendWithoutEnd({ pieces: 1_000, pauseMs: 50 });
    expect(isCutOff).toBe(true);
    expect(sent).toBeLessThan(200);
  });

  it("05 §1 refuses representations it does not have", async () => {
    const headers = { accept: "application/vnd.kubernetes.protobuf" };
    expect((await server.ask("GET", configMaps, { headers })).code).toBe(406);
    const strategic = { "content-type": "application/strategic-merge-patch+json" };
    expect(
      (await server.ask("PATCH", "/apis/karpenter.sh/v1/nodepools/x", { headers: strategic, body: "{}" })).code,
    ).toBe(415);
    expect((await server.ask("PATCH", `${configMaps}/x`, { headers: json, body: "{}" })).code).toBe(415);
  });

  it("05:CP-S3 takes keys such as __proto__ for data", async () => {
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"proto"},"data":{"__proto__":"x","constructor":"y"}}';
    expect((await server.ask("POST", configMaps, { body, headers: json })).code).toBe(201);
    const { text } = await server.ask("GET", `${configMaps}/proto`);
    expect(text).toContain('"__proto__":"x"');
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("05 §3 refuses or mentions keys written twice", async () => {
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}';
    const strict = await server.ask("POST", `${configMaps}?fieldValidation=Strict`, { body, headers: json });
    expect(strict.text).toContain('duplicate field \\"data.a\\"');
    const warned = await server.ask("POST", `${configMaps}?dryRun=All`, { body, headers: json });
    expect(warned).toMatchObject({ code: 201, headers: { warning: '299 - "duplicate field \\"data.a\\""' } });
  });

  it.each([
    ["no HTTP at all", "hello\r\n\r\n", "400"],
    ["headers without end", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(40_000)}\r\n\r\n`, "431"],
    ["a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", "405"],
    ["a length that is none", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", "400"],
  ])("05:CP-S3 answers %s with a Status", async (_, sent, code) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(sent);
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString();
    });
    await once(socket, "close");
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${code} [^]*"kind":"Status"`));
  });
});

describe("watching", () => {
  async function* lines(stream: AsyncIterable<Buffer>): AsyncGenerator<Record<string, unknown>> {
    let rest = "";
    for await (const chunk of stream) {
      rest += chunk.toString();
      const parts = rest.split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) yield JSON.parse(part);
    }
  }

  async function next(events: AsyncGenerator<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const { value } = await events.next();
    return value as Record<string, unknown>;
  }

  it("05 §4 sends headers before the first event, then a line an event, and stops when the client goes", async () => {
    const kind = server.api.kinds.get({ group: "", version: "v1", plural: "secrets" });
    const stream = await server.open("/api/v1/secrets?watch=true"); // resolves on headers: nothing has happened yet
    expect(stream.headers["content-type"]).toBe("application/json");
    const events = lines(stream);
    const body = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "b" } });
    await server.ask("POST", "/api/v1/namespaces/default/secrets", { body, headers: json });
    expect(await next(events)).toMatchObject({ type: "ADDED", object: { kind: "Secret", metadata: { name: "s" } } });
    await server.ask("DELETE", "/api/v1/namespaces/default/secrets/s");
    expect(await next(events)).toMatchObject({ type: "DELETED" });
    expect(server.api.watcherCount(kind)).toBe(1);
    stream.destroy();
    while (server.api.watcherCount(kind) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("05 §1 sends tables, columns in the first alone", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const stream = await server.open(`${configMaps}?watch=true&fieldSelector=metadata.name%3Dt`, { accept });
    const events = lines(stream);
    await server.ask("POST", configMaps, { body: configMap("t"), headers: json });
    await server.ask("DELETE", `${configMaps}/t`);
    const first = await next(events);
    expect(first).toMatchObject({
      type: "ADDED",
      object: { kind: "Table", rows: [{ cells: ["t", 0, expect.anything()] }] },
    });
    expect((first["object"] as { columnDefinitions: unknown[] }).columnDefinitions).toHaveLength(3);
    expect(await next(events)).toMatchObject({ type: "DELETED", object: { columnDefinitions: null } });
    stream.destroy();
  });

  it("05 §3 begins with what there is and says where that ends", async () => {
    const query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    const stream = await server.open(`/api/v1/namespaces?${query}`);
    const seen: unknown[] = [];
    for await (const event of lines(stream)) {
      seen.push(event["type"]);
      if (event["type"] === "BOOKMARK") break;
    }
    expect(seen.slice(0, -1).every((type) => type === "ADDED")).toBe(true);
    expect(seen.length).toBeGreaterThan(4);
    stream.destroy();
  });

  it("05 §3 ends after the time that was asked for", async () => {
    const stream = await server.open("/api/v1/namespaces?watch=true&resourceVersion=1&timeoutSeconds=1");
    stream.resume();
    await once(stream, "end");
  });
});

describe("discovery", () => {
  const accept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

  it("05 §1 answers all at once, and says that it did", async () => {
    const { headers, body } = await server.ask("GET", "/apis", { headers: { accept } });
    expect(headers["content-type"]).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    const items = (body as { items: { metadata: { name: string }; versions: { version: string }[] }[] }).items;
    expect(
      items.find(({ metadata }) => metadata.name === "karpenter.sh")?.versions.map(({ version }) => version),
    ).toEqual([...["v1", "v1beta1", "v1alpha5", "v1alpha1"]]);
    const core = await server.ask("GET", "/api", { headers: { accept } });
    expect(core.body).toMatchObject({ items: [{ metadata: { name: "" }, versions: [{ version: "v1" }] }] });
  });

  it("05 §2 answers the old way too", async () => {
    expect((await server.ask("GET", "/api")).body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    expect((await server.ask("GET", "/apis")).body).toMatchObject({ kind: "APIGroupList" });
    const pods = (await server.ask("GET", "/api/v1")).body as { resources: { name: string }[] };
    expect(pods.resources.find(({ name }) => name === "pods/eviction")).toEqual({
      name: "pods/eviction",
      singularName: "",
      namespaced: true,
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    });
  });

  it("05 §2 has OpenAPI for every group-version, under an address that changes with it", async () => {
    const { body } = await server.ask("GET", "/openapi/v3");
    const paths = (body as { paths: Record<string, { serverRelativeURL: string }> }).paths;
    for (const { serverRelativeURL } of Object.values(paths)) {
      const document = (await server.ask("GET", serverRelativeURL)).body as Record<string, unknown>;
      expect(document["openapi"]).toBe("3.0.0");
      assertReferences(document);
    }
    const patch = (await server.ask("GET", "/openapi/v3/apis/apps/v1")).text;
    expect(patch).toContain('"name":"fieldValidation"');
    expect(patch).not.toContain("strategic-merge-patch");
  });

  it("05 §2 has OpenAPI v2 as JSON and protobuf, and sends it once to who has it", async () => {
    const plain = await server.ask("GET", "/openapi/v2");
    expect(plain.headers["content-type"]).toBe("application/json");
    expect(plain.body).toMatchObject({ swagger: "2.0" });
    const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    const binary = await server.ask("GET", "/openapi/v2", { headers: { accept } });
    expect(binary.headers["content-type"]).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    expect(binary.headers["etag"]).not.toBe(plain.headers["etag"]);
    const known = { accept, "if-none-match": binary.headers["etag"] ?? "" };
    expect(await server.ask("GET", "/openapi/v2", { headers: known })).toMatchObject({ code: 304, text: "" });
    const refused = await server.ask("GET", "/openapi/v2", { headers: { accept: "text/html" } });
    expect(refused).toMatchObject({ code: 406, body: { reason: "NotAcceptable" } });
    expect(await server.ask("GET", "/openapi/v2/more")).toMatchObject({ code: 404 });
  });

  /** Every `$ref` leads somewhere. */
  function assertReferences(document: Record<string, unknown>): void {
    const { schemas } = document["components"] as { schemas: Record<string, unknown> };
    for (const [, name = ""] of JSON.stringify(document).matchAll(/#\/components\/schemas\/([\w.-]+)/g)) {
      expect(schemas).toHaveProperty([name]);
    }
  }
});

describe("answers", () => {
  it("05 §3 lists with a page's end, and as metadata alone", async () => {
    for (const name of ["l1", "l2", "l3"])
      await server.ask("POST", configMaps, { body: configMap(name), headers: json });
    const page = (await server.ask("GET", `${configMaps}?limit=2`)).body as { metadata: { continue: string } };
    expect(page).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1", items: [{}, {}] });
    const next = await server.ask(
      "GET",
      `${configMaps}?limit=2&continue=${encodeURIComponent(page.metadata.continue)}`,
    );
    expect(next.code).toBe(200);
    const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const partial = await server.ask("GET", configMaps, { headers: { accept } });
    expect(partial.body).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" });
  });

  it("05 §1 deletes with options in the body or the query", async () => {
    const body = JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" });
    expect((await server.ask("DELETE", `${configMaps}/l1`, { body, headers: json })).body).toMatchObject({
      kind: "Status",
      status: "Success",
      details: { name: "l1", kind: "configmaps" },
    });
    expect((await server.ask("DELETE", `${configMaps}/l2?propagationPolicy=Sideways`)).code).toBe(400);
    expect((await server.ask("DELETE", `${configMaps}/l2?dryRun=All`)).code).toBe(200);
    expect((await server.ask("DELETE", `${configMaps}?fieldSelector=metadata.name%3Dl2`)).code).toBe(200);
    expect((await server.ask("GET", `${configMaps}/l2`)).code).toBe(404);
  });

  it("05 §1 reads YAML where it is sent", async () => {
    const headers = { "content-type": "application/apply-patch+yaml" };
    const body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata:\n  a: 'yes'\n";
    const path = `${configMaps}/applied?fieldManager=test`;
    expect((await server.ask("PATCH", path, { body, headers })).code).toBe(201);
    expect((await server.ask("PATCH", path, { body, headers })).code).toBe(200);
    expect((await server.ask("PATCH", path, { body: `---\n${body}---\n${body}`, headers })).code).toBe(400);
  });
});
