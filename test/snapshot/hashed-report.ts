import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import type { NameHasher } from "../../src/cli/snapshot/name-hasher.ts";

/** The decisions of a plan, written with the names of a book where one is given: two plans that differ in names alone are equal. */
export function hashedReport(report: PlanReport, nameHasher?: NameHasher): unknown {
  const pod = (text: string): string => {
    const [namespace = "", name = ""] = text.split("/");
    return nameHasher === undefined ? text : `${nameHasher.namespace(namespace)}/${madeName(name, nameHasher)}`;
  };
  const name = (text: string): string => (nameHasher === undefined ? text : nameHasher.token(text));
  const pods = (texts: readonly string[]): readonly string[] => texts.map(pod).sort();
  return {
    newNodes: report.newNodes
      .map(({ nodePool, requirements, ...node }) => ({
        ...node,
        nodePool: name(nodePool),
        pods: pods(node.pods),
        requirements: Object.entries(requirements)
          .map((one) => requirement(one, nameHasher))
          .sort(),
      }))
      .sort((a, b) => (a.pods.join() < b.pods.join() ? -1 : 1)),
    existingNodes: Object.entries(report.existingNodes)
      .map(([node, texts]) => ({ node: name(node), pods: pods(texts) }))
      .sort((a, b) => (a.node < b.node ? -1 : 1)),
    refusals: report.refusals.map(({ pod: who, code }) => ({ pod: pod(who), code })).sort(byPod),
    totals: {
      ...report.totals,
      pricePerHour: round(report.totals.pricePerHour),
      pricePerMonth: 0,
      gap: round(report.totals.gap ?? 0),
    },
  };
}

/** `team In [red]`, in the words of the book. */
function requirement([key, text]: readonly [string, string], nameHasher: NameHasher | undefined): string {
  if (nameHasher === undefined) return `${key} ${text}`;
  const scribe = nameHasher.hashingWriter(() => undefined);
  const values = (listed: string) => listed.split(" ").map((value) => scribe.labelValue(key, value));
  return `${scribe.labelKey(key)} ${text.replace(/(?<=\[)[^\]]+/, (listed) => values(listed).join(" "))}`;
}

/** The name of a pod that was made from a workload or a buffer is put together from theirs. */
function madeName(name: string, nameHasher: NameHasher): string {
  const [, prefix = "", base = "", ordinal = ""] = /^(capacity-buffer-)?(.*?)(-\d+)$/.exec(name) ?? [];
  try {
    return nameHasher.token(name);
  } catch {
    return `${prefix}${nameHasher.token(base)}${ordinal}`;
  }
}

function byPod(a: { readonly pod: string }, b: { readonly pod: string }): number {
  return a.pod < b.pod ? -1 : 1;
}

/** Sums of prices depend on their order. */
function round(price: number): number {
  return Math.round(price * 1e9) / 1e9;
}
