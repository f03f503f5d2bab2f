// The messages of a package of k8s.io/api or k8s.io/apimachinery: numbers from its .proto file, JSON names, inlining and
// omitted zeros from the struct tags of its Go files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const scalars = new Set(["string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "double"]);

/** Message name → its fields. */
export function protobufMessages(folder) {
  const structs = goStructs(folder);
  const proto = readFileSync(join(folder, "generated.proto"), "utf8").replace(/\/\/.*$/gm, "");
  return new Map(
    [...proto.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, message, body]) => [
      message,
      [...body.matchAll(/^\s*(optional|repeated|map<string, [\w.]+>)?\s*([\w.]+)? (\w+) = (\d+);/gm)].map(
        ([, label, type, wireName, number]) => {
          const { name, isPointer, isOmitted } = structs.get(message)?.get(number) ?? { name: wireName };
          const isScalar = label === "optional" && scalars.has(type);
          return { number, name, type, isInline: name === "", keepsZero: isScalar && (isPointer || !isOmitted) };
        },
      ),
    ]),
  );
}

/** Struct name → field number → what its tags say. */
function goStructs(folder) {
  const structs = new Map();
  for (const file of readdirSync(folder).filter((name) => name.endsWith("types.go"))) {
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm))
      structs.set(name, tagged(body));
  }
  return structs;
}

function tagged(body) {
  const fields = new Map();
  for (const [, declaration, tags] of body.matchAll(/^\s*([\w.*[\]\s]+?)\s*`(.*)`/gm)) {
    const number = /protobuf:"\w+,(\d+)/.exec(tags)?.[1];
    const [name = "", ...options] = /json:"([^"]*)"/.exec(tags)?.[1].split(",") ?? [];
    if (number === undefined) continue;
    const isOmitted = options.some((option) => option === "omitempty" || option === "omitzero");
    fields.set(number, { name, isPointer: /\s\*/.test(declaration), isOmitted });
  }
  return fields;
}
