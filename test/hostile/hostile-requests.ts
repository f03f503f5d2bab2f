import type { Random } from "../../src/util/random.ts";
import { customDefinition } from "../control-plane/custom-definition.ts";

/** One request that wants to do harm: to the memory, to the time of others, or to the process. */
export interface HostileRequest {
  /** What it tries, for the report. */
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string | Buffer;
  /** The response goes on and is not read. */
  readonly isUnread?: boolean;
}

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const templates = "/api/v1/namespaces/default/podtemplates";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** Objects for the others to work on. */
export function preparation(): readonly HostileRequest[] {
  const template = { metadata: {}, spec: { containers: [{ name: "main", image: "x" }] } };
  return numbers(60).flatMap((at) => [
    post("preparation", maps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `x${at}` }, data: { a: "b" } }),
    post("preparation", templates, { apiVersion: "v1", kind: "PodTemplate", metadata: { name: `x${at}` }, template }),
  ]);
}

/** The next request of a seed; the same seed gives the same requests. */
export function hostileRequest(random: Random): HostileRequest {
  return random.pick(kindsOfHarm)(random);
}

const kindsOfHarm: readonly ((random: Random) => HostileRequest)[] = [
  copyBomb,
  shiftBomb,
  nestBomb,
  strategicPatch,
  mergePatch,
  applyPatch,
  largeObject,
  manyFields,
  celDefinition,
  celObject,
  celObject,
  oddDefinition,
  yamlBody,
  deepBody,
  randomBytes,
  protobufBody,
  unreadWatch,
  largeList,
  oddQuery,
  deletion,
  absurdPod,
];

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const name = (random: Random): string => `x${random.int(60)}`;
const text = (random: Random, most: number): string =>
  random.pick(["x", "é", '"', "\u0000"]).repeat(1 + random.int(most));

function post(what: string, path: string, body: unknown): HostileRequest {
  return { what, method: "POST", path, body: JSON.stringify(body) };
}

function patch(what: string, path: string, kind: keyof typeof patchTypes, body: unknown): HostileRequest {
  return { what, method: "PATCH", path, type: patchTypes[kind], body: JSON.stringify(body) };
}

function copyBomb(random: Random): HostileRequest {
  const first = { op: "add", path: "/data", value: { a: text(random, 200) } };
  const copies = numbers(10 + random.int(40)).map((at) => ({ op: "copy", from: "/data", path: `/data/k${at}` }));
  return patch("copy bomb", `${maps}/${name(random)}`, "json", [first, ...copies]);
}

function shiftBomb(random: Random): HostileRequest {
  const list = { op: "add", path: "/metadata/finalizers", value: numbers(random.int(20_000)).map((at) => `a/k${at}`) };
  const shifts = numbers(random.int(9_000)).map(() => ({ op: "add", path: "/metadata/finalizers/0", value: "a/b" }));
  return patch("shift bomb", `${maps}/${name(random)}`, "json", [list, ...shifts]);
}

function nestBomb(random: Random): HostileRequest {
  const nested = numbers(random.int(3_000)).flatMap((at) => [
    { op: "add", path: `/k${at + 1}`, value: {} },
    { op: "move", from: at === 0 ? "/data" : `/k${at}`, path: `/k${at + 1}/k` },
  ]);
  return patch("nest bomb", `${maps}/${name(random)}`, "json", nested);
}

function strategicPatch(random: Random): HostileRequest {
  const env = numbers(random.int(30_000)).map((at) => ({
    name: `k${random.int(2) * at}`,
    ...(random.int(4) === 0 && { $patch: random.pick(["delete", "replace", "merge", "?"]) }),
  }));
  const body = {
    metadata: { "$deleteFromPrimitiveList/finalizers": numbers(random.int(9_000)).map((at) => `a/k${at}`) },
    template: {
      spec: { containers: [{ name: "main", image: "x", env }], "$setElementOrder/containers": [{ name: "main" }] },
    },
  };
  return patch("strategic patch", `${templates}/${name(random)}`, "strategic", body);
}

function mergePatch(random: Random): HostileRequest {
  const data = Object.fromEntries(
    numbers(random.int(30_000)).map((at) => [`k${at}`, random.int(3) === 0 ? null : "v"]),
  );
  return patch("merge patch", `${maps}/${name(random)}`, "merge", { data, metadata: { annotations: data } });
}

function applyPatch(random: Random): HostileRequest {
  const data = Object.fromEntries(numbers(random.int(20_000)).map((at) => [`k${at}`, "v"]));
  const path = `${maps}/${name(random)}?fieldManager=m${random.int(20)}&force=${random.int(2) === 0}`;
  return patch("apply", path, "apply", { apiVersion: "v1", kind: "ConfigMap", data });
}

function largeObject(random: Random): HostileRequest {
  const metadata = { name: `large-${random.int(5_000)}` };
  const data = { text: text(random, 1_600_000) };
  if (random.int(2) === 0)
    return post("large ConfigMap", maps, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
  const secret = { apiVersion: "v1", kind: "Secret", metadata, stringData: data };
  return post("large Secret", "/api/v1/namespaces/default/secrets", secret);
}

function manyFields(random: Random): HostileRequest {
  const env = numbers(random.int(40_000)).map((at) => ({ name: `k${at}` }));
  const template = { metadata: {}, spec: { containers: [{ name: "main", image: "x", env }] } };
  return post("many fields", templates, {
    apiVersion: "v1",
    kind: "PodTemplate",
    metadata: { name: name(random) },
    template,
  });
}

const rules = [
  "self.a.all(x, self.a.all(y, self.a.all(z, x + y + z >= 0)))",
  "self.a.exists(x, self.a.exists(y, self.a.exists(z, x + y + z < 0)))",
  "self.a.map(x, self.a.map(y, self.a)).size() > 0",
  "self.a.all(x, self.t.matches('(a?){20}(x+x+)+y'))",
  "self.a.all(x, self.a == self.a.map(y, y))",
  "self.a.map(x, self.t + self.t).join(self.t).size() > 0",
  "cel.bind(a, self.t + self.t, cel.bind(b, a + a, b.contains(a + 'y')))",
  "self.t.split('').all(x, self.t.split('').all(y, x == y))",
  "(((((self.a)))))[0] ==",
  "self.t.replace('', self.t).size() > 0",
] as const;

const celKind = (at: number) => ({ plural: `rules${at}`, kind: `Rule${at}`, group: "hostile.example.com" });

function celDefinition(random: Random): HostileRequest {
  const validations = numbers(1 + random.int(20)).map(() => ({ rule: random.pick(rules) }));
  const schema = {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    properties: { a: { type: "array", items: { type: "integer" } }, t: { type: "string" } },
    "x-kubernetes-validations": validations,
  };
  return post("CEL definition", definitions, customDefinition({ ...celKind(random.int(30)), schema }));
}

function celObject(random: Random): HostileRequest {
  const { plural, kind, group } = celKind(random.int(30));
  const body = { apiVersion: `${group}/v1`, kind, metadata: { name: name(random) } };
  const path = `/apis/${group}/v1/${plural}`;
  return post("CEL object", path, { ...body, a: numbers(random.int(20_000)), t: text(random, 300_000) });
}

function oddDefinition(random: Random): HostileRequest {
  const plural = random.pick(["leases", "pods", "nodepools", "odds", "__proto__", `odd${random.int(200)}`]);
  const group = random.pick(["coordination.k8s.io", "apps", "karpenter.sh", "odd.example.com", "__proto__"]);
  let schema: object = { type: "object", pattern: "(".repeat(random.int(3)), additionalProperties: { type: "string" } };
  for (let depth = random.int(60); depth > 0; depth--)
    schema = { type: "object", properties: { a: schema }, default: {} };
  const names = random.pick([
    {},
    { names: null },
    { versions: numbers(random.int(300)).map((at) => ({ name: `v${at}` })) },
  ]);
  return post(
    "odd definition",
    definitions,
    customDefinition({ plural, group, kind: random.pick(["Lease", "Odd"]), schema, spec: names }),
  );
}

function yamlBody(random: Random): HostileRequest {
  const size = random.int(200_000);
  const aliases = [..."bcdefghij"].map(
    (key, at) => `${key}: &${key} [${numbers(9).map(() => `*${"abcdefghij"[at]}`)}]`,
  );
  const body = random.pick([
    () => `[${"[1],".repeat(size)}]`,
    () => `a: &a [1,1,1,1,1,1,1,1,1]\n${aliases.join("\n")}\n`,
    () => "# c\n".repeat(size),
    () => `a: "${"\\n".repeat(size)}"`,
    () => `a: >\n${"  x\n".repeat(size)}`,
    () =>
      numbers(size / 4)
        .map((at) => `k${at}: v\n`)
        .join(""),
    () => "- ".repeat(random.int(5_000)),
    () => `{${"a: {".repeat(random.int(2_000))}`,
  ])();
  const path = random.int(2) === 0 ? maps : `${maps}/${name(random)}?fieldManager=y`;
  return path === maps
    ? { what: "YAML", method: "POST", path, type: "application/yaml", body }
    : { what: "YAML", method: "PATCH", path, type: patchTypes.apply, body };
}

function deepBody(random: Random): HostileRequest {
  const depth = random.int(20_000);
  const body = random.pick(["[".repeat(depth), '{"a":'.repeat(depth), `${"[".repeat(depth)}${"]".repeat(depth)}`]);
  return {
    what: "deep body",
    method: random.pick(["POST", "PUT", "DELETE"]),
    path: `${maps}${random.pick(["", "/x1"])}`,
    body,
  };
}

function randomBytes(random: Random): HostileRequest {
  const body = Buffer.from(numbers(random.int(3_000)).map(() => random.int(256)));
  const type = random.pick(["application/json", "application/yaml", ...Object.values(patchTypes), ";;;"]);
  return {
    what: "random bytes",
    method: random.pick(["POST", "PATCH", "PUT"]),
    path: `${pods}${random.pick(["", "/x"])}`,
    type,
    body,
  };
}

function protobufBody(random: Random): HostileRequest {
  const bytes = numbers(random.int(random.pick([60, 60_000]))).map(() => random.int(random.pick([256, 16])));
  const body = Buffer.concat([Buffer.from("k8s\0\n\f\n\u0002v1\u0012\u0006Secret\u0012"), Buffer.from(bytes)]);
  return { what: "protobuf", method: "POST", path: pods, type: "application/vnd.kubernetes.protobuf", body };
}

function unreadWatch(random: Random): HostileRequest {
  const path = random.pick([maps, pods, templates, "/api/v1/secrets", definitions]);
  return {
    what: "unread watch",
    method: "GET",
    path: `${path}?watch=true&sendInitialEvents=${random.int(2) === 0}&resourceVersionMatch=NotOlderThan`,
    isUnread: true,
  };
}

function largeList(random: Random): HostileRequest {
  const path = random.pick([maps, "/api/v1/secrets", templates, definitions]);
  return { what: "large list", method: "GET", path: `${path}?limit=${random.pick(["", "1", "500"])}` };
}

function oddQuery(random: Random): HostileRequest {
  const values = ["-1", "9".repeat(30), "((((", "a in (", "%", "1e9", "metadata.name=x,".repeat(300)];
  const key = random.pick([
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "resourceVersion",
    "timeoutSeconds",
    "gracePeriodSeconds",
  ]);
  return {
    what: "odd query",
    method: random.pick(["GET", "DELETE"]),
    path: `${maps}/x0?${key}=${encodeURIComponent(random.pick(values))}`,
  };
}

function deletion(random: Random): HostileRequest {
  const path = random.pick([
    maps,
    `${maps}/${name(random)}`,
    `${definitions}/rules${random.int(30)}.hostile.example.com`,
    `${definitions}/leases.coordination.k8s.io`,
    templates,
  ]);
  const gracePeriodSeconds = random.pick([0, 1, Number.MAX_SAFE_INTEGER, -5]);
  const preconditions = random.pick([{}, { uid: "another" }]);
  return { what: "deletion", method: "DELETE", path, body: JSON.stringify({ gracePeriodSeconds, preconditions }) };
}

function absurdPod(random: Random): HostileRequest {
  const spec = {
    ...{ nodeName: random.pick(["", "node-1"]), terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER },
    ...{ activeDeadlineSeconds: random.pick([1, 2 ** 40]), containers: [{ name: "main", image: "x" }] },
  };
  return post("absurd pod", pods, { apiVersion: "v1", kind: "Pod", metadata: { name: name(random) }, spec });
}
