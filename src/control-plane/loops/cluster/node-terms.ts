import type { Expression, NodeSelectorTerm, PodSpec } from "../../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../../api/label-policy.ts";
import { requirementOperators } from "../../../api/vocabulary.ts";
import { Requirement } from "../../../core/requirement.ts";

/** A node as selectors look at it. */
export interface LabelledNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type NodeTest = (node: LabelledNode) => boolean;

/** Kubernetes reads labels as they are written: no key stands for another. */
const plainLabels: LabelPolicy = {
  wellKnown: new Set(),
  restrictedDomains: [],
  aliases: {},
  valueAliases: {},
  knownValues: {},
  wellKnownResources: new Set(),
};

/** The nodes a pod insists on: its selector, and one of the required terms. Undefined where any will do. */
export function requiredNodes({ nodeSelector, affinity }: PodSpec): NodeTest | undefined {
  const pairs = Object.entries(nodeSelector ?? {});
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const inTerms = terms === undefined ? undefined : anyTerm(terms);
  if (pairs.length === 0) return inTerms;
  return (node) => pairs.every(([key, value]) => labelOf(node, key) === value) && (inTerms?.(node) ?? true);
}

/** One of the terms holds; of no terms none does. */
export function anyTerm(terms: readonly NodeSelectorTerm[]): NodeTest {
  const tests = terms.map(oneTerm);
  return (node) => tests.some((test) => test(node));
}

/** All of a term's expressions hold. A term without any matches nothing. */
export function oneTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeTest {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  const tests = [...matchExpressions.map(onLabel), ...matchFields.map(onField)];
  return (node) => tests.every((test) => test(node));
}

function onLabel(expression: Expression): NodeTest {
  const allows = valueTest(expression);
  const { key, operator } = expression;
  const isContentWithout = operator === "NotIn" || operator === "DoesNotExist";
  return (node) => {
    const value = labelOf(node, key);
    return value === undefined ? isContentWithout : allows(value);
  };
}

/** The name is the one field nodes can be selected by; DaemonSets do. */
function onField(expression: Expression): NodeTest {
  if (expression.key !== "metadata.name") return () => false;
  const allows = valueTest(expression);
  return ({ name }) => allows(name);
}

function valueTest({ key, operator, values }: Expression): (value: string) => boolean {
  const known = requirementOperators.find((one) => one === operator);
  if (known === undefined) return () => false;
  const requirement = Requirement.fromItem({ key, operator: known, values }, plainLabels);
  return (value) => requirement.has(value);
}

/** Labels come from users: one may be called `constructor`, and what objects inherit is never text. */
export function labelOf({ labels }: Pick<LabelledNode, "labels">, key: string): string | undefined {
  const value: unknown = labels[key];
  return typeof value === "string" ? value : undefined;
}
