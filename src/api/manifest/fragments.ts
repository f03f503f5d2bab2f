import type { Document } from "yaml";
import { isRecord } from "../object.ts";
import { formatPath, type Path } from "../problem.ts";
import { closest } from "./closest.ts";
import type { ManifestDocument } from "./document.ts";
import type { Finding, Place } from "./finding.ts";
import type { ManifestSet } from "./read.ts";
import { rewrite } from "./rewrite.ts";
import { wrapFragment } from "./wrap-fragment.ts";

/** The object that fragments are merged into. */
export interface MergeTarget {
  readonly kind: string;
  readonly name: string;
}

/** Neither version nor kind: a piece of an object, as documents like to show them. */
export function isFragment(object: unknown): boolean {
  return (
    Array.isArray(object) || (isRecord(object) && object["apiVersion"] === undefined && object["kind"] === undefined)
  );
}

/** The documents with every fragment merged, in order, into the one object named. */
export function mergeFragments(documents: readonly ManifestDocument[], into: MergeTarget): ManifestSet {
  const fragments = documents.filter((document) => isFragment(document.object));
  const others = documents.filter((document) => !isFragment(document.object));
  const target = others.find((document) => names(document.object, into));
  const [first] = fragments;
  if (first === undefined) return { documents, findings: [] };
  if (target === undefined) return { documents: others, findings: [noTarget(first, others, into)] };
  const findings: Finding[] = [];
  let merged = target;
  for (const fragment of fragments) {
    const wrapped = wrapFragment(fragment.object, into.kind);
    if (wrapped === undefined) findings.push(noPlace(fragment, into));
    else merged = mergeOne(merged, { fragment, ...wrapped });
  }
  return { documents: others.map((document) => (document === target ? merged : document)), findings };
}

function names(object: unknown, { kind, name }: MergeTarget): boolean {
  if (!isRecord(object) || object["kind"] !== kind) return false;
  return isRecord(object["metadata"]) && object["metadata"]["name"] === name;
}

/** A part of the merged object that a fragment wrote. */
interface Patch {
  readonly to: Path;
  readonly from: Path;
}

interface Merging {
  readonly fragment: ManifestDocument;
  /** The fragment as a partial object. */
  readonly partial: Record<string, unknown>;
  /** Where a path of the partial object stands in the fragment. */
  readonly origin: (path: Path) => Path;
}

function mergeOne(target: ManifestDocument, { fragment, partial, origin }: Merging): ManifestDocument {
  const patches: Patch[] = [];
  const object = merge(target.object, partial, { path: [], origin, patches });
  const root = fragment.yaml.contents;
  const relocations = patches.map((patch) => ({ ...patch, root }));
  const yaml: Document = rewrite(target.yaml, { target: object, relocations, inPlace: true });
  return { ...target, object, yaml, text: undefined, placeOf: (path) => placeOf(path, { target, fragment, patches }) };
}

function placeOf(
  path: Path,
  { target, fragment, patches }: { target: ManifestDocument; fragment: ManifestDocument; patches: readonly Patch[] },
): Place {
  const covers = (patch: Patch) => patch.to.every((step, index) => path[index] === step);
  const patch = patches.filter(covers).sort((a, b) => b.to.length - a.to.length)[0];
  return patch === undefined ? target.placeOf(path) : fragment.placeOf([...patch.from, ...path.slice(patch.to.length)]);
}

interface At {
  readonly path: Path;
  readonly origin: (path: Path) => Path;
  readonly patches: Patch[];
}

/** Maps merge, requirements merge by key, everything else is replaced. */
function merge(old: unknown, value: unknown, at: At): unknown {
  if (isRecord(old) && isRecord(value)) {
    const merged: Record<string, unknown> = { ...old };
    for (const [key, field] of Object.entries(value)) {
      merged[key] = merge(Object.hasOwn(old, key) ? old[key] : undefined, field, { ...at, path: [...at.path, key] });
    }
    return merged;
  }
  if (Array.isArray(old) && Array.isArray(value) && at.path.at(-1) === "requirements")
    return mergeByKey(old, value, at);
  at.patches.push({ to: at.path, from: at.origin(at.path) });
  return structuredClone(value);
}

function mergeByKey(old: readonly unknown[], value: readonly unknown[], at: At): readonly unknown[] {
  const merged = [...old];
  value.forEach((item, index) => {
    const same = isRecord(item) ? merged.findIndex((one) => isRecord(one) && one["key"] === item["key"]) : -1;
    const place = same < 0 ? merged.length : same;
    merged[place] = structuredClone(item);
    at.patches.push({ to: [...at.path, place], from: at.origin([...at.path, index]) });
  });
  return merged;
}

function noTarget(
  fragment: ManifestDocument,
  others: readonly ManifestDocument[],
  { kind, name }: MergeTarget,
): Finding {
  const present = others.flatMap(({ object }) =>
    isRecord(object) && isRecord(object["metadata"])
      ? [`${String(object["kind"])}/${String(object["metadata"]["name"])}`]
      : [],
  );
  const near = closest(`${kind}/${name}`, present);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  const message = `there is no ${kind}/${name} among the input to merge this fragment into${hint}`;
  return about(fragment, message, present.join(", "));
}

function noPlace(fragment: ManifestDocument, { kind, name }: MergeTarget): Finding {
  const { object } = fragment;
  const fields = isRecord(object)
    ? Object.keys(object)
        .slice(0, 5)
        .map((key) => formatPath([key]))
    : ["a list"];
  return about(
    fragment,
    `cannot tell where in ${kind}/${name} this fragment belongs: ${fields.join(", ")}`,
    `fields of a ${kind}`,
  );
}

function about(fragment: ManifestDocument, message: string, expected: string): Finding {
  const { source, ...position } = fragment.placeOf([]);
  const finding = { severity: "error", code: "not-convertible", source, position, path: [], message } as const;
  return expected === "" ? finding : { ...finding, expected };
}
