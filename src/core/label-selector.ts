import type { Namespace } from "../api/kubernetes/cluster.ts";
import type { Expression, LabelSelector, PodAffinityTerm } from "../api/kubernetes/pod.ts";
import { labelValueError, qualifiedNameError } from "../api/validation/names.ts";

export type Labels = Readonly<Record<string, string>>;

/** A label selector made ready to be asked many times. */
export interface Selector {
  /** Equal for selectors that say the same, in whatever order and however often they say it. (02:X-5) */
  readonly identity: string;
  /** A label that everything selected has, for looking up instead of scanning. */
  readonly indexPair: { readonly key: string; readonly value: string } | undefined;
  matches(labels: Labels | undefined): boolean;
}

/** Keys whose values are taken from a pod's own labels. (02:X-7) */
export interface LabelKeys {
  readonly labels: Labels | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly mismatchLabelKeys?: readonly string[] | undefined;
}

/** No selector selects nothing, an empty one everything, an invalid one nothing. (02:X-9) */
export function compileSelector(selector: LabelSelector | undefined, extra?: LabelKeys): Selector {
  if (selector === undefined) return nothing;
  const tests = new Map<string, Test>();
  for (const expression of expressionsOf(selector, extra)) {
    const test = compile(expression);
    if (test === undefined) return nothing;
    tests.set(test.identity, test);
  }
  if (tests.size === 0) return everything;
  return new AllOf([...tests.values()].sort(byIdentity));
}

/** The namespaces a pod affinity term looks at. (02:X-8) */
export function termNamespaces(
  { namespaces: listed = [], namespaceSelector }: Pick<PodAffinityTerm, "namespaces" | "namespaceSelector">,
  podNamespace: string,
  namespaces: readonly Namespace[],
): ReadonlySet<string> {
  if (namespaceSelector === undefined) return new Set(listed.length === 0 ? [podNamespace] : listed);
  const selector = compileSelector(namespaceSelector);
  const found = new Set(listed);
  for (const { metadata } of namespaces) {
    if (metadata.name !== undefined && selector.matches(metadata.labels)) found.add(metadata.name);
  }
  return found;
}

/** One condition on one label. */
interface Test {
  readonly identity: string;
  readonly key: string;
  readonly values: ReadonlySet<string>;
  /** The value, if there is exactly one. */
  readonly only: string | undefined;
  /** Whether a label that is there and among the values passes, or rather any other. */
  readonly isNegative: boolean;
  /** Exists and DoesNotExist: the value does not matter. */
  readonly isAboutPresence: boolean;
}

class AllOf implements Selector {
  readonly identity: string;
  readonly indexPair: Selector["indexPair"];
  readonly #tests: readonly Test[];

  constructor(tests: readonly Test[]) {
    this.#tests = tests;
    this.identity = tests.map(({ identity }) => identity).join(",");
    const exact = tests.find((test) => !test.isNegative && test.only !== undefined);
    this.indexPair = exact && { key: exact.key, value: exact.only ?? "" };
  }

  matches(labels: Labels | undefined): boolean {
    for (const test of this.#tests) if (!passes(test, labels)) return false;
    return true;
  }
}

const everything: Selector = new AllOf([]);
const nothing: Selector = { identity: "nothing", indexPair: undefined, matches: () => false };

function passes({ key, values, only, isNegative, isAboutPresence }: Test, labels: Labels | undefined): boolean {
  const value = labels?.[key];
  // Not `in`: a label may be called `constructor`. What objects inherit is never text.
  if (typeof value !== "string") return isNegative;
  if (isAboutPresence) return !isNegative;
  return (only === undefined ? values.has(value) : value === only) !== isNegative;
}

function* expressionsOf(selector: LabelSelector, extra: LabelKeys | undefined): Iterable<Expression> {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) yield is(key, value);
  yield* selector.matchExpressions ?? [];
  const labels = extra?.labels;
  if (extra === undefined || labels === undefined) return;
  for (const key of extra.matchLabelKeys ?? []) if (Object.hasOwn(labels, key)) yield is(key, labels[key] ?? "");
  for (const key of extra.mismatchLabelKeys ?? []) {
    if (Object.hasOwn(labels, key)) yield { key, operator: "NotIn", values: [labels[key] ?? ""] };
  }
}

function is(key: string, value: string): Expression {
  return { key, operator: "In", values: [value] };
}

/** Nothing where Kubernetes would not accept the expression. */
function compile({ key, operator, values = [] }: Expression): Test | undefined {
  const isAboutPresence = operator === "Exists" || operator === "DoesNotExist";
  if (!isAboutPresence && operator !== "In" && operator !== "NotIn") return undefined;
  if (isAboutPresence !== (values.length === 0)) return undefined;
  if (qualifiedNameError(key) !== undefined) return undefined;
  for (const value of values) if (labelValueError(value) !== undefined) return undefined;

  const distinct = new Set(values);
  return {
    identity: JSON.stringify([key, operator, ...[...distinct].sort()]),
    key,
    values: distinct,
    only: distinct.size === 1 ? values[0] : undefined,
    isNegative: operator === "NotIn" || operator === "DoesNotExist",
    isAboutPresence,
  };
}

function byIdentity(a: Test, b: Test): number {
  return a.identity < b.identity ? -1 : 1;
}
