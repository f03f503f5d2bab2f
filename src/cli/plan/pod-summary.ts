import { groupBy } from "../../util/group-by.ts";

/** `web ×12, api ×3, default/solo`: pods whose names differ only by a trailing number are counted together. */
export function podSummary(pods: readonly string[]): string {
  const groups = [...groupBy(pods, (pod) => pod.replace(/-\d+$/, ""))];
  return groups
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([stem, all]) => (all.length === 1 ? (all[0] ?? stem) : `${stem} ×${all.length}`))
    .join(", ");
}
