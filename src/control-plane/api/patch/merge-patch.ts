import { copyJson, setOwnKey } from "../../../api/json.ts";
import { isRecord } from "../../../api/object.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";

/** RFC 7386: objects are merged, null deletes, everything else replaces. The inputs are not changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return copyJson(patch);
  const result: JsonObject = {};
  if (isRecord(target)) for (const key of Object.keys(target)) setOwnKey(result, key, target[key]);
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete result[key];
    else setOwnKey(result, key, mergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value));
  }
  return result;
}
