// Writes src/control-plane/protobuf/messages-data.ts from the Go modules k8s.io/api and k8s.io/apimachinery: the wire
// numbers and types come from their .proto files, the JSON names, inlining and omitted zeros from their types.go.
// Usage: node scripts/import-protobuf-tables.mjs API_MODULE_FOLDER APIMACHINERY_MODULE_FOLDER
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const target = new URL("../src/control-plane/protobuf/messages-data.ts", import.meta.url);

/** Whose kinds a client may send us, beside those of the meta package. */
const groups = [
  "admissionregistration/v1",
  "apps/v1",
  "authentication/v1",
  "authorization/v1",
  "autoscaling/v1",
  "autoscaling/v2",
  "batch/v1",
  "coordination/v1",
  "core/v1",
  "discovery/v1",
  "events/v1",
  "networking/v1",
  "node/v1",
  "policy/v1",
  "rbac/v1",
  "resource/v1",
  "scheduling/v1",
  "storage/v1",
];

const meta = "k8s.io.apimachinery.pkg.apis.meta.v1";

/** Messages whose JSON is not an object of their fields; the reader knows these letters. */
const specials = {
  [`${meta}.Time`]: "T",
  [`${meta}.MicroTime`]: "U",
  [`${meta}.Duration`]: "D",
  [`${meta}.FieldsV1`]: "R",
  "k8s.io.apimachinery.pkg.runtime.RawExtension": "R",
  "k8s.io.apimachinery.pkg.api.resource.Quantity": "Q",
  "k8s.io.apimachinery.pkg.util.intstr.IntOrString": "O",
};

const scalars = { string: "s", bytes: "y", bool: "b", int32: "i", int64: "i", uint32: "i", uint64: "i", double: "d" };

const [api, apimachinery] = process.argv.slice(2);
if (apimachinery === undefined) {
  throw new Error("usage: node scripts/import-protobuf-tables.mjs API_MODULE_FOLDER APIMACHINERY_MODULE_FOLDER");
}

const packages = [
  { folder: join(apimachinery, "pkg/apis/meta/v1"), group: "" },
  ...groups.map((group) => ({ folder: join(api, group), group: groupName(join(api, group)) })),
];

const messages = new Map(); // full name → { fields, group, version, kind }
for (const { folder, group } of packages) readPackage(folder, group);

const roots = [...messages.values()].filter(({ isKind, name }) => isKind && !name.endsWith("List"));
const numbered = new Map(); // full name → index, in the order they are reached
for (const { fullName } of roots) reach(fullName);

const lines = [...numbered.keys()].map((fullName) => messages.get(fullName).fields.map(written).join(","));
const kinds = roots.map(({ fullName, apiVersion, name }) => `${apiVersion} ${name} ${numbered.get(fullName)}`);
writeFileSync(
  target,
  `// Made by scripts/import-protobuf-tables.mjs from ${moduleOf(api)} and ${moduleOf(apimachinery)}.

/** \`apiVersion kind message\`; kinds of the meta package, which every group carries, have the version \`*\`. */
export const kindRows = ${JSON.stringify(kinds.sort(), undefined, 1)};

/** One message a row: \`number name type\`, separated by commas; the types are explained in messages.ts. */
export const messageRows = ${JSON.stringify(lines, undefined, 1)};
`,
);
process.stdout.write(`${kinds.length} kinds, ${lines.length} messages, ${lines.join(",").split(",").length} fields\n`);

function moduleOf(folder) {
  return `k8s.io/${basename(folder)}`;
}

function groupName(folder) {
  const found = /GroupName = "([^"]*)"/.exec(readFileSync(join(folder, "register.go"), "utf8"));
  if (found === null) throw new Error(`${folder}: expected register.go to name the group`);
  return found[1];
}

function readPackage(folder, group) {
  const go = goTypes(folder);
  const proto = readFileSync(join(folder, "generated.proto"), "utf8").replace(/\/\/.*$/gm, "");
  const name = /^package ([\w.]+);/m.exec(proto)[1];
  const version = basename(folder);
  const apiVersion = name === meta ? "*" : group === "" ? version : `${group}/${version}`;
  for (const [, message, body] of proto.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const fullName = `${name}.${message}`;
    if (go.slices.has(message)) specials[fullName] = "L"; // in Go a list of strings, on the wire a message of items
    const struct = go.structs.get(message);
    const fields = [
      ...body.matchAll(/^\s*(optional|repeated|map<string, ([\w.]+)>)?\s*([\w.]+)? (\w+) = (\d+);/gm),
    ].map(([, label, mapped, type, wireName, number]) => ({
      number,
      repeated: label === "repeated",
      map: mapped !== undefined,
      type: qualified(mapped ?? type, name),
      ...(struct?.fields.get(number) ?? { name: wireName, inline: false, keepZero: true }),
    }));
    messages.set(fullName, { fullName, apiVersion, name: message, fields, isKind: struct?.isKind === true });
  }
}

function qualified(type, from) {
  if (scalars[type] !== undefined) return type;
  return type.startsWith(".") ? type.slice(1) : `${from}.${type}`;
}

/** What the JSON looks like: the tags of the struct fields, by their number on the wire. */
function goTypes(folder) {
  const structs = new Map();
  const slices = new Set();
  const sources = readdirSync(folder).filter((file) => file.endsWith("types.go") || file === "types_prerelease.go");
  for (const source of sources.filter((file) => existsSync(join(folder, file)))) {
    const text = readFileSync(join(folder, source), "utf8");
    for (const [, name] of text.matchAll(/^type (\w+) \[\]string/gm)) slices.add(name);
    for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
      structs.set(name, { isKind: /^\s*(metav1\.)?TypeMeta\s+`json:",inline"/m.test(body), fields: tagged(body) });
    }
  }
  return { structs, slices };
}

function tagged(body) {
  const fields = new Map();
  for (const [, declaration, tags] of body.matchAll(/^\s*([\w.*[\]\s]+?)\s*`(.*)`/gm)) {
    const number = /protobuf:"\w+,(\d+)/.exec(tags)?.[1];
    const [name = "", ...options] = /json:"([^"]*)"/.exec(tags)?.[1].split(",") ?? [];
    if (number === undefined) continue;
    const isPointer = /\s\*/.test(declaration);
    fields.set(number, {
      name,
      inline: name === "",
      keepZero: isPointer || !options.some((option) => option === "omitempty" || option === "omitzero"),
    });
  }
  return fields;
}

function reach(fullName) {
  if (numbered.has(fullName)) return;
  const message = messages.get(fullName);
  if (message === undefined) throw new Error(`no such message: ${fullName}`);
  numbered.set(fullName, numbered.size);
  for (const { type } of message.fields) {
    if (scalars[type] === undefined && specials[type] === undefined) reach(type);
  }
}

function written({ number, name, type, repeated, map, inline, keepZero }) {
  const shape = repeated ? "*" : map ? "%" : "";
  const code = scalars[type] ?? specials[type] ?? String(numbered.get(type));
  const isScalar = scalars[type] !== undefined && shape === "";
  return `${number} ${name} ${shape}${code}${inline ? "^" : ""}${isScalar && keepZero ? "!" : ""}`;
}
