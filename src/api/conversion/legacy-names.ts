import { annotations, labels, legacyNames } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import type { Draft } from "./draft.ts";

/** Old keys and what they are called today. (01 §7.6) */
export const renamedKeys: ReadonlyMap<string, string> = new Map([
  [legacyNames.provisionerName, labels.nodePool],
  [legacyNames.provisionerHash, annotations.nodePoolHash],
  [legacyNames.doNotEvict, annotations.doNotDisrupt],
  [legacyNames.doNotConsolidate, annotations.doNotDisrupt],
  [legacyNames.nodeTemplateHash, annotations.ec2NodeClassHash],
]);

/** Keys nothing reads any more, and those we compute ourselves. */
const droppedKeys: ReadonlySet<string> = new Set([
  legacyNames.emptinessTimestamp,
  legacyNames.linked,
  legacyNames.managedBy,
  legacyNames.instancePods,
  legacyNames.provisionerName,
  legacyNames.provisionerHash,
  legacyNames.nodeTemplateHash,
]);

/** A map of labels or annotations, in today's names. */
export function renameKeys(draft: Draft, { from, to }: { readonly from: Path; readonly to: Path }): void {
  const source = draft.said(from);
  if (source === undefined) return;
  if (!isRecord(source)) {
    draft.carry(from, to);
    return;
  }
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source)) {
    const path = [...from, key];
    if (droppedKeys.has(key)) {
      draft.note({
        code: "field-dropped",
        path,
        message: `dropped ${key}: nothing reads it any more`,
        advice: "remove it",
      });
      continue;
    }
    const name = renamedKeys.get(key) ?? key;
    if (name !== key)
      draft.note({ code: "name-changed", path, message: `${key} is ${name} now`, advice: `write ${name}` });
    renamed[name] = value;
    draft.moves.push({ from: path, to: [...to, name] });
  }
  draft.put(to, renamed, from);
}
