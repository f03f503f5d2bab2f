import { shortJson } from "../../api/json.ts";
import type { LabelSelector } from "../../api/kubernetes/pod.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { compileSelector, type LabelSet } from "../label-selector.ts";
import { scenarioKind } from "./scenario-kind.ts";

const selectingKinds: ReadonlySet<string> = new Set(["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]);

/** An API server refuses workloads without a selector, and those whose pods their own selector does not select. */
export function selectorProblems(object: KubeObject): readonly Problem[] {
  const { spec } = object;
  if (!isRecord(spec)) return [];
  const { template } = spec as { readonly template?: { readonly metadata?: { readonly labels?: LabelSet } } };
  const own = template?.metadata?.labels ?? {};
  const selector = selectorOf(object, spec, own);
  if (selector === undefined) return [];
  if (isEmpty(selector)) return [missingSelector(spec["selector"], { own, kind: object.kind })];
  if (compileSelector(selector).matches(own)) return [];
  return [
    {
      code: "invalid-value",
      path: ["spec", "selector"],
      message: `does not select the pods of spec.template, whose labels are ${shortJson(own)}`,
      expected: "labels that spec.template.metadata.labels has",
    },
  ];
}

/**
 * As a label selector, empty if nothing is written; undefined if the kind needs none. A ReplicationController's is a map of
 * labels, and without one it selects by the labels of its template.
 */
function selectorOf(
  object: KubeObject,
  { selector, template }: Readonly<Record<string, unknown>>,
  own: LabelSet,
): LabelSelector | undefined {
  const kind = scenarioKind(object);
  const written = isRecord(selector) ? selector : {};
  if (kind === "ReplicationController") {
    return { matchLabels: Object.keys(written).length === 0 ? own : (written as LabelSet) };
  }
  if (kind !== undefined) return selectingKinds.has(kind) ? (written as LabelSelector) : undefined;
  // Kinds we have no table for: only what looks like a label selector is one.
  return isRecord(template) && isRecord(written["matchLabels"]) ? (written as LabelSelector) : undefined;
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

function missingSelector(written: unknown, { own, kind }: { readonly own: LabelSet; readonly kind: string }): Problem {
  const isLabelled = Object.keys(own).length > 0;
  const example = isLabelled ? own : { app: "web" };
  const selector = shortJson(kind === "ReplicationController" ? example : { matchLabels: example });
  return {
    code: "required",
    path: ["spec", "selector"],
    message: `is ${isRecord(written) ? "empty" : "missing"}: without it a ${kind} does not know its own pods`,
    expected: isLabelled
      ? `labels of spec.template.metadata.labels: ${selector}`
      : `labels that are also in spec.template.metadata.labels, such as ${selector}`,
  };
}
