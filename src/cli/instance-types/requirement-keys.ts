import type { RequirementItem } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";

/** `zone` stands for the well-known label whose name it is; or the short keys that stand for none. */
export function withFullKeys(
  items: readonly RequirementItem[],
  { wellKnown }: Pick<LabelPolicy, "wellKnown">,
):
  | { readonly requirements: readonly RequirementItem[] }
  | { readonly unknown: string; readonly known: readonly string[] } {
  const byName = new Map([...wellKnown].map((key) => [key.slice(key.indexOf("/") + 1), key]));
  const requirements: RequirementItem[] = [];
  for (const item of items) {
    const key = wellKnown.has(item.key) || item.key.includes("/") ? item.key : byName.get(item.key);
    if (key === undefined) return { unknown: item.key, known: [...byName.keys()].sort() };
    requirements.push({ ...item, key });
  }
  return { requirements };
}
