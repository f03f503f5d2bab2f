import type { Namespace } from "../api/kubernetes/cluster-objects.ts";
import type { LabelSelector, PodAffinityTerm, SelectorRequirement } from "../api/kubernetes/pod.ts";
import { labelValueError, qualifiedNameError } from "../api/validation/names.ts";

export type LabelSet = Readonly<Record<string, string>>;

/** A label selector, compiled to be evaluated many times. */
export interface CompiledSelector {
  /** Equal for equivalent selectors, whatever their order and repetitions. (02:X-5) */
  readonly identity: string;
  /** A label that everything selected has, for looking up instead of scanning. */
  readonly indexPair: { readonly key: string; readonly value: string } | undefined;
  matches(labels: LabelSet | undefined): boolean;
}

/** Keys whose values are taken from a pod's own labels. (02:X-7) */
export interface MatchLabelKeys {
  readonly labels: LabelSet | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly mismatchLabelKeys?: readonly string[] | undefined;
}

/** No selector selects nothing, an empty one everything, an invalid one nothing. (02:X-9) */
export function compileSelector(selector: LabelSelector | undefined, extra?: MatchLabelKeys): CompiledSelector {
  if (selector === undefined) return selectsNothing;
  const tests = new Map<string, LabelTest>();
  for (const expression of expressionsOf(selector, extra)) {
    const test = compileTest(expression);
    if (test === undefined) return selectsNothing;
    tests.set(test.identity, test);
  }
  if (tests.size === 0) return selectsEverything;
  return new AllTestsSelector([...tests.values()].sort(byIdentity));
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
interface LabelTest {
  readonly identity: string;
  readonly key: string;
  readonly values: ReadonlySet<string>;
  /** The value, if there is exactly one. */
  readonly singleValue: string | undefined;
  /** Whether a label passes whose value is listed, or rather any other. */
  readonly isNegative: boolean;
  /** Exists and DoesNotExist: the value does not matter. */
  readonly isAboutPresence: boolean;
}

class AllTestsSelector implements CompiledSelector {
  readonly identity: string;
  readonly indexPair: CompiledSelector["indexPair"];
  readonly #tests: readonly LabelTest[];

  constructor(tests: readonly LabelTest[]) {
    this.#tests = tests;
    this.identity = tests.map(({ identity }) => identity).join(",");
    const exact = tests.find((test) => !test.isNegative && test.singleValue !== undefined);
    this.indexPair = exact && { key: exact.key, value: exact.singleValue ?? "" };
  }

  matches(labels: LabelSet | undefined): boolean {
    for (const test of this.#tests) if (!passes(test, labels)) return false;
    return true;
  }
}

const selectsEverything: CompiledSelector = new AllTestsSelector([]);
const selectsNothing: CompiledSelector = { identity: "nothing", indexPair: undefined, matches: () => false };

function passes(
  { key, values, singleValue, isNegative, isAboutPresence }: LabelTest,
  labels: LabelSet | undefined,
): boolean {
  const value = labels?.[key];
  // Not `in`: a label may be called `constructor`. Inherited members are never strings.
  if (typeof value !== "string") return isNegative;
  if (isAboutPresence) return !isNegative;
  return (singleValue === undefined ? values.has(value) : value === singleValue) !== isNegative;
}

function* expressionsOf(selector: LabelSelector, extra: MatchLabelKeys | undefined): Iterable<SelectorRequirement> {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) yield equalsRequirement(key, value);
  yield* selector.matchExpressions ?? [];
  const labels = extra?.labels;
  if (extra === undefined || labels === undefined) return;
  for (const key of extra.matchLabelKeys ?? [])
    if (Object.hasOwn(labels, key)) yield equalsRequirement(key, labels[key] ?? "");
  for (const key of extra.mismatchLabelKeys ?? []) {
    if (Object.hasOwn(labels, key)) yield { key, operator: "NotIn", values: [labels[key] ?? ""] };
  }
}

function equalsRequirement(key: string, value: string): SelectorRequirement {
  return { key, operator: "In", values: [value] };
}

/** Undefined if Kubernetes would not accept the expression. */
function compileTest({ key, operator, values = [] }: SelectorRequirement): LabelTest | undefined {
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
    singleValue: distinct.size === 1 ? values[0] : undefined,
    isNegative: operator === "NotIn" || operator === "DoesNotExist",
    isAboutPresence,
  };
}

function byIdentity(a: LabelTest, b: LabelTest): number {
  return a.identity < b.identity ? -1 : 1;
}
