import type { NodeSelectorTerm, PodSpec, SelectorRequirement } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { requirementOperators } from "../../api/vocabulary.ts";
import { Requirement } from "../../core/requirement.ts";

/** What node selectors can see of a node. */
export interface LabelledNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type NodeTest = (node: LabelledNode) => boolean;

/** The scheduler compares labels as written: no aliases. */
const plainLabels: LabelPolicy = {
  wellKnown: new Set(),
  restrictedDomains: [],
  aliases: {},
  valueAliases: {},
  knownValues: {},
  wellKnownResources: new Set(),
};

/** Whether a node matches the pod's nodeSelector and required node affinity; undefined if it has neither. */
export function requiredNodeTest({ nodeSelector, affinity }: PodSpec): NodeTest | undefined {
  const pairs = Object.entries(nodeSelector ?? {});
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const matchesTerms = terms === undefined ? undefined : nodeSelectorTest(terms);
  if (pairs.length === 0) return matchesTerms;
  return (node) => pairs.every(([key, value]) => labelOf(node, key) === value) && (matchesTerms?.(node) ?? true);
}

/** Whether at least one of the terms matches; false without terms. */
export function nodeSelectorTest(terms: readonly NodeSelectorTerm[]): NodeTest {
  const tests = terms.map(nodeSelectorTermTest);
  return (node) => tests.some((test) => test(node));
}

/** Whether all expressions of a term match; a term without any matches nothing. */
export function nodeSelectorTermTest({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeTest {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  const tests = [...matchExpressions.map(labelExpressionTest), ...matchFields.map(fieldExpressionTest)];
  return (node) => tests.every((test) => test(node));
}

function labelExpressionTest(expression: SelectorRequirement): NodeTest {
  const allows = valueTest(expression);
  const { key, operator } = expression;
  const matchesAbsentLabel = operator === "NotIn" || operator === "DoesNotExist";
  return (node) => {
    const value = labelOf(node, key);
    return value === undefined ? matchesAbsentLabel : allows(value);
  };
}

/** `metadata.name` is the only field nodes can be selected by; DaemonSets use it. */
function fieldExpressionTest(expression: SelectorRequirement): NodeTest {
  if (expression.key !== "metadata.name") return () => false;
  const allows = valueTest(expression);
  return ({ name }) => allows(name);
}

function valueTest({ key, operator, values }: SelectorRequirement): (value: string) => boolean {
  const known = requirementOperators.find((one) => one === operator);
  if (known === undefined) return () => false;
  const requirement = Requirement.fromItem({ key, operator: known, values }, plainLabels);
  return (value) => requirement.has(value);
}

/** Label keys come from users: `constructor` must not find the inherited property. */
export function labelOf({ labels }: Pick<LabelledNode, "labels">, key: string): string | undefined {
  const value: unknown = labels[key];
  return typeof value === "string" ? value : undefined;
}
