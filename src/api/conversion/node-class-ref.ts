import { compatibilityAnnotations, groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import { formatPath, type Path } from "../problem.ts";
import { at, type Draft } from "./draft.ts";

export const defaultClassKind = "EC2NodeClass";
export const defaultClassName = "default";

const groupOfKind: ReadonlyMap<unknown, string> = new Map([
  [defaultClassKind, groups.aws],
  ["KWOKNodeClass", groups.kwok],
  ["AKSNodeClass", groups.azure],
]);

const misplaced = at("spec.nodeClassRef");

/** A pool's reference, put right first where v1beta1 manifests tend to get it wrong. (01 §7.3, M6, M14) */
export function poolClassRef(draft: Draft): void {
  const path = at("spec.template.spec.nodeClassRef");
  // Once it was moved, both places name the class: the manifest its own, the object what was made of it.
  if (draft.says(misplaced) !== undefined && [undefined, nameIn(draft, misplaced)].includes(nameIn(draft, path))) {
    if (draft.says(path) === undefined) draft.move(misplaced, path);
    else draft.omit(misplaced);
    draft.assume({
      code: "node-class-moved",
      path: misplaced,
      message: `moved ${formatPath(misplaced)} to ${formatPath(path)}`,
      advice: `write it under ${formatPath(path)}`,
      instead: {
        code: "unknown-field",
        message: `a NodePool has no such field; it belongs at ${formatPath(path)}`,
        expected: formatPath(path),
        rule: "01 §1.2",
      },
    });
  }
  classRef(draft, path);
}

function nameIn(draft: Draft, path: Path): unknown {
  const ref = draft.says(path);
  return isRecord(ref) ? ref["name"] : ref;
}

/** `{apiVersion, kind, name}` to `{group, kind, name}`; a missing reference means the default class. */
export function classRef(draft: Draft, path: Path): void {
  const ref = draft.says(path);
  if (ref === undefined) assumeDefaultClass(draft, path);
  if (!isRecord(ref)) return; // if there is one, the schema will say what is wrong with it
  const { apiVersion, group, kind, ...rest } = ref;
  const written = draft.moves.find((move) => formatPath(move.to) === formatPath(path))?.from ?? path;
  const fullKind = kind ?? defaultClassKind;
  const fullGroup = group ?? groupFrom(apiVersion) ?? groupOfKind.get(fullKind) ?? groups.aws;
  draft.put(path, { group: fullGroup, kind: fullKind, ...rest });
  if (apiVersion !== undefined) draft.moves.push({ from: [...written, "apiVersion"], to: [...path, "group"] });
}

function groupFrom(apiVersion: unknown): string | undefined {
  return typeof apiVersion === "string" && apiVersion !== "" ? apiVersion.split("/")[0] : undefined;
}

/** `written` is where the source would have named its class. */
export function assumeDefaultClass(draft: Draft, path: Path, written: Path = path): void {
  draft.put(path, { group: groups.aws, kind: defaultClassKind, name: defaultClassName });
  draft.assume({
    code: "node-class-assumed",
    path: written,
    message: `no ${String(written.at(-1))}; assumed ${defaultClassKind}/${defaultClassName}`,
    advice: "name the node class the nodes shall be made from",
    instead: {
      code: "required",
      message: `is required; add e.g. group ${groups.aws}, kind ${defaultClassKind}, name ${defaultClassName}`,
      expected: "group, kind and name of a node class",
      rule: "01 §1.2",
    },
  });
}

/** Remembers the reference word for word, or that there was none, so that the way back is exact. (01 §7.3) */
export function keepClassRef(draft: Draft, path: Path): void {
  const ref = draft.said(path) ?? draft.said(misplaced) ?? null;
  draft.put(["metadata", "annotations", compatibilityAnnotations.nodeClassReference], JSON.stringify(ref));
}
