import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runs } from "../runs.ts";
import { type Served, startServed } from "./served.ts";

let server: Served;
beforeAll(async () => {
  server = await startServed({ withCrds: true });
});
afterAll(() => server.close());

const words = [
  ...[
    "api",
    "apis",
    "v1",
    "namespaces",
    "default",
    "pods",
    "nodes",
    "configmaps",
    "status",
    "scale",
    "eviction",
    "log",
  ],
  ...[
    "apps",
    "deployments",
    "karpenter.sh",
    "nodepools",
    "v1beta1",
    "v1alpha5",
    "provisioners",
    "openapi",
    "v3",
    "binding",
  ],
  ...[
    "__proto__",
    "constructor",
    "..",
    "%2e%2e",
    "%00",
    "%E0%A4%A",
    "a".repeat(300),
    "💥",
    " ",
    "",
    "token",
    "metrics.k8s.io",
  ],
];
const parameters = [
  ...[
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "resourceVersion",
    "resourceVersionMatch",
    "includeObject",
  ],
  ...[
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "propagationPolicy",
    "container",
    "pretty",
  ],
];
const values = [
  "1",
  "-1",
  "0",
  "true",
  "x",
  "a in (",
  "a=b,c!=d",
  "metadata.name=x",
  "All",
  "Strict",
  "9".repeat(30),
  "((((",
  "%",
];
const patchTypes = ["json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"];
const contentTypes = [
  ...[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain",
    ";;;",
    "application/json;as=Table",
  ],
  ...patchTypes.map((type) => `application/${type}`),
];
const accepts = [
  "*/*",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/vnd.kubernetes.protobuf",
  "text/html",
  ",,;=;",
];

const segment = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...words) }, fc.string({ maxLength: 8 }));
const honestPaths = [
  ...["/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/configmaps/x", "/api/v1/nodes/x"],
  ...[
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/x/eviction",
    "/apis/karpenter.sh/v1/nodepools",
  ],
  ...[
    "/apis/karpenter.sh/v1/nodepools/x",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/karpenter.sh/v1beta1/nodepools",
  ],
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
];
const path = fc.oneof(
  fc.constantFrom(...honestPaths),
  fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.map((one) => encodeURI(one)).join("/")}`),
);
const query = fc
  .array(fc.tuple(fc.constantFrom(...parameters), fc.oneof(fc.constantFrom(...values), fc.string({ maxLength: 20 }))), {
    maxLength: 3,
  })
  .map((pairs) =>
    pairs.map(([name, value]) => `${name}=${encodeURIComponent(value.replace(/[\ud800-\udfff]/g, "?"))}`).join("&"),
  );

const kinds = [
  "ConfigMap",
  "Pod",
  "Node",
  "NodePool",
  "Deployment",
  "CustomResourceDefinition",
  "Eviction",
  "Scale",
  "List",
];
const versions = [
  "v1",
  "apps/v1",
  "karpenter.sh/v1",
  "karpenter.sh/v1beta1",
  "apiextensions.k8s.io/v1",
  "policy/v1",
  "",
];
const anyJson = fc.jsonValue({ maxDepth: 5 });
const object = fc.record({
  apiVersion: fc.oneof(fc.constantFrom<unknown>(...versions), anyJson),
  kind: fc.oneof(fc.constantFrom<unknown>(...kinds), anyJson),
  metadata: fc.oneof(
    fc.record({ name: fc.oneof(fc.constant<unknown>("x"), anyJson), labels: anyJson, annotations: anyJson }),
    anyJson,
  ),
  spec: anyJson,
  data: anyJson,
});
const operation = fc.record({
  op: fc.oneof(fc.constantFrom("add", "remove", "test", "move"), fc.string()),
  path: fc.string(),
  value: anyJson,
});
const body = fc.oneof(
  object.map((value) => JSON.stringify(value)),
  fc.array(operation, { maxLength: 3 }).map((value) => JSON.stringify(value)),
  anyJson.map((value) => JSON.stringify(value)),
  fc.constantFrom(
    "",
    "{",
    "[".repeat(5000),
    '{"a":'.repeat(5000),
    "&a [*a]",
    "a: b: c",
    '{"__proto__":{"x":1}}',
    "k8s\0\n\u0000",
  ),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.concat([Buffer.from("k8s\0"), bytes])),
  fc.string({ maxLength: 60 }),
);

const hostile = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
  path,
  query,
  contentType: fc.constantFrom(...contentTypes),
  accept: fc.constantFrom(...accepts),
  body,
});

it("05:CP-S3 answers anything with a success or a Status of 4xx, and stays up", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (one) => {
      const headers = { "content-type": one.contentType, accept: one.accept };
      const target = one.query === "" ? one.path : `${one.path}?${one.query}`;
      const answer = await server.ask(one.method, target, { headers, ...(one.method !== "GET" && { body: one.body }) });
      expect(server.faults).toEqual([]);
      if (answer.code < 300) return;
      expect(answer.body).toMatchObject({ kind: "Status", status: "Failure", code: answer.code });
      // Refusals to do what needs a second protocol are the one exception.
      expect(answer.code < 500 || answer.code === 501 || answer.code === 504).toBe(true);
    }),
    { numRuns: runs(50_000) },
  );
  expect((await server.ask("GET", "/readyz", { token: "" })).code).toBe(200);
  expect((await server.ask("GET", "/api/v1/pods", { token: "" })).code).toBe(401);
}, 300_000);
