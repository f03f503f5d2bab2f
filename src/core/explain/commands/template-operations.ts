import { isRecord } from "../../../api/object.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import {
  addOperation,
  applyOperation,
  memberAt,
  type PatchOperation,
  type PatchPath,
  pointerTokens,
  removeOperation,
} from "../json-patch.ts";

/**
 * Operations on a pod as operations on the template it was made from. A pod has more than its template (admission adds
 * tolerations, volumes, sidecars), so entries of lists are looked up. Undefined where something is not in the template.
 */
export function templateOperations(
  operations: readonly PatchOperation[],
  { pod, template }: { readonly pod: unknown; readonly template: unknown },
): readonly PatchOperation[] | undefined {
  const translated: PatchOperation[] = [];
  let [from, to] = [pod, template];
  for (const operation of operations) {
    const one = templateOperation(operation, from, to);
    if (one === undefined) return undefined;
    translated.push(one);
    from = applyOperation(from, operation);
    to = applyOperation(to, one);
  }
  return translated;
}

function templateOperation(
  { op, path, value }: PatchOperation,
  pod: unknown,
  template: unknown,
): PatchOperation | undefined {
  const target = targetPath(pointerTokens(path), pod, template);
  if (target === undefined) return undefined;
  if (op === "remove") return valueAt(template, target) === undefined ? undefined : removeOperation(target);
  return addOperation(template, target, value);
}

/** The path of the same thing in the template. */
function targetPath(tokens: readonly string[], pod: unknown, template: unknown): PatchPath | undefined {
  const path: (string | number)[] = [];
  let [from, to] = [pod, template];
  for (const token of tokens) {
    const here: string | number | undefined =
      Array.isArray(from) && token !== "-"
        ? indexOfSame(to, { item: from[Number(token)], index: Number(token) })
        : token;
    if (here === undefined) return undefined;
    path.push(here);
    from = memberAt(from, token);
    to = memberAt(to, here);
  }
  return path;
}

/** The same place if the same thing is there; else the only entry of that name, or the only equal one. */
function indexOfSame(list: unknown, { item, index }: { item: unknown; index: number }): number | undefined {
  if (!Array.isArray(list)) return undefined;
  if (isSame(list[index], item)) return index;
  const found = [...list.keys()].filter((one) => isSame(list[one], item));
  return found.length === 1 ? found[0] : undefined;
}

/** An entry of the pod may have more than that of the template: defaults, such as the protocol of a port. */
function isSame(ofTemplate: unknown, ofPod: unknown): boolean {
  if (!isRecord(ofTemplate) || !isRecord(ofPod)) return canonicalJson(ofTemplate) === canonicalJson(ofPod);
  if (typeof ofTemplate["name"] === "string") return ofTemplate["name"] === ofPod["name"];
  return Object.entries(ofTemplate).every(([key, value]) => canonicalJson(value) === canonicalJson(ofPod[key]));
}

function valueAt(document: unknown, path: PatchPath): unknown {
  return path.reduce<unknown>((here, token) => memberAt(here, token), document);
}
