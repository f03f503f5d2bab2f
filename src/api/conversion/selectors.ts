import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import type { Draft } from "./draft.ts";

/** v1alpha1 selectors are one map whose values may be comma lists; v1 has a list of terms. (01 §7.8) */

const idKeys = ["aws-ids", "aws::ids"];
const nameKey = "aws::name";
const ownerKey = "aws::owners";

type Term = Record<string, unknown>;

/** A selector may ask for more combinations than v1 has room for: 30 terms. */
const maxTerms = 1000;

export function selectorTerms(draft: Draft, { from, to }: { readonly from: Path; readonly to: Path }): void {
  const selector = draft.said(from);
  if (selector === undefined) return;
  if (!isRecord(selector) || Object.values(selector).some((value) => typeof value !== "string" && value !== null)) {
    draft.refuse({
      code: "type",
      rule: "01 §7.8",
      path: from,
      message: "must be a map of text to text",
      expected: "tag: value",
    });
    return;
  }
  const terms = termsOf(draft, selector, from);
  if (terms.length > maxTerms) {
    draft.refuse({
      code: "too-many",
      rule: "01 §7.8",
      path: from,
      message: "stands for more combinations than v1 can list",
      expected: "at most 30 terms",
    });
    return;
  }
  draft.put(to, terms, from);
}

function termsOf(draft: Draft, selector: Record<string, unknown>, from: Path): readonly Term[] {
  const lists = new Map(Object.entries(selector).map(([key, value]) => [key, wordsOf(value)]));
  const ids = idKeys.flatMap((key) => lists.get(key) ?? []);
  // An id says it all; v1 refuses to combine it with anything. (01:EC6)
  if (ids.length > 0) return idTerms(draft, { ids, selector, from });
  const tags = [...lists].filter(([key]) => key !== nameKey && key !== ownerKey && !idKeys.includes(key));
  for (const [key, words] of tags) if (words.length === 0) wildcard(draft, [...from, key]);
  const dimensions = [
    ...((lists.get(ownerKey) ?? []).length > 0 ? [(lists.get(ownerKey) ?? []).map((owner) => ({ owner }))] : []),
    ...((lists.get(nameKey) ?? []).length > 0 ? [(lists.get(nameKey) ?? []).map((name) => ({ name }))] : []),
    ...tags.map(([key, words]) => (words.length === 0 ? ["*"] : words).map((value) => ({ tags: { [key]: value } }))),
  ];
  return dimensions.length === 0 ? [] : product(dimensions);
}

function idTerms(
  draft: Draft,
  about: { ids: readonly string[]; selector: Record<string, unknown>; from: Path },
): readonly Term[] {
  const others = Object.keys(about.selector).filter((key) => !idKeys.includes(key));
  if (others.length > 0) {
    draft.note({
      code: "field-dropped",
      path: about.from,
      message: `v1 combines an id with nothing else; dropped ${others.join(", ")}`,
      advice: "check that every id is still the one you want",
    });
  }
  return about.ids.map((id) => ({ id }));
}

function wordsOf(value: unknown): readonly string[] {
  return String(value ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function wildcard(draft: Draft, path: Path): void {
  draft.note({
    code: "wildcard-assumed",
    path,
    message: "an empty value was once documented as any value; wrote *",
    advice: "write the value that is meant",
  });
}

/** One term for each way to take one alternative of every dimension; stops growing when it is hopeless anyway. */
function product(dimensions: readonly (readonly Term[])[]): readonly Term[] {
  let terms: readonly Term[] = [{}];
  for (const alternatives of dimensions) {
    if (terms.length > maxTerms) return terms;
    terms = terms.flatMap((term) => alternatives.slice(0, maxTerms + 1).map((one) => joined(term, one)));
  }
  return terms;
}

function joined(a: Term, b: Term): Term {
  if (isRecord(a["tags"]) && isRecord(b["tags"])) return { ...a, tags: { ...a["tags"], ...b["tags"] } };
  return { ...a, ...b };
}
