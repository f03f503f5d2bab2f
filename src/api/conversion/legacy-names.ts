import { annotations, labels, legacyNames } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import type { ConversionDraft } from "./conversion-draft.ts";

/** Old keys and their current names. (01 §7.6) */
export const legacyKeyRenames: ReadonlyMap<string, string> = new Map([
  [legacyNames.provisionerName, labels.nodePool],
  [legacyNames.provisionerHash, annotations.nodePoolHash],
  [legacyNames.doNotEvict, annotations.doNotDisrupt],
  [legacyNames.doNotConsolidate, annotations.doNotDisrupt],
  [legacyNames.nodeTemplateHash, annotations.ec2NodeClassHash],
]);

/** Keys that are no longer read, and those Karpenter computes. */
const droppedKeys: ReadonlySet<string> = new Set([
  legacyNames.emptinessTimestamp,
  legacyNames.linked,
  legacyNames.managedBy,
  legacyNames.instancePods,
  legacyNames.provisionerName,
  legacyNames.provisionerHash,
  legacyNames.nodeTemplateHash,
]);

/** A map of labels or annotations with current names. */
export function renameLegacyKeys(
  draft: ConversionDraft,
  { from, to }: { readonly from: FieldPath; readonly to: FieldPath },
): void {
  const source = draft.sourceValue(from);
  if (source === undefined) return;
  if (!isRecord(source)) {
    draft.copyField(from, to);
    return;
  }
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source)) {
    const path = [...from, key];
    if (droppedKeys.has(key)) {
      draft.warn({
        code: "field-dropped",
        path,
        message: `dropped ${key}: nothing reads it any more`,
        advice: "remove it",
      });
      continue;
    }
    const name = legacyKeyRenames.get(key) ?? key;
    if (name !== key)
      draft.warn({ code: "name-changed", path, message: `${key} is ${name} now`, advice: `write ${name}` });
    renamed[name] = value;
    draft.moves.push({ from: path, to: [...to, name] });
  }
  draft.setField(to, renamed, from);
}
