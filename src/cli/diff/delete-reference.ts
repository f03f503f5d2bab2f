import { closestMatch } from "../../api/manifest/closest-match.ts";
import type { ManifestDocument } from "../../api/manifest/document.ts";
import { isKubeObject, type KubeObject, namespaceOf } from "../../api/object.ts";
import { objectKeyOf } from "../override-objects.ts";

/** An object as the command line names it: `KIND/NAME` or `KIND/NAMESPACE/NAME`. */
export interface DeleteReference {
  readonly written: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Undefined if the text is no reference. */
export function parseDeleteReference(written: string): DeleteReference | undefined {
  const parts = written.split("/");
  if (parts.length < 2 || parts.length > 3 || parts.some((part) => part === "")) return undefined;
  const [kind = "", second = "", third] = parts;
  return third === undefined
    ? { written, kind, namespace: "default", name: second }
    : { written, kind, namespace: second, name: third };
}

/** As kubectl abbreviates them. */
const shortNames: Readonly<Record<string, string>> = {
  cb: "capacitybuffer",
  cj: "cronjob",
  deploy: "deployment",
  ds: "daemonset",
  ec2nc: "ec2nodeclass",
  kwoknc: "kwoknodeclass",
  no: "node",
  ns: "namespace",
  overlay: "nodeoverlay",
  pc: "priorityclass",
  pdb: "poddisruptionbudget",
  po: "pod",
  pv: "persistentvolume",
  pvc: "persistentvolumeclaim",
  rs: "replicaset",
  sc: "storageclass",
  sts: "statefulset",
};

/** The object a reference names, or one sentence about why there is none. */
export function findReferenced(
  reference: DeleteReference,
  documents: readonly ManifestDocument[],
): { readonly key: string; readonly object: KubeObject } | { readonly problem: string } {
  const objects = documents.map(({ object }) => object).filter(isKubeObject);
  const ofKind = objects.filter(({ kind }) => isNamed(kind, reference.kind));
  const [first] = ofKind;
  if (first === undefined) return { problem: noKindText(reference, objects) };
  const found = ofKind.find(
    ({ metadata }) => metadata.name === reference.name && namespaceOf(metadata) === reference.namespace,
  );
  if (found === undefined) return { problem: noObjectText(reference, first.kind, ofKind) };
  return { key: objectKeyOf(found) ?? "", object: found };
}

/** By kind, plural or short name, in any case, with or without the group. */
function isNamed(kind: string, written: string): boolean {
  const [word = ""] = written.toLowerCase().split(".");
  const known = Object.hasOwn(shortNames, word) ? shortNames[word] : word;
  const own = kind.toLowerCase();
  return known === own || known === `${own}s` || known === `${own}es`;
}

function noKindText({ kind }: DeleteReference, objects: readonly KubeObject[]): string {
  const kinds = [...new Set(objects.map((one) => one.kind))].sort();
  const near = closestMatch(kind, kinds);
  if (near !== undefined) return `there is no object of kind ${kind}; did you mean ${near}?`;
  return `there is no object of kind ${kind}; there are ${kinds.join(", ") || "no objects at all"}`;
}

function noObjectText({ namespace, name }: DeleteReference, kind: string, alike: readonly KubeObject[]): string {
  const isNamespaced = alike.some(({ metadata }) => metadata.namespace !== undefined);
  const wanted = isNamespaced ? `${namespace}/${name}` : name;
  const names = alike.map(({ metadata }) =>
    isNamespaced ? `${namespaceOf(metadata)}/${metadata.name ?? ""}` : (metadata.name ?? ""),
  );
  const elsewhere = names.find((one) => one.endsWith(`/${name}`));
  const near = elsewhere ?? closestMatch(wanted, names);
  return `there is no ${kind} ${wanted}${near === undefined ? "" : `; did you mean ${kind.toLowerCase()}/${near}?`}`;
}
