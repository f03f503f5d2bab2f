import { shortJson } from "../../api/json.ts";
import type { LabelSelector } from "../../api/kubernetes/pod.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import { compileSelector, type LabelSet } from "../label-selector.ts";
import { scenarioKind } from "./scenario-kind.ts";

const selectingKinds: ReadonlySet<string> = new Set(["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]);

/** An API server refuses workloads whose pods their own selector does not select. A selector that is not written is not judged. */
export function selectorProblems(object: KubeObject): readonly Problem[] {
  const selector = selectorOf(object);
  if (selector === undefined) return [];
  const { template } = object.spec as { readonly template?: { readonly metadata?: { readonly labels?: LabelSet } } };
  const own = template?.metadata?.labels ?? {};
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

/** As a label selector; a ReplicationController's is a map of labels. */
function selectorOf(object: KubeObject): LabelSelector | undefined {
  const { spec } = object;
  const kind = scenarioKind(object);
  if (!isRecord(spec) || !isRecord(spec["selector"])) return undefined;
  if (kind === "ReplicationController") return { matchLabels: spec["selector"] as LabelSet };
  if (kind !== undefined) return selectingKinds.has(kind) ? (spec["selector"] as LabelSelector) : undefined;
  // Kinds we have no table for: only what looks like a label selector is one.
  const isLabelSelector = isRecord(spec["template"]) && isRecord(spec["selector"]["matchLabels"]);
  return isLabelSelector ? (spec["selector"] as LabelSelector) : undefined;
}
