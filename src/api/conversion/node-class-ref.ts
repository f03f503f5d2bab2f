import { compatibilityAnnotations, groups } from "../labels.ts";
import { isRecord } from "../object.ts";
import { type FieldPath, formatPath } from "../problem.ts";
import { type ConversionDraft, fieldPath } from "./conversion-draft.ts";

export const defaultClassKind = "EC2NodeClass";
export const defaultClassName = "default";

const groupOfKind: ReadonlyMap<unknown, string> = new Map([
  [defaultClassKind, groups.aws],
  ["KWOKNodeClass", groups.kwok],
  ["AKSNodeClass", groups.azure],
]);

const misplacedRefPath = fieldPath("spec.nodeClassRef");

/** Converts a pool's class reference after correcting common mistakes of v1beta1 manifests. (01 §7.3, §7.9 M6 and M14) */
export function convertPoolClassRef(draft: ConversionDraft): void {
  const path = fieldPath("spec.template.spec.nodeClassRef");
  // The reference may stand under spec by mistake; it is moved unless the right place names another class.
  if (
    draft.resultValue(misplacedRefPath) !== undefined &&
    [undefined, classNameAt(draft, misplacedRefPath)].includes(classNameAt(draft, path))
  ) {
    if (draft.resultValue(path) === undefined) draft.moveField(misplacedRefPath, path);
    else draft.removeField(misplacedRefPath);
    draft.assume({
      code: "node-class-moved",
      path: misplacedRefPath,
      message: `moved ${formatPath(misplacedRefPath)} to ${formatPath(path)}`,
      advice: `write it under ${formatPath(path)}`,
      strictProblem: {
        code: "unknown-field",
        message: `a NodePool has no such field; it belongs at ${formatPath(path)}`,
        expected: formatPath(path),
        rule: "01 §1.2",
      },
    });
  }
  convertClassRef(draft, path);
}

function classNameAt(draft: ConversionDraft, path: FieldPath): unknown {
  const ref = draft.resultValue(path);
  return isRecord(ref) ? ref["name"] : ref;
}

/** `{apiVersion, kind, name}` to `{group, kind, name}`; a missing reference means the default class. */
export function convertClassRef(draft: ConversionDraft, path: FieldPath): void {
  const ref = draft.resultValue(path);
  if (ref === undefined) assumeDefaultClass(draft, path);
  if (!isRecord(ref)) return; // if there is one, the schema will say what is wrong with it
  const { apiVersion, group, kind, ...rest } = ref;
  const written = draft.moves.find((move) => formatPath(move.to) === formatPath(path))?.from ?? path;
  const fullKind = kind ?? defaultClassKind;
  const fullGroup = group ?? groupOfApiVersion(apiVersion) ?? groupOfKind.get(fullKind) ?? groups.aws;
  draft.setField(path, { group: fullGroup, kind: fullKind, ...rest });
  if (apiVersion !== undefined) draft.moves.push({ from: [...written, "apiVersion"], to: [...path, "group"] });
}

function groupOfApiVersion(apiVersion: unknown): string | undefined {
  return typeof apiVersion === "string" && apiVersion !== "" ? apiVersion.split("/")[0] : undefined;
}

/** `written` is the path where the source would name its class. */
export function assumeDefaultClass(draft: ConversionDraft, path: FieldPath, written: FieldPath = path): void {
  draft.setField(path, { group: groups.aws, kind: defaultClassKind, name: defaultClassName });
  draft.assume({
    code: "node-class-assumed",
    path: written,
    message: `no ${String(written.at(-1))}; assumed ${defaultClassKind}/${defaultClassName}`,
    advice: "name the node class the nodes use",
    strictProblem: {
      code: "required",
      message: `is required; add e.g. group ${groups.aws}, kind ${defaultClassKind}, name ${defaultClassName}`,
      expected: "group, kind and name of a node class",
      rule: "01 §1.2",
    },
  });
}

/** Keeps the original reference, or that there was none, so that converting back is exact. (01 §7.3) */
export function annotateClassRef(draft: ConversionDraft, path: FieldPath): void {
  const ref = draft.sourceValue(path) ?? draft.sourceValue(misplacedRefPath) ?? null;
  draft.setField(["metadata", "annotations", compatibilityAnnotations.nodeClassReference], JSON.stringify(ref));
}
