import type { Document } from "yaml";
import { isRecord } from "../object.ts";
import { type FieldPath, formatPath } from "../problem.ts";
import { didYouMean } from "./closest-match.ts";
import type { ManifestDocument } from "./document.ts";
import type { Finding, SourceLocation } from "./finding.ts";
import type { ManifestSet } from "./read.ts";
import { rewriteDocument } from "./rewrite.ts";
import { wrapFragment } from "./wrap-fragment.ts";

/** The object that fragments are merged into. */
export interface MergeTarget {
  readonly kind: string;
  readonly name: string;
}

/** Neither apiVersion nor kind: a part of an object, as documentation often shows. */
export function isFragment(object: unknown): boolean {
  return (
    Array.isArray(object) || (isRecord(object) && object["apiVersion"] === undefined && object["kind"] === undefined)
  );
}

/** The documents with every fragment merged, in order, into the one object named. */
export function mergeFragments(documents: readonly ManifestDocument[], into: MergeTarget): ManifestSet {
  const fragments = documents.filter((document) => isFragment(document.object));
  const others = documents.filter((document) => !isFragment(document.object));
  const target = others.find((document) => isMergeTarget(document.object, into));
  const [first] = fragments;
  if (first === undefined) return { documents, findings: [] };
  if (target === undefined) return { documents: others, findings: [missingTargetFinding(first, others, into)] };
  const findings: Finding[] = [];
  let merged = target;
  for (const fragment of fragments) {
    const wrapped = wrapFragment(fragment.object, into.kind);
    if (wrapped === undefined) findings.push(unknownPlaceFinding(fragment, into));
    else merged = mergeOne(merged, { fragment, ...wrapped });
  }
  return { documents: others.map((document) => (document === target ? merged : document)), findings };
}

function isMergeTarget(object: unknown, { kind, name }: MergeTarget): boolean {
  if (!isRecord(object) || object["kind"] !== kind) return false;
  return isRecord(object["metadata"]) && object["metadata"]["name"] === name;
}

/** A part of the merged object that a fragment wrote. */
interface PatchedPath {
  readonly to: FieldPath;
  readonly from: FieldPath;
}

interface FragmentMerge {
  readonly fragment: ManifestDocument;
  /** The fragment as a partial object. */
  readonly partial: Record<string, unknown>;
  /** The path in the fragment of a path in the partial object. */
  readonly origin: (path: FieldPath) => FieldPath;
}

function mergeOne(target: ManifestDocument, { fragment, partial, origin }: FragmentMerge): ManifestDocument {
  const patches: PatchedPath[] = [];
  const object = mergeValue(target.object, partial, { path: [], origin, patches });
  const root = fragment.yaml.contents;
  const relocations = patches.map((patch) => ({ ...patch, root }));
  const yaml: Document = rewriteDocument(target.yaml, { target: object, relocations, inPlace: true });
  return {
    ...target,
    object,
    yaml,
    text: undefined,
    locationOf: (path) => mergedLocationOf(path, { target, fragment, patches }),
  };
}

function mergedLocationOf(
  path: FieldPath,
  {
    target,
    fragment,
    patches,
  }: { target: ManifestDocument; fragment: ManifestDocument; patches: readonly PatchedPath[] },
): SourceLocation {
  const covers = (patch: PatchedPath) => patch.to.every((step, index) => path[index] === step);
  const patch = patches.filter(covers).sort((a, b) => b.to.length - a.to.length)[0];
  return patch === undefined
    ? target.locationOf(path)
    : fragment.locationOf([...patch.from, ...path.slice(patch.to.length)]);
}

interface MergePosition {
  readonly path: FieldPath;
  readonly origin: (path: FieldPath) => FieldPath;
  readonly patches: PatchedPath[];
}

/** Maps merge, requirements merge by key, everything else is replaced. */
function mergeValue(old: unknown, value: unknown, at: MergePosition): unknown {
  if (isRecord(old) && isRecord(value)) {
    const merged: Record<string, unknown> = { ...old };
    for (const [key, field] of Object.entries(value)) {
      merged[key] = mergeValue(Object.hasOwn(old, key) ? old[key] : undefined, field, {
        ...at,
        path: [...at.path, key],
      });
    }
    return merged;
  }
  if (Array.isArray(old) && Array.isArray(value) && at.path.at(-1) === "requirements")
    return mergeByKey(old, value, at);
  at.patches.push({ to: at.path, from: at.origin(at.path) });
  return structuredClone(value);
}

function mergeByKey(old: readonly unknown[], value: readonly unknown[], at: MergePosition): readonly unknown[] {
  const merged = [...old];
  value.forEach((item, index) => {
    const same = isRecord(item) ? merged.findIndex((one) => isRecord(one) && one["key"] === item["key"]) : -1;
    const place = same < 0 ? merged.length : same;
    merged[place] = structuredClone(item);
    at.patches.push({ to: [...at.path, place], from: at.origin([...at.path, index]) });
  });
  return merged;
}

function missingTargetFinding(
  fragment: ManifestDocument,
  others: readonly ManifestDocument[],
  { kind, name }: MergeTarget,
): Finding {
  const present = others.flatMap(({ object }) =>
    isRecord(object) && isRecord(object["metadata"])
      ? [`${String(object["kind"])}/${String(object["metadata"]["name"])}`]
      : [],
  );
  const hint = didYouMean(`${kind}/${name}`, present);
  const message = `there is no ${kind}/${name} in the input to merge this fragment into${hint}`;
  return fragmentFinding(fragment, message, present.join(", "));
}

function unknownPlaceFinding(fragment: ManifestDocument, { kind, name }: MergeTarget): Finding {
  const { object } = fragment;
  const fields = isRecord(object)
    ? Object.keys(object)
        .slice(0, 5)
        .map((key) => formatPath([key]))
    : ["a list"];
  return fragmentFinding(
    fragment,
    `cannot tell where in ${kind}/${name} this fragment belongs: ${fields.join(", ")}`,
    `fields of a ${kind}`,
  );
}

function fragmentFinding(fragment: ManifestDocument, message: string, expected: string): Finding {
  const { source, ...position } = fragment.locationOf([]);
  const finding = { severity: "error", code: "not-convertible", source, position, path: [], message } as const;
  return expected === "" ? finding : { ...finding, expected };
}
