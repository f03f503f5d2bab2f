import type { FieldPath, Problem } from "../problem.ts";
import { qualifiedNameError, shortText } from "./names.ts";

export interface TaintItem {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
}

export interface TaintLists {
  readonly taints?: readonly TaintItem[] | undefined;
  readonly startupTaints?: readonly TaintItem[] | undefined;
}

export const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

/** Both lists apply to one node, so a pair of key and effect may occur only once in them. (01 §1.2.2) */
export function taintProblems({ taints = [], startupTaints = [] }: TaintLists, path: FieldPath): readonly Problem[] {
  const seen = new Set<string>();
  const all = [
    ...taints.map((taint, at) => ({ taint, path: [...path, "taints", at] })),
    ...startupTaints.map((taint, at) => ({ taint, path: [...path, "startupTaints", at] })),
  ];
  return all.flatMap(({ taint, path: at }) => [...syntaxProblems(taint, at), ...duplicates(taint, { seen, path: at })]);
}

function syntaxProblems({ key, value = "", effect = "" }: TaintItem, path: FieldPath): readonly Problem[] {
  const problems: Problem[] = [];
  const keyError = key === "" ? "it is empty" : qualifiedNameError(key);
  if (keyError !== undefined) {
    const message = `taint key ${JSON.stringify(shortText(key))} is not a qualified name: ${keyError}`;
    problems.push({ code: "invalid-key", path: [...path, "key"], message, rule: "01 §1.2.2" });
  }
  const valueError = value === "" ? undefined : qualifiedNameError(value);
  if (valueError !== undefined) {
    const message = `taint value ${JSON.stringify(shortText(value))} is not a qualified name: ${valueError}`;
    problems.push({ code: "invalid-value", path: [...path, "value"], message, rule: "01 §1.2.2" });
  }
  if (effect !== "" && !taintEffects.some((known) => known === effect)) {
    const message = `unknown taint effect ${JSON.stringify(shortText(effect))}`;
    problems.push({ code: "invalid-value", path: [...path, "effect"], message, expected: taintEffects.join(", ") });
  }
  return problems;
}

function duplicates(
  { key, effect = "" }: TaintItem,
  { seen, path }: { seen: Set<string>; path: FieldPath },
): readonly Problem[] {
  const pair = `${key}:${effect}`;
  if (!seen.has(pair)) {
    seen.add(pair);
    return [];
  }
  const message = `taint ${pair} is listed twice among taints and startupTaints; a node can carry it once`;
  return [{ code: "duplicate-taint", path, message, rule: "01 §1.2.2" }];
}
